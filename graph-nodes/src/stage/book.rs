//! Every attempt and token of all stages.

use std::collections::{BTreeMap, VecDeque};

use graph_engine::Name;
use serde::{Deserialize, Serialize};

use super::{NextPrompt, RouteConflict, StageTotals, ToolLedger};
use crate::gate::{BestOf, Code, ExhaustedBy, GateLedger, ModelOutcome, trace};
use crate::message::Usage;

/// Every attempt and token of all stages that share a seat: the rounds that are open, the latest rounds with all
/// their attempts, and the sums of all rounds that have ended.
///
/// A round is everything from a stage's wish for one response to its acceptance (or to whatever ended it instead). The
/// book is bounded, so that its part of a checkpoint is: of the rounds before the latest
/// [`KEPT`](Self::KEPT) only the sums are left.
///
/// ```
/// use graph_nodes::stage::GateBook;
///
/// let book = GateBook::default();
/// assert_eq!(book.tokens(), 0);
/// assert_eq!(book.to_table(), "stage  rounds  attempts  accepted  rejected  judge  ms\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GateBook {
    /// The round that each stage is in the middle of.
    pub open: BTreeMap<Name, GateLedger>,
    /// The latest rounds, the newest last.
    pub recent: VecDeque<Round>,
    /// Sums of all rounds that have ended, by stage.
    pub stages: BTreeMap<Name, StageTotals>,
    /// The latest conflicts of tools' routes, the newest last.
    pub conflicts: VecDeque<RouteConflict>,
    /// What the tools of each stage did in its latest turn.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<Name, ToolLedger>,
    /// Prompts for one round, by the node (or else the stage) that they are for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<Name, NextPrompt>,
}

/// A round that has ended.
///
/// ```
/// use graph_nodes::gate::GateLedger;
/// use graph_nodes::stage::{Round, RoundEnd};
///
/// let round = Round { stage: "explore".into(), ledger: GateLedger::default(), end: RoundEnd::Accepted };
/// assert_eq!(round.ledger.started(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The stage.
    pub stage: Name,
    /// Its attempts.
    pub ledger: GateLedger,
    /// How it ended.
    pub end: RoundEnd,
}

/// How a round ended.
///
/// ```
/// use graph_nodes::stage::RoundEnd;
///
/// assert_eq!(serde_json::to_string(&RoundEnd::Accepted).unwrap(), "\"accepted\"");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoundEnd {
    /// With an accepted response.
    Accepted,
    /// With the best of the rejected responses, because a limit was reached.
    AcceptedBest(BestOf),
    /// Along an edge.
    Escalated {
        /// The edge; `exhausted` for a limit that leads to a node.
        edge: String,
        /// The node.
        to: Name,
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
        /// The limit, if one was reached.
        exhausted: Option<ExhaustedBy>,
    },
    /// Its turn was cancelled or failed, and the stage was entered anew.
    Abandoned,
}

impl RoundEnd {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AcceptedBest(_) => "accepted_best",
            Self::Escalated { .. } => "escalated",
            Self::Abandoned => "abandoned",
        }
    }
}

impl GateBook {
    /// How many rounds, and how many conflicts, are kept.
    pub const KEPT: usize = 32;

    /// The round that the stage is in the middle of.
    #[must_use]
    pub fn ledger(&self, stage: &str) -> Option<&GateLedger> {
        self.open.get(stage)
    }

    /// The latest round of the stage that has ended.
    #[must_use]
    pub fn last_round(&self, stage: &str) -> Option<&Round> {
        self.recent.iter().rev().find(|round| round.stage == *stage)
    }

    /// The sums of the stage, its open round included.
    #[must_use]
    pub fn totals(&self, stage: &str) -> StageTotals {
        let mut totals = self.stages.get(stage).cloned().unwrap_or_default();
        if let Some(ledger) = self.open.get(stage) {
            totals.add(ledger, None);
        }
        totals
    }

    /// The stages that have asked a model.
    #[must_use]
    pub fn names(&self) -> Vec<&Name> {
        let mut names: Vec<_> = self.stages.keys().chain(self.open.keys()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Tokens of all stages, open rounds included.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.names().into_iter().fold(0, |sum, stage| sum.saturating_add(self.totals(stage).tokens()))
    }

    /// The ledger of the stage's round; begins one if there is none.
    pub(super) fn ledger_mut(&mut self, stage: &Name) -> &mut GateLedger {
        let rounds = self.stages.get(stage).map_or(0, |totals| totals.rounds);
        self.open.entry(stage.clone()).or_insert_with(|| GateLedger::of_round(rounds))
    }

    pub(super) fn close(&mut self, stage: &Name, end: RoundEnd) {
        let mut ledger = self.open.remove(stage).unwrap_or_default();
        self.forget_prompts(stage);
        // A response that nobody will accept any more isn't kept.
        ledger.best = None;
        trace::round(stage, &ledger, end.as_str());
        self.stages.entry(stage.clone()).or_default().add(&ledger, Some(&end));
        keep(&mut self.recent, Round { stage: stage.clone(), ledger, end });
    }

    /// Drops the prompts that the round of the stage took.
    fn forget_prompts(&mut self, stage: &Name) {
        self.prompts.retain(|_, prompt| prompt.taken_by.as_ref() != Some(stage));
    }

    /// Ends a round that nobody will go on with, and counts a response that was never judged.
    pub(super) fn abandon(&mut self, stage: &Name, unjudged: Option<&ModelOutcome>) {
        if let Some(outcome) = unjudged {
            self.ledger_mut(stage).unjudged(outcome);
        }
        if self.open.contains_key(stage) {
            self.close(stage, RoundEnd::Abandoned);
        }
        // Also of a round that ended before it had an attempt.
        self.forget_prompts(stage);
    }

    /// Counts a summary that was asked for, whatever became of it.
    pub(crate) fn summarised(&mut self, stage: &Name, usage: Option<Usage>) {
        let totals = self.stages.entry(stage.clone()).or_default();
        totals.summaries = totals.summaries.saturating_add(1);
        match usage {
            Some(usage) => totals.summary += usage,
            None => totals.usage_unknown = totals.usage_unknown.saturating_add(1),
        }
    }

    pub(super) fn conflict(&mut self, conflict: RouteConflict) {
        keep(&mut self.conflicts, conflict);
    }
}

fn keep<T>(latest: &mut VecDeque<T>, item: T) {
    if latest.len() == GateBook::KEPT {
        latest.pop_front();
    }
    latest.push_back(item);
}
