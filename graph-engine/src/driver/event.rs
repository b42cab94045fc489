//! What a turn tells while it runs.

use std::fmt;
use std::time::SystemTime;

use serde_json::Value;

use crate::checkpoint_id::CheckpointId;
use crate::error::FaultKind;
use crate::name::{Name, quoted};
use crate::task::{Interrupt, Move, Snap};
use crate::task_id::TaskId;

/// One thing that happened in a turn.
///
/// `seq` is the order of arrival and differs between runs when tasks run in parallel. The canonical order is
/// (`step`, `task`, `attempt`, `index`), which is the same in every run; see [`canonical_log`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Event<S> {
    /// The turn.
    pub turn: Name,
    /// The namespace of a child graph; empty at the top.
    pub namespace: Name,
    /// Order of arrival, from 0.
    pub seq: u64,
    /// The super-step.
    pub step: u64,
    /// The task, for what happens in one.
    pub task: Option<TaskId>,
    /// Its node.
    pub node: Option<Name>,
    /// Its attempt, from 1; 0 for what happens in no task.
    pub attempt: u32,
    /// Order within the attempt, from 0: its start, what it emits, its end.
    pub index: u32,
    /// The time of day, for people.
    pub time: SystemTime,
    /// What happened.
    pub kind: EventKind<S>,
}

/// What happened.
#[derive(Clone)]
#[non_exhaustive]
pub enum EventKind<S> {
    /// The turn begins.
    Started,
    /// An attempt begins.
    NodeStarted,
    /// An attempt has succeeded. Its update becomes visible when the step ends.
    NodeFinished {
        /// The fields that it writes.
        wrote: Vec<Name>,
        /// Where it goes.
        next: Move,
        /// The written values as JSON, in mode `Updates`: for a field that collects (`append`, `with`) the items, or
        /// `{"overwrite": .., "items": ..}` when it was overwritten. Transient fields are left out.
        update: Option<Value>,
        /// It is the result of an earlier task with the same key; the node was not run.
        cached: bool,
    },
    /// An attempt has failed.
    NodeFailed {
        /// What kind of failure.
        kind: FaultKind,
        /// What the node said.
        message: String,
    },
    /// An attempt has asked something and pauses. Once there are answers, the node runs again from its first line.
    NodePaused {
        /// What it asks.
        interrupts: Vec<Interrupt>,
    },
    /// What the attempt emitted before counts for nothing: it failed or was cancelled.
    AttemptDiscarded,
    /// The input was merged; only in mode `State`.
    InputMerged {
        /// The nodes that run next.
        next: Vec<Name>,
        /// The whole state. Keeping it costs a copy of the state a step.
        state: Option<Snap<S>>,
    },
    /// The updates of a super-step were merged.
    StepFinished {
        /// The nodes that run next.
        next: Vec<Name>,
        /// The whole state, in mode `State`. Keeping it costs a copy of the state a step.
        state: Option<Snap<S>>,
    },
    /// A checkpoint was stored.
    Checkpoint {
        /// Its id.
        id: CheckpointId,
    },
    /// A node emitted a value.
    Custom(Value),
    /// A node emitted a piece of text that a person sees grow.
    Token(String),
    /// The turn is over; the last event of every reader.
    Ended {
        /// `done`, `completed`, `cancelled` or the error's text.
        outcome: String,
    },
}

/// Groups of events that a reader may ask for.
///
/// ```
/// use graph_engine::{Mode, StreamOptions};
///
/// let options = StreamOptions::default().modes([Mode::Tokens, Mode::Custom]);
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Starts, ends, failures and pauses of nodes, and ends of steps.
    Nodes,
    /// Adds the written values to the ends of nodes.
    Updates,
    /// Adds the whole state to the ends of steps.
    State,
    /// Values that nodes emit.
    Custom,
    /// Text that nodes emit piece by piece.
    Tokens,
    /// Stored checkpoints.
    Checkpoints,
}

impl<S> EventKind<S> {
    /// The same without whole states, for readers of another graph.
    pub(crate) fn stateless<T>(self) -> EventKind<T> {
        match self {
            Self::Started => EventKind::Started,
            Self::NodeStarted => EventKind::NodeStarted,
            Self::NodeFinished { wrote, next, update, cached } => {
                EventKind::NodeFinished { wrote, next, update, cached }
            }
            Self::NodeFailed { kind, message } => EventKind::NodeFailed { kind, message },
            Self::NodePaused { interrupts } => EventKind::NodePaused { interrupts },
            Self::AttemptDiscarded => EventKind::AttemptDiscarded,
            Self::InputMerged { next, .. } => EventKind::InputMerged { next, state: None },
            Self::StepFinished { next, .. } => EventKind::StepFinished { next, state: None },
            Self::Checkpoint { id } => EventKind::Checkpoint { id },
            Self::Custom(value) => EventKind::Custom(value),
            Self::Token(text) => EventKind::Token(text),
            Self::Ended { outcome } => EventKind::Ended { outcome },
        }
    }

