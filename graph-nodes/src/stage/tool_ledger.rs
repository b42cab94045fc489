//! What the tools of a stage did in this turn.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use graph_engine::Name;
use serde::{Deserialize, Serialize};

/// What the tools of a stage did in this turn. It is part of the [book](super::GateBook), so that it survives a
/// restart; it is bounded: one tally for each tool that is offered, and the latest [`KEPT`](Self::KEPT) results.
///
/// A turn is one run, resume or proceed of a thread. The first vertex of the stage that works in another turn begins
/// a new ledger, so a turn that goes on after a failure counts anew. A turn that gives the answer which a call waits for
/// goes on with the ledger of the turn that asked.
///
/// ```
/// use graph_nodes::stage::{GateBook, ToolLedger};
///
/// let book = GateBook::default();
/// assert_eq!(book.tools.get("explore"), None);
/// assert_eq!(ToolLedger::default().tally("search").succeeded, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolLedger {
    /// The turn.
    pub turn: Name,
    /// Calls that a handler was given.
    pub calls: u32,
    /// Calls of the model; counted only where they are [limited](super::AgentNode::max_model_calls).
    pub model_calls: u32,
    /// How often the model was told that it answers without [evidence](super::RequireEvidence), in rounds that have
    /// ended.
    pub reminders: u32,
    /// What became of the calls of each tool.
    pub tools: BTreeMap<String, ToolTally>,
    /// The latest results that still count, the newest last; kept only where
    /// [repeats are intercepted](super::Guards::with_repeats_intercepted).
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub results: VecDeque<PastCall>,
    /// Whether something was written since the other stages were told.
    #[serde(skip)]
    wrote: bool,
}

/// What became of the calls of one tool in this turn.
///
/// ```
/// use graph_nodes::stage::ToolTally;
///
/// assert_eq!(ToolTally::default().failures_in_a_row, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolTally {
    /// Successes.
    pub succeeded: u32,
    /// Successes that weren't marked as [unproductive](crate::tool::ToolReply::unproductive).
    pub productive: u32,
    /// Failures: of the handler, by time, or because of the arguments. A call that a limit, a policy or a guard kept
    /// from running is none.
    pub failed: u32,
    /// Failures since the latest success.
    pub failures_in_a_row: u32,
    /// Calls that were not executed because the same one had succeeded.
    pub repeated: u32,
    /// Calls that were not executed because a person said no.
    #[serde(skip_serializing_if = "is_zero")]
    pub declined: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A call that succeeded.
///
/// ```
/// use graph_nodes::stage::PastCall;
///
/// let past = PastCall { signature: "search {}".into(), text: "no hotels".into() };
/// assert_eq!(serde_json::to_string(&past).unwrap(), r#"{"signature":"search {}","text":"no hotels"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCall {
    /// The tool and its arguments, with sorted keys.
    pub signature: String,
    /// The beginning of its answer.
    pub text: String,
}

impl ToolLedger {
    /// How many results are kept.
    pub const KEPT: usize = 32;

    /// How many characters of a result are kept and quoted.
    pub const QUOTED: usize = 200;

    /// What became of the calls of this tool.
    #[must_use]
    pub fn tally(&self, tool: &str) -> ToolTally {
        self.tools.get(tool).copied().unwrap_or_default()
    }

    pub(super) fn of_turn(turn: &Name) -> Self {
        Self { turn: turn.clone(), ..Self::default() }
    }

    /// Whether the tool failed so often in a row that it isn't asked any more.
    pub(super) fn is_open(&self, tool: &str, limit: Option<NonZeroU32>) -> bool {
        limit.is_some_and(|limit| self.tally(tool).failures_in_a_row >= limit.get())
    }

    /// The beginning of the answer of the same call, if it succeeded and still counts.
    pub(super) fn result_of(&self, signature: &str) -> Option<&str> {
        let same = self.results.iter().find(|past| past.signature == signature);
        same.map(|past| past.text.as_str())
    }

    pub(super) fn failed(&mut self, tool: &str) {
        let tally = self.of(tool);
        tally.failed = tally.failed.saturating_add(1);
        tally.failures_in_a_row = tally.failures_in_a_row.saturating_add(1);
    }

    pub(super) fn succeeded(&mut self, tool: &str, productive: bool) {
        let tally = self.of(tool);
        tally.succeeded = tally.succeeded.saturating_add(1);
        tally.productive = tally.productive.saturating_add(u32::from(productive));
        tally.failures_in_a_row = 0;
    }

    pub(super) fn repeated(&mut self, tool: &str) {
        let tally = self.of(tool);
        tally.repeated = tally.repeated.saturating_add(1);
    }

    pub(super) fn declined(&mut self, tool: &str) {
        let tally = self.of(tool);
        tally.declined = tally.declined.saturating_add(1);
    }

    /// Earlier results may be old now.
    pub(super) fn forget_results(&mut self) {
        self.results.clear();
        self.wrote = true;
    }

    /// Makes the results of other stages old too, if something was written.
    pub(super) fn tell<'a>(&mut self, others: impl IntoIterator<Item = &'a mut Self>) {
        if std::mem::take(&mut self.wrote) {
            others.into_iter().for_each(|other| other.results.clear());
        }
    }

    pub(super) fn keep_result(&mut self, signature: String, text: &str) {
        self.results.retain(|past| past.signature != signature);
        if self.results.len() == Self::KEPT {
            self.results.pop_front();
        }
        self.results.push_back(PastCall { signature, text: text.chars().take(Self::QUOTED).collect() });
    }

    fn of(&mut self, tool: &str) -> &mut ToolTally {
        self.tools.entry(tool.to_owned()).or_default()
    }
}
