//! Everything that could be seen of a session from outside.

use std::fmt::Write;
use std::sync::Arc;

use graph_engine::{CheckpointId, Event, Mode, Reply, RunError, RunReport, Status, canonical_log};

use super::rng::mix;
use super::state::{Facts, Sim};
use super::store::Noted;
use super::world::Record;

/// All modes: the reader that sees everything.
pub(super) const MODES: [Mode; 6] =
    [Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Tokens, Mode::Checkpoints];

/// All turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// In order.
    pub turns: Vec<TurnTrace>,
}

/// What was done with the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Intent {
    /// New input.
    #[default]
    Run,
    /// `proceed`
    Proceed,
    /// `abandon`
    Abandon,
}

/// How a turn ended: nothing to look at for an abandoned one.
pub(super) type Result = std::result::Result<
    Option<(Status, Facts, Vec<Reply>, RunReport)>,
    (String, Option<Arc<RunError>>, Option<RunReport>),
>;

/// The thread after a turn, as its store has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct After {
    /// The state.
    pub facts: Facts,
    /// The nodes that have something to do.
    pub next: Vec<String>,
    /// Replies of the last turn.
    pub replies: Vec<Reply>,
    /// `finish` ended it.
    pub completed: bool,
    /// Super-steps so far.
    pub step: u64,
    /// The last checkpoint.
    pub head: Option<CheckpointId>,
}

/// One turn.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnTrace {
    /// What was done.
    pub intent: Intent,
    /// When it began, in milliseconds.
    pub began: u64,
    /// What the store noted.
    pub noted: Noted,
    /// What the nodes noted.
    pub records: Vec<Record>,
    /// What the reader of everything saw.
    pub events: Vec<Event<Sim>>,
    /// What a slow reader saw before it was cut off.
    pub slow: Option<Vec<Event<Sim>>>,
    /// What a reader saw that left early.
    pub leaver: Option<Vec<Event<Sim>>>,
    /// The turn's future was dropped.
    pub dropped: bool,
    /// When it was cancelled.
    pub cancelled: Option<u64>,
    /// How it ended; nothing when it was dropped.
    pub result: Option<Result>,
    /// The thread after it, if there is a store.
    pub after: Option<After>,
}

impl TurnTrace {
    /// The turn as text: equal for equal turns, whatever the order in which parallel tasks finished.
    #[must_use]
    pub(super) fn text(&self) -> String {
        let mut text = format!("{:?} at {}\n{}", self.intent, self.began, canonical_log(&self.events));
        for commit in &self.noted.commits {
            let _ = writeln!(text, "commit {commit:?}");
        }
        let mut saves = self.noted.saves.clone();
        saves.sort();
        let _ = writeln!(text, "saves {saves:?}");
        let mut records = self.records.clone();
        records.sort_by_key(|record| (record.call.step, record.call.rank, record.call.attempt));
        for record in records {
            let _ = writeln!(text, "{record:?}");
        }
        let result = self.result.as_ref().map(|result| match result {
            Ok(ended) => format!("{:?}", ended.as_ref().map(|(status, facts, replies, _)| (status, facts, replies))),
            Err((text, ..)) => text.clone(),
        });
        let _ = writeln!(text, "{result:?}\n{:?}", self.after);
        text
    }

    /// Whether the store kept results of single tasks.
    #[must_use]
    pub(super) fn has_saves(&self) -> bool {
        !self.noted.saves.is_empty()
    }

    /// Whether something happened at the very moment of the cancellation or drop, so that the order of two things at
    /// once may decide.
    #[must_use]
    pub(super) fn is_tied(&self, disturbed: Option<u64>) -> bool {
        let Some(at) = disturbed.map(|after| self.began + after).or(self.cancelled) else { return false };
        let at_once = |record: &Record| {
            let ended =
                record.ended.is_some_and(|(time, ending)| time == at && ending != super::world::Ending::Dropped);
            ended || record.began == at
        };
        self.records.iter().any(at_once) || self.noted.commits.iter().any(|commit| commit.time == at)
    }
}

impl Trace {
    /// The session as text.
    #[must_use]
    pub(super) fn text(&self) -> String {
        self.turns.iter().map(TurnTrace::text).collect()
    }

    /// The hash of the text.
    #[must_use]
    pub(super) fn hash(&self) -> u64 {
        let words: Vec<u64> = self.text().bytes().map(u64::from).collect();
        mix(&words)
    }
}
