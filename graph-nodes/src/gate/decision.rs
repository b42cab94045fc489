//! What happens after one attempt.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Attempt, BestOf, Code, ExhaustedBy, Modification};
use crate::model::Response;

/// What happens after one attempt.
///
/// ```
/// use graph_nodes::gate::{Decision, GateLedger, GatePolicy, ModelOutcome, Validators, decide};
/// use graph_nodes::model::Response;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut ledger = GateLedger::default();
/// let outcome = ModelOutcome::new("m", std::time::Duration::ZERO, Ok(Response::from_text("hi")));
/// let decision = decide(&GatePolicy::new(), &Validators::new(), &mut ledger, outcome, &()).await.unwrap();
/// assert!(matches!(decision, Decision::Accept { response, .. } if response.text == "hi"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Take this response.
    Accept {
        /// The response, with what validators changed.
        response: Box<Response>,
        /// What validators changed, one note a line; then, if it was rejected at first, what [`BestOf`] says.
        note: Option<String>,
        /// The marks of the response before and after the change.
        modified: Option<Modification>,
        /// Set if it was rejected at first, and is the best one now that a limit is reached.
        best: Option<BestOf>,
    },
    /// Wait, then ask again.
    Retry {
        /// Why, for the model; see [`retry_messages`](super::retry_messages).
        feedback: Option<String>,
        /// How long to wait. Counted in the ledger already.
        backoff: Duration,
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// How many attempts there can be.
        max: u32,
        /// Whether the next attempt is the last one.
        is_last: bool,
    },
    /// Ask the fallback model, once and at once. What the gate says of its response is final.
    Fallback {
        /// Why the last response was rejected, for the model; see [`retry_messages`](super::retry_messages).
        feedback: Option<String>,
        /// The limit that was reached.
        by: ExhaustedBy,
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// How many attempts there could be.
        max: u32,
    },
    /// Go along an edge.
    Escalate {
        /// The edge.
        edge: String,
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
        /// The limit, if one was reached.
        exhausted: Option<ExhaustedBy>,
    },
    /// A limit is reached.
    Exhausted(GateFailure),
    /// Trying again is pointless.
    Fatal {
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
    },
    /// The call was cancelled: no recovery of any kind.
    Cancelled,
}

/// A gate that gave up: the limit and every attempt.
///
/// ```
/// use graph_nodes::gate::{ExhaustedBy, GateFailure};
///
/// let failure = GateFailure { by: ExhaustedBy::Deadline, attempts: vec![] };
/// assert_eq!(failure.to_string(), "no response was accepted in 0 attempts (limit: deadline)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFailure {
    /// The limit that was reached.
    pub by: ExhaustedBy,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
}

impl fmt::Display for GateFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no response was accepted in {} (limit: {})", attempts(self.attempts.len()), self.by)?;
        for attempt in &self.attempts {
            write!(f, "; {}: {}", attempt.n, attempt.outcome.as_str())?;
            for (n, reason) in attempt.reasons.iter().enumerate() {
                write!(f, "{} {reason}", if n == 0 { "" } else { "," })?;
            }
        }
        Ok(())
    }
}

/// How many, as part of a message.
pub(crate) fn attempts(count: usize) -> String {
    format!("{count} {}", if count == 1 { "attempt" } else { "attempts" })
}

impl std::error::Error for GateFailure {}

/// Why a gate can't do its work.
///
/// ```
/// use graph_nodes::gate::GateError;
///
/// let error = GateError::UsageUnavailable { model: "local".into(), budget: 500 };
/// assert_eq!(
///     error.to_string(),
///     "the model `local` reports no tokens, so the budget of 500 can't be kept; \
///      make it report them, or set no token budget",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// There is a token budget, but the model reports no tokens.
    #[error(
        "the model `{model}` reports no tokens, so the budget of {budget} can't be kept; \
         make it report them, or set no token budget"
    )]
    UsageUnavailable {
        /// The model.
        model: String,
        /// The budget.
        budget: u64,
    },
    /// The best response is to be accepted, but nothing tells which one is better.
    #[error(
        "the policy accepts the best response when a limit is reached, but nothing scores responses; \
         add a score with `Validators::with_score`, or choose another `Exhaustion`"
    )]
    NoScore,
    /// The fallback model was asked already, and yet there is one more outcome.
    #[error(
        "attempt {attempt} was the fallback model's and is final, but `{model}` was asked after it; \
         end the round there, and begin a new ledger for the next one"
    )]
    SecondFallback {
        /// The attempt of the fallback model.
        attempt: u32,
        /// The model that was asked after it.
        model: String,
    },
}
