//! The checks of one gate.

use std::fmt;
use std::sync::Arc;

use super::{AsyncValidator, Cost, Validator, Verdict};
use crate::model::Response;

/// The checks of one gate, in the order they run: first the cheap ones, then
/// the judges, each in the order they were added. A check that replaces the
/// response comes before those that should see the replacement.
///
/// ```
/// use graph_nodes::gate::{ArgumentsParse, Validators, Verdict};
///
/// let validators = Validators::<u32>::new().with(ArgumentsParse).with_fn("limit", |response, limit| {
///     match response.calls.len() <= *limit as usize {
///         true => Verdict::Accept,
///         false => Verdict::retry("too_many_calls", format!("call at most {limit} tools")),
///     }
/// });
/// assert_eq!(validators.names(), ["arguments_parse", "limit"]);
/// ```
pub struct Validators<S: ?Sized> {
    pub(super) cheap: Vec<Arc<dyn Validator<S>>>,
    pub(super) judges: Vec<Judge<S>>,
}

pub(super) enum Judge<S: ?Sized> {
    Sync(Arc<dyn Validator<S>>),
    Async(Arc<dyn AsyncValidator<S>>),
}

impl<S: ?Sized + Sync + 'static> Validators<S> {
    /// No checks: everything that is neither empty, cut off nor refused is accepted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check.
    #[must_use]
    pub fn with(mut self, validator: impl Validator<S>) -> Self {
        match validator.cost() {
            Cost::Cheap => self.cheap.push(Arc::new(validator)),
            Cost::Judge => self.judges.push(Judge::Sync(Arc::new(validator))),
        }
        self
    }

    /// Adds a closure as a cheap check.
    #[must_use]
    pub fn with_fn(
        self,
        name: impl Into<String>,
        check: impl Fn(&Response, &S) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.with(FnValidator { name: name.into(), check })
    }

    /// Adds a check that has to wait.
    #[must_use]
    pub fn with_judge(mut self, judge: impl AsyncValidator<S>) -> Self {
        self.judges.push(Judge::Async(Arc::new(judge)));
        self
    }

    /// The names, in the order the checks run.
    pub fn names(&self) -> Vec<&str> {
        let cheap = self.cheap.iter().map(|validator| validator.name());
        cheap.chain(self.judges.iter().map(Judge::name)).collect()
    }
}

impl<S: ?Sized + Sync + 'static> Judge<S> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Sync(validator) => validator.name(),
            Self::Async(validator) => validator.name(),
        }
    }
}

struct FnValidator<F> {
    name: String,
    check: F,
}

impl<S: ?Sized, F: Fn(&Response, &S) -> Verdict + Send + Sync + 'static> Validator<S> for FnValidator<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn validate(&self, response: &Response, state: &S) -> Verdict {
        (self.check)(response, state)
    }
}

impl<S: ?Sized> Default for Validators<S> {
    fn default() -> Self {
        Self { cheap: Vec::new(), judges: Vec::new() }
    }
}

impl<S: ?Sized> Clone for Validators<S> {
    fn clone(&self) -> Self {
        Self { cheap: self.cheap.clone(), judges: self.judges.clone() }
    }
}

impl<S: ?Sized> Clone for Judge<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Sync(validator) => Self::Sync(Arc::clone(validator)),
            Self::Async(validator) => Self::Async(Arc::clone(validator)),
        }
    }
}

impl<S: ?Sized + Sync + 'static> fmt::Debug for Validators<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validators").field(&self.names()).finish()
    }
}
