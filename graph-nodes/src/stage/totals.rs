//! Sums over all rounds of one stage.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RoundEnd;
use crate::gate::{AttemptOutcome, Code, GateLedger};
use crate::message::Usage;

/// Sums over all rounds of one stage that have ended.
///
/// ```
/// use graph_nodes::stage::StageTotals;
///
/// assert_eq!(StageTotals::default().acceptance_rate(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StageTotals {
    /// Rounds.
    pub rounds: u32,
    /// Rounds that ended with an accepted response.
    pub accepted_rounds: u32,
    /// Attempts that were started.
    pub attempts: u32,
    /// Attempts that came to their end.
    pub finished: u32,
    /// Attempts that were accepted.
    pub accepted_attempts: u32,
    /// Tokens of accepted responses.
    pub accepted: Usage,
    /// Tokens of everything else the model was asked.
    pub rejected: Usage,
    /// Tokens of judges.
    pub judge: Usage,
    /// How often judges were asked.
    pub judge_calls: u32,
    /// Tokens of summaries that keep the memory short.
    pub summary: Usage,
    /// How often a summary was asked for.
    pub summaries: u32,
    /// How often each code occurred.
    pub counters: BTreeMap<Code, u32>,
    /// Responses that would have been rejected, but for shadow mode.
    pub shadow: u32,
    /// Responses that no validator was asked about, because shadow mode looks at some rounds only.
    pub unsampled: u32,
    /// Responses whose structured output was repaired.
    pub repaired: u32,
    /// Responses, of judges too, whose tokens are unknown; they count as 0.
    pub usage_unknown: u32,
    /// Time of calls, judges and waits.
    pub elapsed: Duration,
}

impl StageTotals {
    /// Tokens of all attempts, judges and summaries.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        (self.accepted + self.rejected + self.judge + self.summary).total()
    }

    /// Accepted attempts per finished attempt; none before the first.
    #[must_use]
    pub fn acceptance_rate(&self) -> Option<f64> {
        (self.finished > 0).then(|| f64::from(self.accepted_attempts) / f64::from(self.finished))
    }

    pub(super) fn add(&mut self, ledger: &GateLedger, end: Option<&RoundEnd>) {
        let accepted = ledger.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).count();
        self.rounds = self.rounds.saturating_add(1);
        self.accepted_rounds += u32::from(matches!(end, Some(RoundEnd::Accepted | RoundEnd::AcceptedBest(_))));
        self.attempts = self.attempts.saturating_add(ledger.started());
        self.finished = self.finished.saturating_add(ledger.finished());
        self.accepted_attempts = self.accepted_attempts.saturating_add(u32::try_from(accepted).unwrap_or(u32::MAX));
        self.accepted += ledger.accepted;
        self.rejected += ledger.rejected;
        self.judge += ledger.judge;
        self.judge_calls = self.judge_calls.saturating_add(ledger.judge_calls);
        self.shadow = self.shadow.saturating_add(ledger.shadow);
        self.unsampled = self.unsampled.saturating_add(ledger.unsampled);
        self.repaired = self.repaired.saturating_add(ledger.repaired);
        self.usage_unknown = self.usage_unknown.saturating_add(ledger.usage_unknown);
        self.elapsed = self.elapsed.saturating_add(ledger.elapsed);
        for (code, count) in &ledger.counters {
            let counter = self.counters.entry(code.clone()).or_default();
            *counter = counter.saturating_add(*count);
        }
    }
}
