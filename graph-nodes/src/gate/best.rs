//! The best of the rejected responses.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AttemptOutcome, ExhaustedBy, GateLedger, Modification};
use crate::model::Response;

/// A rejected response that is accepted if nothing better comes, under
/// [`Exhaustion::AcceptBest`](super::Exhaustion::AcceptBest).
///
/// Nothing of it has had an effect. It was judged by validators: one that was
/// refused, cut off with calls, empty or no JSON is never a candidate, nor is
/// one with a faulty call.
///
/// ```
/// use graph_nodes::gate::Candidate;
/// use graph_nodes::model::Response;
///
/// let candidate = Candidate { response: Box::new(Response::from_text("hi")), score: 0.1 + 0.2, attempt: 1, modified: None };
/// let json = serde_json::to_string(&candidate).unwrap();
/// // The score comes back exactly, whatever the reader of JSON does with numbers.
/// assert_eq!(serde_json::from_str::<Candidate>(&json).unwrap(), candidate);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The response, with what validators changed.
    pub response: Box<Response>,
    /// Its score; finite.
    #[serde(with = "exact")]
    pub score: f64,
    /// The number of its attempt.
    pub attempt: u32,
    /// How validators changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Modification>,
}

/// Says that a response was accepted although it was rejected at first: no
/// other one was better when a limit was reached.
///
/// ```
/// use graph_nodes::gate::{BestOf, ExhaustedBy};
///
/// let best = BestOf { attempt: 2, score: 0.7, by: ExhaustedBy::Attempts };
/// assert_eq!(best.to_string(), "the best rejected response was accepted (attempt: 2, score: 0.7, limit: attempts)");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestOf {
    /// The number of its attempt.
    pub attempt: u32,
    /// Its score.
    #[serde(with = "exact")]
    pub score: f64,
    /// The limit that was reached.
    pub by: ExhaustedBy,
}

impl fmt::Display for BestOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempt, score, by } = self;
        write!(f, "the best rejected response was accepted (attempt: {attempt}, score: {score}, limit: {by})")
    }
}

impl GateLedger {
    /// Keeps the candidate if its score is a finite number and higher than the one before: of equals the earlier stays.
    pub(super) fn offer(&mut self, candidate: Candidate) {
        let is_better = self.best.as_ref().is_none_or(|best| candidate.score > best.score);
        if candidate.score.is_finite() && is_better {
            self.best = Some(candidate);
        }
    }

    /// Makes the best candidate the accepted response. Its attempt and its tokens move from the rejected to the
    /// accepted ones; the codes that it was rejected for stay counted. It is taken, so this happens once.
    pub(super) fn accept_best(&mut self) -> Option<Candidate> {
        let best = self.best.take()?;
        let attempt = self.attempts.iter_mut().find(|attempt| attempt.n == best.attempt)?;
        attempt.outcome = AttemptOutcome::Accepted;
        attempt.modified.clone_from(&best.modified);
        self.accepted += attempt.usage.unwrap_or_default();
        // A sum of totals can't be undone by subtraction.
        let rejected = self.attempts.iter().filter(|attempt| attempt.outcome != AttemptOutcome::Accepted);
        self.rejected = rejected.filter_map(|attempt| attempt.usage).sum();
        self.last_rejected = None;
        Some(best)
    }
}

/// A number as text that means exactly this number.
mod exact {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(score: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(score)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse() {
            Ok(score) if f64::is_finite(score) => Ok(score),
            _ => Err(de::Error::custom(format_args!("`{text}` is no score; store a finite number as text"))),
        }
    }
}
