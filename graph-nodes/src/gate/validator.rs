//! The traits of checks.

use std::time::Duration;

use async_trait::async_trait;

use super::{Code, Verdict};
use crate::message::Usage;
use crate::model::Response;

/// What a check costs, which decides when it runs.
///
/// ```
/// use graph_nodes::gate::Cost;
///
/// assert_eq!(Cost::default(), Cost::Cheap);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Runs on every response; the reasons of all cheap checks are told at once. While a response is
    /// [streamed by checkpoints](super::Streaming::Checkpoint) it also runs on what has arrived.
    #[default]
    Cheap,
    /// Runs only when no cheap check rejected, one after another, and stops at
    /// the first rejection.
    Judge,
}

/// A check of a whole response against the state `S`.
///
/// Called once per attempt with a response that is neither empty nor refused
/// nor cut off with calls. Must not change anything and must answer the same
/// for the same input. A panic doesn't reach the caller: the policy says what
/// it counts as.
///
/// ```
/// use graph_nodes::gate::{Validator, Verdict};
/// use graph_nodes::model::Response;
///
/// struct AtMost(usize);
///
/// impl<S> Validator<S> for AtMost {
///     fn name(&self) -> &str {
///         "at_most"
///     }
///
///     fn validate(&self, response: &Response, _: &S) -> Verdict {
///         match response.text.len() <= self.0 {
///             true => Verdict::Accept,
///             false => Verdict::retry("too_long", format!("answer in at most {} bytes", self.0)),
///         }
///     }
/// }
///
/// assert_eq!(AtMost(5).validate(&Response::from_text("hello"), &()), Verdict::Accept);
/// ```
pub trait Validator<S: ?Sized>: Send + Sync + 'static {
    /// The name that reports use.
    fn name(&self) -> &str;

    /// When to run it.
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    /// Checks one response.
    fn validate(&self, response: &Response, state: &S) -> Verdict;
}

/// A check that has to wait, as a model that judges another one's response. A
/// [judge](Cost::Judge) unless it says otherwise. For an async function there is
/// [`Validators::with_async_fn`](super::Validators::with_async_fn).
///
/// ```
/// use async_trait::async_trait;
/// use graph_nodes::gate::{AsyncValidator, Judgement, Verdict};
/// use graph_nodes::message::Usage;
/// use graph_nodes::model::Response;
///
/// struct Judge;
///
/// #[async_trait]
/// impl<S: Sync> AsyncValidator<S> for Judge {
///     fn name(&self) -> &str {
///         "judge"
///     }
///
///     async fn validate(&self, _: &Response, _: &S) -> Judgement {
///         Judgement::from(Verdict::Accept).with_usage(Usage::new(20, 1))
///     }
/// }
/// # let _: &dyn AsyncValidator<()> = &Judge;
/// ```
#[async_trait]
pub trait AsyncValidator<S: ?Sized + Sync>: Send + Sync + 'static {
    /// The name that reports use.
    fn name(&self) -> &str;

    /// When to run it.
    fn cost(&self) -> Cost {
        Cost::Judge
    }

    /// Checks one response.
    async fn validate(&self, response: &Response, state: &S) -> Judgement;
}

/// What a judge says, and what it cost.
///
/// ```
/// use graph_nodes::gate::{Judgement, Verdict};
///
/// let judgement = Judgement::from(Verdict::Accept);
/// assert_eq!(judgement.usage, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// What it says.
    pub verdict: Verdict,
    /// The tokens it took, where it is a model.
    pub usage: Option<Usage>,
    /// How long it took; counts against the deadline.
    pub latency: Duration,
    /// A model that was asked and reported no tokens: they count as 0, but not against a token budget.
    pub unmetered: Option<String>,
}

impl Judgement {
    /// A check that couldn't do its work. What that counts as is the policy's business
    /// ([`GatePolicy::with_validator_panic`](super::GatePolicy::with_validator_panic)): by default a rejection with the
    /// code `validator_failed`, of which the model is told nothing.
    ///
    /// ```
    /// use graph_nodes::gate::{Code, Judgement};
    ///
    /// assert_eq!(Judgement::failed("no stock list").verdict.code(), Some(&Code::VALIDATOR_FAILED));
    /// ```
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Verdict::retry(Code::VALIDATOR_FAILED, why).into()
    }

    /// Sets the tokens.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Names a model that was asked and reported no tokens.
    #[must_use]
    pub fn with_unknown_usage(mut self, model: impl Into<String>) -> Self {
        self.unmetered = Some(model.into());
        self
    }

    /// Sets the time.
    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, usage: None, latency: Duration::ZERO, unmetered: None }
    }
}
