//! Why a gated call gave no response.

use std::fmt;

use super::{Code, ExhaustedBy, GateError, GateFailure, GateLedger};
use crate::model::Response;

/// Why a gated call gave no response.
///
/// ```
/// use graph_nodes::gate::GatedError;
///
/// assert_eq!(GatedError::Cancelled.to_string(), "the model call was cancelled; ask again, with the same ledger to go on");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GatedError {
    /// A limit of the policy was reached.
    #[error("{0}; ask in another way, or raise the limit")]
    Exhausted(GateFailure),
    /// Trying again is pointless.
    #[error("trying again is pointless: `{code}` ({reason}); remove the cause")]
    Fatal {
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
    },
    /// A validator, a refusal or the policy hands it over.
    #[error("the gate hands it over to `{edge}`: `{code}` ({reason}); let that one answer instead")]
    Escalated {
        /// To whom: the edge's name.
        edge: String,
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
        /// The limit, if one was reached.
        exhausted: Option<ExhaustedBy>,
    },
    /// The call was cancelled.
    #[error("the model call was cancelled; ask again, with the same ledger to go on")]
    Cancelled,
    /// The policy wants a fallback model, and there is none.
    #[error(
        "the policy asks a fallback model when a limit is reached, but there is none; add one with `Gated::with_fallback`"
    )]
    NoFallback,
    /// The gate can't do its work.
    #[error("{0}")]
    Gate(GateError),
}

/// A gated call without a response: why, what it cost, and what the model said last.
///
/// ```
/// use graph_nodes::gate::{GatedError, GatedFailure, GateLedger};
///
/// let failure = GatedFailure { error: Box::new(GatedError::NoFallback), ledger: Box::default(), last: None };
/// assert_eq!(failure.ledger.tokens(), 0);
/// assert!(failure.to_string().ends_with("add one with `Gated::with_fallback`"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GatedFailure {
    /// Why.
    pub error: Box<GatedError>,
    /// Every attempt and token.
    pub ledger: Box<GateLedger>,
    /// The latest response, which was rejected.
    pub last: Option<Box<Response>>,
}

impl fmt::Display for GatedFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for GatedFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}
