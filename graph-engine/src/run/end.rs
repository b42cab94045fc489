//! How a turn ended that did not fail.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::reply::Reply;
use crate::report::RunReport;
use crate::task::{Interrupt, Snap};

/// How a turn ended.
///
/// ```
/// use graph_engine::Status;
///
/// assert_ne!(Status::Done, Status::Cancelled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Nothing is left to run.
    Done,
    /// The thread is complete; it takes no further input.
    Completed,
    /// It was cancelled; `proceed` goes on.
    Cancelled,
    /// It stopped between two super-steps, because somebody asked for it; `proceed` goes on.
    Drained,
    /// It waits: for answers to [`interrupts`](TurnEnd::interrupts), which `resume` gives, or at a breakpoint, from which
    /// `proceed` goes on.
    Paused,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Drained => "drained",
            Self::Paused => "paused",
        }
    }
}

/// The end of a turn that did not fail.
#[derive(Clone)]
#[non_exhaustive]
pub struct TurnEnd<S> {
    /// How it ended.
    pub status: Status,
    /// The state at the end. Keeping it over the next turn costs one copy of the state when there is no store.
    pub state: Snap<S>,
    /// Direct replies by (step, task).
    pub replies: Vec<Reply>,
    /// What the turn did.
    pub report: RunReport,
}

impl<S> fmt::Debug for TurnEnd<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnEnd")
            .field("status", &self.status)
            .field("replies", &self.replies)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<S> TurnEnd<S> {
    /// The open questions, in task order.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.report.interrupts
    }

    /// The first reply.
    #[must_use]
    pub fn reply(&self) -> Option<&Value> {
        self.replies.first().map(|reply| &reply.value)
    }

    /// The first reply as a value of your own type.
    ///
    /// # Errors
    /// If the reply is no `T`.
    pub fn reply_as<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        self.reply().map(T::deserialize).transpose()
    }
}
