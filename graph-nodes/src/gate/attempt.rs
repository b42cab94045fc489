//! One attempt in the ledger.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Code, Fingerprint, Repair};
use crate::message::Usage;

/// The longest message that a ledger keeps, in characters: what a validator says may quote a whole response.
pub(super) const LONGEST_REASON: usize = 2_000;

/// One attempt in the ledger.
///
/// ```
/// use graph_nodes::gate::{Attempt, AttemptOutcome};
///
/// let attempt: Attempt = serde_json::from_str(
///     r#"{"n":1,"outcome":"accepted","reasons":[],"usage":null,"latency":{"secs":1,"nanos":0},"model":"m"}"#,
/// )
/// .unwrap();
/// assert_eq!(attempt.outcome, AttemptOutcome::Accepted);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The number, from 1.
    pub n: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why it was rejected, also if it was accepted in the end as the best one; in shadow mode, why it would have been.
    pub reasons: Vec<Reason>,
    /// The tokens, where reported.
    pub usage: Option<Usage>,
    /// How long the model call took.
    pub latency: Duration,
    /// The model's name.
    pub model: String,
    /// How a validator, or a repair, changed the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modification>,
    /// What was repaired of structured output before it was judged, where that is [asked
    /// for](super::StructuredOutput::with_repair).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<Repair>,
}

impl Attempt {
    /// The codes of the reasons without repetition, in the order of the checks.
    pub fn codes(&self) -> Vec<Code> {
        distinct_codes(&self.reasons)
    }
}

/// The codes without repetition, in the order of the checks.
pub(super) fn distinct_codes(reasons: &[Reason]) -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::new();
    for reason in reasons {
        if !codes.contains(&reason.code) {
            codes.push(reason.code.clone());
        }
    }
    codes
}

/// How an attempt ended.
///
/// ```
/// use graph_nodes::gate::AttemptOutcome;
///
/// assert!(AttemptOutcome::Rejected.is_finished());
/// assert!(!AttemptOutcome::Cancelled.is_finished());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// Accepted; in shadow mode whatever the validators said. Also the best of the rejected ones, once a limit was
    /// reached.
    Accepted,
    /// Rejected, by a validator or by the gate itself.
    Rejected,
    /// The model gave an error.
    Failed,
    /// Refused, or stopped by a content filter.
    Blocked,
    /// A validator said that another attempt is pointless.
    Fatal,
    /// A validator handed it to an edge.
    Escalated,
    /// Cancelled while it ran.
    Cancelled,
    /// Cut by the deadline.
    Deadline,
}

impl AttemptOutcome {
    /// Whether the attempt came to its end; only such ones count against the limit.
    pub fn is_finished(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Deadline)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Fatal => "fatal",
            Self::Escalated => "escalated",
            Self::Cancelled => "cancelled",
            Self::Deadline => "deadline",
        }
    }
}

/// One reason of a rejection.
///
/// ```
/// use graph_nodes::gate::{Code, Reason};
///
/// let reason = Reason { code: Code::EMPTY, validator: None, message: Some("no text".into()) };
/// assert_eq!(reason.to_string(), "`empty` (no text)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The counter it went to.
    pub code: Code,
    /// The validator; none if the gate itself rejected.
    pub validator: Option<String>,
    /// The feedback for the model, or the reason for people; at most 2,000 characters of it.
    pub message: Option<String>,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.code)?;
        if let Some(validator) = &self.validator {
            write!(f, " by `{validator}`")?;
        }
        match &self.message {
            Some(message) => write!(f, " ({message})"),
            None => Ok(()),
        }
    }
}

/// How a validator changed an accepted response.
///
/// ```
/// use graph_nodes::gate::{Fingerprint, Modification};
/// use graph_nodes::model::Response;
///
/// let before = Fingerprint::of(&Response::from_text("a"));
/// let after = Fingerprint::of(&Response::from_text("b"));
/// assert_ne!(before, after);
/// let modification = Modification { before, after, note: "letters".into() };
/// # let _ = modification;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modification {
    /// What the model said.
    pub before: Fingerprint,
    /// What was accepted.
    pub after: Fingerprint,
    /// The validators' notes, one a line.
    pub note: String,
}
