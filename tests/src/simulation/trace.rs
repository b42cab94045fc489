//! Everything that could be seen of a session from outside.

use std::sync::Arc;

use graph_engine::{CheckpointId, Event, Mode, Reply, RunError, RunReport, Status, TaskId, canonical_log};

use super::plan::TurnEnv;
use super::state::{Facts, Sim};
use super::store::{Committed, Noted};
use super::world::{Ending, Record};

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
    (String, Option<Arc<RunError>>, Option<Box<RunReport>>),
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
    /// When it was asked to stop at the next boundary.
    pub drained: Option<u64>,
    /// How it ended; nothing when it was dropped.
    pub result: Option<Result>,
    /// The thread after it, if there is a store.
    pub after: Option<After>,
}

/// Log, commits, saved results, records and the end.
type Essence<'a> = (String, Vec<&'a Committed>, Vec<(CheckpointId, TaskId)>, Vec<&'a Record>, String);

impl TurnTrace {
    /// What must be equal for equal turns, whatever the order in which parallel tasks finished.
    fn essence(&self) -> Essence<'_> {
        let mut saves = self.noted.saves.clone();
        saves.sort();
        let mut records: Vec<&Record> = self.records.iter().collect();
        records.sort_by_key(|record| (record.call.step, record.call.rank, record.call.attempt));
        let result = self.result.as_ref().map(|result| match result {
            Ok(ended) => format!("{:?}", ended.as_ref().map(|(status, .., report)| (status, report.steps))),
            Err((text, ..)) => text.clone(),
        });
        let log = format!("{:?} at {}\n{}", self.intent, self.began, canonical_log(&self.events));
        (log, self.noted.commits.iter().collect(), saves, records, format!("{result:?}"))
    }

    /// Whether both went the same way.
    #[must_use]
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.after == other.after && self.essence() == other.essence()
    }

    /// The turn as text.
    #[must_use]
    pub(super) fn text(&self) -> String {
        let (log, commits, saves, records, result) = self.essence();
        let mut text = log;
        commits.iter().for_each(|commit| text += &format!("commit {commit:?}\n"));
        records.iter().for_each(|record| text += &format!("{record:?}\n"));
        text + &format!("saves {saves:?}\n{result}\n{:?}\n", self.after)
    }

    /// Whether the store kept results of single tasks.
    #[must_use]
    pub(super) fn has_saves(&self) -> bool {
        !self.noted.saves.is_empty()
    }

    /// Whether something happened at the very moment in which the turn was told to stop, so that the order of two
    /// things at once may decide.
    #[must_use]
    pub(super) fn is_tied(&self, env: &TurnEnv) -> bool {
        let moments = [env.cancel_at, env.drop_at, env.deadline, env.drain_at];
        let at_once = |at: u64| {
            let began_or_ended = |record: &Record| {
                let ended = record.ended.is_some_and(|(time, ending)| time == at && ending != Ending::Dropped);
                ended || record.began == at
            };
            self.records.iter().any(began_or_ended) || self.noted.commits.iter().any(|commit| commit.time == at)
        };
        moments.into_iter().flatten().any(|after| at_once(self.began + after))
    }
}

impl Trace {
    /// Whether both went the same way.
    #[must_use]
    pub(super) fn equals(&self, other: &Self) -> bool {
        let pairs = self.turns.iter().zip(&other.turns);
        self.turns.len() == other.turns.len() && pairs.into_iter().all(|(one, other)| one.equals(other))
    }

    /// The session as text.
    #[must_use]
    pub(super) fn text(&self) -> String {
        self.turns.iter().map(TurnTrace::text).collect()
    }
}
