//! Which limit of time is the next one.

use std::fmt;
use std::time::Duration;

use graph_nodes::model::ModelError;
use tokio::time::{Instant, timeout_at};

use crate::Timeouts;

/// How far a call is in time.
#[derive(Debug)]
pub(super) struct Clock {
    timeouts: Timeouts,
    started: Instant,
    /// Whether bytes of the body came.
    heard: bool,
}

/// The limit that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Connect,
    FirstByte,
    BetweenChunks,
    Whole,
}

impl Clock {
    pub(super) fn start(timeouts: Timeouts) -> Self {
        Self { timeouts, started: Instant::now(), heard: false }
    }

    /// Bytes of the body came.
    pub(super) fn heard(&mut self) {
        self.heard = true;
    }

    /// Waits for the work, but not beyond the next limit.
    pub(super) async fn limit<T>(&self, work: impl Future<Output = T>) -> Result<T, ModelError> {
        // Whoever reads slowly makes the server wait, so its silence begins when somebody listens.
        let silence = if self.heard {
            self.timeouts.between_chunks.map(|limit| (Instant::now(), limit, Phase::BetweenChunks))
        } else {
            self.timeouts.first_byte.map(|limit| (self.started, limit, Phase::FirstByte))
        };
        let whole = self.timeouts.whole.map(|limit| (self.started, limit, Phase::Whole));
        // A limit beyond what a clock can hold is none.
        let ends = silence
            .into_iter()
            .chain(whole)
            .filter_map(|(from, limit, phase)| from.checked_add(limit).map(|end| (end, limit, phase)));
        match ends.min_by_key(|(end, ..)| *end) {
            None => Ok(work.await),
            Some((end, limit, phase)) => timeout_at(end, work).await.map_err(|_| phase.error(limit)),
        }
    }
}

impl Phase {
    /// What the call ends with.
    pub(super) fn error(self, limit: Duration) -> ModelError {
        ModelError::transport(format!("{self} within {limit:?}"))
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "timeout `connect`: there was no connection",
            Self::FirstByte => "timeout `first_byte`: no byte of the answer came",
            Self::BetweenChunks => "timeout `between_chunks`: the server was silent and nothing more came",
            Self::Whole => "timeout `whole`: the answer did not end",
        })
    }
}
