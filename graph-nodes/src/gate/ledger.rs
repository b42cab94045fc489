//! What all attempts cost and why they were rejected.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attempt::distinct_codes;
use super::{Attempt, AttemptOutcome, Candidate, Code, FallbackUse, Fingerprint, ModelOutcome, ModelResult, Reason};
use crate::message::Usage;

/// What all attempts at one response cost and why they were rejected.
///
/// Plain data: it lives in the state, is saved with it, and goes on counting
/// after a resume. One ledger per response that is wanted; start a new one
/// (`GateLedger::default()`) for the next.
///
/// ```
/// use graph_nodes::gate::GateLedger;
///
/// let ledger = GateLedger::default();
/// assert_eq!(ledger.started(), 0);
/// let json = serde_json::to_string(&ledger).unwrap();
/// assert_eq!(serde_json::from_str::<GateLedger>(&json).unwrap(), ledger);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GateLedger {
    /// How many rounds there were before this one; see [`GatePolicy::in_shadow_every`](super::GatePolicy::in_shadow_every).
    pub round: u32,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
    /// Tokens of accepted responses.
    pub accepted: Usage,
    /// Tokens of everything else the model was asked.
    pub rejected: Usage,
    /// Tokens of judges.
    pub judge: Usage,
    /// How often judges were asked.
    pub judge_calls: u32,
    /// How often each code occurred; in shadow mode under `shadow:` and the code.
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
    /// The latest rejected response and its codes.
    pub last_rejected: Option<(Fingerprint, Vec<Code>)>,
    /// The best of the rejected responses so far, under [`Exhaustion::AcceptBest`](super::Exhaustion::AcceptBest).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Candidate>,
    /// The one attempt with the fallback model, once it was decided on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackUse>,
}

impl GateLedger {
    /// The empty ledger of a round with this many rounds before it.
    pub fn of_round(round: u32) -> Self {
        Self { round, ..Self::default() }
    }

    /// How many attempts were started.
    pub fn started(&self) -> u32 {
        count(self.attempts.len())
    }

    /// How many attempts came to their end.
    pub fn finished(&self) -> u32 {
        count(self.attempts.iter().filter(|attempt| attempt.outcome.is_finished()).count())
    }

    /// How often a code occurred.
    pub fn count(&self, code: &Code) -> u32 {
        self.counters.get(code).copied().unwrap_or_default()
    }

    /// Tokens of all attempts and judges.
    pub fn tokens(&self) -> u64 {
        (self.accepted + self.rejected + self.judge).total()
    }

    /// Accepted attempts per finished attempt; none before the first.
    pub fn acceptance_rate(&self) -> Option<f64> {
        let accepted = self.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).count();
        let finished = self.finished();
        (finished > 0).then(|| accepted as f64 / f64::from(finished))
    }

    /// Counts that the wait between two attempts was cancelled after `unused`
    /// of it had not passed yet. No attempt is started by it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use graph_nodes::gate::{Code, GateLedger};
    ///
    /// let mut ledger = GateLedger::default();
    /// ledger.cancelled_while_waiting(Duration::ZERO);
    /// assert_eq!((ledger.started(), ledger.count(&Code::CANCELLED)), (0, 1));
    /// ```
    pub fn cancelled_while_waiting(&mut self, unused: Duration) {
        self.elapsed = self.elapsed.saturating_sub(unused);
        self.bump(Code::CANCELLED);
    }

    /// Adds an attempt whose outcome was never judged, because its turn was cancelled or failed before: its tokens
    /// and time are paid for, and it counts as cancelled.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use graph_nodes::gate::{GateLedger, ModelOutcome};
    /// use graph_nodes::message::Usage;
    /// use graph_nodes::model::Response;
    ///
    /// let mut ledger = GateLedger::default();
    /// let response = Response::from_text("hi").with_usage(Usage::new(100, 10));
    /// ledger.unjudged(&ModelOutcome::new("m", Duration::ZERO, Ok(response)));
    /// assert_eq!((ledger.started(), ledger.finished(), ledger.tokens()), (1, 0, 110));
    /// ```
    pub fn unjudged(&mut self, outcome: &ModelOutcome) {
        self.elapsed = self.elapsed.saturating_add(outcome.latency);
        self.usage_unknown += u32::from(outcome.usage.is_none() && matches!(outcome.result, ModelResult::Response(_)));
        self.record(Attempt {
            n: self.started().saturating_add(1),
            outcome: AttemptOutcome::Cancelled,
            reasons: vec![Reason { code: Code::CANCELLED, validator: None, message: None }],
            usage: outcome.usage,
            latency: outcome.latency,
            model: outcome.model.clone(),
            modified: None,
            repaired: Vec::new(),
        });
    }

    pub(super) fn bump(&mut self, code: Code) {
        let counter = self.counters.entry(code).or_default();
        *counter = counter.saturating_add(1);
    }

    /// Adds the attempt to the rows and to the sums, and each reason to its counter.
    pub(super) fn record(&mut self, attempt: Attempt) {
        let used = attempt.usage.unwrap_or_default();
        self.repaired += u32::from(!attempt.repaired.is_empty());
        if attempt.outcome == AttemptOutcome::Accepted {
            self.accepted += used;
            self.last_rejected = None;
            self.best = None;
            self.shadow += u32::from(!attempt.reasons.is_empty());
            self.count_codes(&attempt.reasons, Code::in_shadow);
        } else {
            self.rejected += used;
            self.count_codes(&attempt.reasons, Code::clone);
        }
        if let Some(fallback) = &mut self.fallback {
            fallback.attempt.get_or_insert(attempt.n);
        }
        self.attempts.push(attempt);
    }

    /// One attempt counts once per code, however many checks gave it.
    fn count_codes(&mut self, reasons: &[Reason], key: impl Fn(&Code) -> Code) {
        for code in distinct_codes(reasons) {
            self.bump(key(&code));
        }
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
