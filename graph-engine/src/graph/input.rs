//! What the input of a turn may be.

use crate::error::BoxError;
use crate::state::{FieldSet, State};

type Check<S> = Box<dyn Fn(&S, &<S as State>::Update) -> Result<(), BoxError> + Send + Sync>;

/// What the input of a turn may write, and what else is asked of it.
pub(crate) struct InputRules<S: State> {
    fields: Option<FieldSet>,
    checks: Vec<Check<S>>,
}

impl<S: State> Default for InputRules<S> {
    fn default() -> Self {
        Self { fields: None, checks: Vec::new() }
    }
}

impl<S: State> InputRules<S> {
    pub(super) fn allow(&mut self, fields: FieldSet) {
        self.fields.get_or_insert_default().insert(fields);
    }

    /// The only fields that an input may write.
    pub(super) fn allowed(&self) -> Option<FieldSet> {
        self.fields
    }

    pub(super) fn check(&mut self, check: impl Fn(&S, &S::Update) -> Result<(), BoxError> + Send + Sync + 'static) {
        self.checks.push(Box::new(check));
    }

    /// Why an input is refused, if it is. A check may be the user's and panic.
    pub(crate) fn refuse(&self, state: &S, input: &S::Update) -> Result<(), BoxError> {
        if let Some(allowed) = self.fields
            && let Some(field) = state.written(input).without(allowed).iter().next()
        {
            let fields = state.fields();
            let named: Vec<String> = allowed.iter().map(|at| format!("`{}`", fields[at].name)).collect();
            let name = &fields[field].name;
            let allowed = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
            return Err(
                format!("it writes field `{name}`, but the input of this graph may only write {allowed}").into()
            );
        }
        self.checks.iter().try_for_each(|check| check(state, input))
    }
}
