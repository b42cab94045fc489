//! The checks of one gate.

use std::fmt;
use std::sync::Arc;

use super::{AllowedTools, AsyncValidator, Cost, Validator, Verdict};
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
    pub(super) score: Option<Score<S>>,
}

/// How good a response is.
pub(super) type Score<S> = Arc<dyn Fn(&Response, &S) -> f64 + Send + Sync>;

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

    /// Says how good a rejected response is, higher is better: when a limit is reached, the gate accepts the best one
    /// under [`Exhaustion::AcceptBest`](super::Exhaustion::AcceptBest). Asked once for each response that a check
    /// rejected; one whose score is infinite or no number is never accepted. Setting another one replaces it.
    ///
    /// ```
    /// use graph_nodes::gate::{Validators, Verdict};
    ///
    /// let validators = Validators::<()>::new()
    ///     .with_fn("short", |response, ()| match response.text.len() {
    ///         ..=20 => Verdict::Accept,
    ///         _ => Verdict::retry("long", "answer in at most 20 bytes"),
    ///     })
    ///     .with_score(|response, ()| -(response.text.len() as f64));
    /// assert!(validators.has_score());
    /// ```
    #[must_use]
    pub fn with_score(mut self, score: impl Fn(&Response, &S) -> f64 + Send + Sync + 'static) -> Self {
        self.score = Some(Arc::new(score));
        self
    }

    /// Whether there is a score.
    pub fn has_score(&self) -> bool {
        self.score.is_some()
    }

    /// The same for a place that can't execute calls: a response with calls is rejected, and never the best one.
    pub(crate) fn without_calls(&self) -> Self {
        let mut validators = self.clone().with(AllowedTools::default());
        if let Some(score) = self.score.clone() {
            let of_text = move |response: &Response, state: &S| match response.calls.is_empty() {
                true => score(response, state),
                false => f64::NAN,
            };
            validators.score = Some(Arc::new(of_text));
        }
        validators
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
        Self { cheap: Vec::new(), judges: Vec::new(), score: None }
    }
}

impl<S: ?Sized> Clone for Validators<S> {
    fn clone(&self) -> Self {
        Self { cheap: self.cheap.clone(), judges: self.judges.clone(), score: self.score.clone() }
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