    pub(crate) fn mode(&self) -> Option<Mode> {
        match self {
            // Every reader learns of the beginning, the end, and what it must forget.
            Self::Started | Self::Ended { .. } | Self::AttemptDiscarded => None,
            Self::NodeStarted
            | Self::NodeFinished { .. }
            | Self::NodeFailed { .. }
            | Self::NodePaused { .. }
            | Self::StepFinished { .. } => Some(Mode::Nodes),
            Self::InputMerged { .. } => Some(Mode::State),
            Self::Checkpoint { .. } => Some(Mode::Checkpoints),
            Self::Custom(_) => Some(Mode::Custom),
            Self::Token(_) => Some(Mode::Tokens),
        }
    }

    /// Events of no task stand before (-1) or behind (1) those of the tasks of their step.
    fn rank(&self) -> i32 {
        match self {
            Self::Started => -3,
            Self::InputMerged { .. } => -2,
            Self::StepFinished { .. } => 1,
            Self::Checkpoint { .. } => -1,
            Self::Ended { .. } => 2,
            _ => 0,
        }
    }
}

impl<S> fmt::Debug for EventKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<S> fmt::Debug for Event<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<S> fmt::Display for EventKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => f.write_str("started"),
            Self::NodeStarted => f.write_str("start"),
            Self::NodeFinished { wrote, next, cached, .. } => {
                f.write_str(if *cached { "finish, cached" } else { "finish" })?;
                if !wrote.is_empty() {
                    write!(f, ", wrote {}", quoted(wrote.iter().map(Name::as_str)))?;
                }
                write_move(f, next)
            }
            Self::NodeFailed { kind, message } => write!(f, "fail ({kind:?}): {message}"),
            Self::NodePaused { interrupts } => {
                f.write_str("pause")?;
                interrupts.iter().try_for_each(|interrupt| write!(f, " {}", interrupt.question))
            }
            Self::AttemptDiscarded => f.write_str("discarded"),
            Self::InputMerged { next, .. } => {
                write!(f, "input merged, next {}", quoted(next.iter().map(Name::as_str)))
            }
            Self::StepFinished { next, .. } if next.is_empty() => f.write_str("merged"),
            Self::StepFinished { next, .. } => write!(f, "merged, next {}", quoted(next.iter().map(Name::as_str))),
            Self::Checkpoint { .. } => f.write_str("checkpoint"),
            Self::Custom(value) => write!(f, "custom {value}"),
            Self::Token(text) => write!(f, "token {text:?}"),
            Self::Ended { outcome } => write!(f, "ended: {outcome}"),
        }
    }
}

fn write_move(f: &mut fmt::Formatter<'_>, next: &Move) -> fmt::Result {
    match next {
        Move::Declared => Ok(()),
        Move::Go(to) => write!(f, ", go {}", quoted(to.iter().map(Name::as_str))),
        Move::FanOut(to) => write!(f, ", fan out {}", quoted(to.iter().map(Name::as_str))),
        Move::Stay(feedback) => write!(f, ", stay {}", feedback.clone().unwrap_or_default()),
        Move::Direct(reply) => write!(f, ", direct {reply}"),
        Move::Finish(reply) => write!(f, ", finish {reply}"),
        Move::Invalid(error) => write!(f, ", invalid: {error}"),
    }
}

impl<S> fmt::Display for Event<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "[{}] ", shown_namespace(&self.namespace))?;
        }
        match (&self.task, &self.node) {
            (Some(task), Some(node)) => write!(f, "{task} {node}#{} {}", self.attempt, self.kind),
            _ => write!(f, "{} {}", self.step, self.kind),
        }
    }
}

/// A namespace without what differs between runs: the calls of its levels.
fn shown_namespace(namespace: &str) -> String {
    let levels = namespace.split('|').map(|level| level.rsplit_once(':').map_or(level, |(name, _)| name));
    levels.collect::<Vec<_>>().join("|")
}

/// The events in canonical order, a line each, without what differs between runs (seq, time, checkpoint ids): equal
/// for every order in which parallel tasks finish. Those of child graphs follow, by namespace.
pub fn canonical_log<S>(events: &[Event<S>]) -> String {
    let mut sorted: Vec<&Event<S>> = events.iter().collect();
    sorted.sort_by_key(|event| {
        (
            event.kind.rank() == -3,
            shown_namespace(&event.namespace),
            event.step,
            event.kind.rank(),
            event.task,
            event.attempt,
            event.index,
        )
    });
    // The beginning of the turn is the first line whatever its step.
    let first = sorted.iter().position(|event| event.kind.rank() == -3);
    if let Some(first) = first {
        sorted[..=first].rotate_right(1);
    }
    sorted.iter().map(|event| format!("{event}\n")).collect()
}
