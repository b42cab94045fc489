//! What became of a task, as a value: no outer engine may retry a failure behind the machine's accounting.

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::error::{BoxError, FaultKind, NodeError};
use crate::panic::text_of;
use crate::state::State;
use crate::task::Outcome;

pub(crate) enum TaskOutcome<S: State> {
    Done(Outcome<S>),
    /// The result of an earlier task with the same key; becomes `Done` once it is placed.
    Cached(Outcome<S>),
    Failed(Box<Failure>),
    /// Cancelled, perhaps before the node was called at all.
    Cancelled {
        started: bool,
    },
    /// It waits for an answer; its questions are in its journal.
    Paused,
}

/// A failure, and the error itself as long as a retry policy may want to look at it.
pub(crate) struct Failure {
    pub(crate) kind: FaultKind,
    pub(crate) source: Arc<BoxError>,
    pub(crate) error: Option<NodeError>,
}

impl Failure {
    /// Keeps the error for the policy's predicate.
    pub(crate) fn new(error: NodeError) -> Box<Self> {
        // What the error says comes later, if it is for good.
        static NOTHING: LazyLock<Arc<BoxError>> = LazyLock::new(|| Arc::new("".into()));
        Box::new(Self { kind: error.kind(), source: NOTHING.clone(), error: Some(error) })
    }

    pub(crate) fn fatal(message: String) -> Box<Self> {
        Box::new(Self { kind: FaultKind::Fatal, source: Arc::new(message.into()), error: None })
    }

    /// What it says.
    pub(crate) fn text(&self) -> String {
        match &self.error {
            Some(error) => text_of(error),
            None => text_of(&self.source),
        }
    }

    /// The failure for good: only what is reported stays.
    pub(crate) fn settle(&mut self) {
        if let Some(error) = self.error.take() {
            let (kind, source) = error.into_parts();
            (self.kind, self.source) = (kind, Arc::new(source));
        }
    }
}

impl<S: State> fmt::Debug for TaskOutcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(outcome) | Self::Cached(outcome) => outcome.fmt(f),
            Self::Failed(failure) => write!(f, "Failed({})", failure.source),
            Self::Cancelled { .. } => f.write_str("Cancelled"),
            Self::Paused => f.write_str("Paused"),
        }
    }
}
