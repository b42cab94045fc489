//! Which limit is reached, and what is left.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Code, Exhaustion, GateLedger, GatePolicy};

/// Which limit ended the attempts.
///
/// ```
/// use graph_nodes::gate::{Code, ExhaustedBy};
///
/// assert_eq!(ExhaustedBy::Code(Code::PARSE).to_string(), "code:parse");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExhaustedBy {
    /// All attempts were used.
    Attempts,
    /// This code occurred more often than its cap allows.
    Code(Code),
    /// The tokens are used up.
    Tokens,
    /// The tokens for judges are used up.
    JudgeTokens,
    /// The time is over, or will be before the next attempt.
    Deadline,
    /// The same response was rejected for the same codes twice in a row.
    NoProgress,
}

impl fmt::Display for ExhaustedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempts => f.write_str("attempts"),
            Self::Code(code) => write!(f, "code:{code}"),
            Self::Tokens => f.write_str("tokens"),
            Self::JudgeTokens => f.write_str("judge_tokens"),
            Self::Deadline => f.write_str("deadline"),
            Self::NoProgress => f.write_str("no_progress"),
        }
    }
}

/// Where the next attempt stands.
///
/// ```
/// use graph_nodes::gate::{AttemptInfo, GateLedger, GatePolicy};
///
/// let next = GatePolicy::new().next_attempt(&GateLedger::default());
/// assert_eq!(next, AttemptInfo { attempt: 1, max: 3, is_last: false });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptInfo {
    /// Its number, from 1; cancelled attempts don't count.
    pub attempt: u32,
    /// How many there can be, one with a fallback model included.
    pub max: u32,
    /// Whether no further one can follow.
    pub is_last: bool,
}

impl GatePolicy {
    /// Where the next attempt stands.
    pub fn next_attempt(&self, ledger: &GateLedger) -> AttemptInfo {
        let fallback = u32::from(self.exhaustion == Exhaustion::FallbackModel);
        let (attempt, max) = (ledger.finished().saturating_add(1), self.max_attempts.get().saturating_add(fallback));
        AttemptInfo { attempt, max, is_last: attempt >= max || ledger.fallback.is_some() }
    }

    /// How long the next call may take; none without a deadline. The caller
    /// cuts the call then and hands in [`ModelOutcome::deadline`].
    ///
    /// [`ModelOutcome::deadline`]: super::ModelOutcome::deadline
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use graph_nodes::gate::{GateLedger, GatePolicy};
    ///
    /// let policy = GatePolicy::new().with_deadline(Duration::from_secs(9));
    /// assert_eq!(policy.remaining(&GateLedger::default()), Some(Duration::from_secs(9)));
    /// ```
    pub fn remaining(&self, ledger: &GateLedger) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_sub(ledger.elapsed))
    }

    /// Which limit forbids another attempt after a rejection for `codes` and a
    /// wait of `backoff`.
    pub(super) fn exhausted(&self, ledger: &GateLedger, codes: &[Code], backoff: Duration) -> Option<ExhaustedBy> {
        if ledger.finished() >= self.max_attempts.get() {
            return Some(ExhaustedBy::Attempts);
        }
        let over_cap = |code: &&Code| self.code_caps.get(code).is_some_and(|cap| ledger.count(code) > *cap);
        if let Some(code) = codes.iter().find(over_cap) {
            return Some(ExhaustedBy::Code(code.clone()));
        }
        if self.token_budget.is_some_and(|budget| ledger.tokens() >= budget) {
            return Some(ExhaustedBy::Tokens);
        }
        if self.judge_token_budget.is_some_and(|budget| ledger.judge.total() >= budget) {
            return Some(ExhaustedBy::JudgeTokens);
        }
        // An attempt that would begin at the deadline would be cut at once.
        if self.deadline.is_some_and(|deadline| ledger.elapsed.saturating_add(backoff) >= deadline) {
            return Some(ExhaustedBy::Deadline);
        }
        None
    }
}
