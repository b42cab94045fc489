//! How an attempt tells something to whoever reads the turn.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;

use super::pulse::Emitting;
use super::shared::{Emitted, EmittedKind, Sink, TurnContext};
use super::{NodeIx, Pulse};
use crate::error::NodeError;
use crate::state::to_json;
use crate::task_id::TaskId;

/// What is needed to tell something, borrowed: nothing is counted or made as long as nobody reads.
#[derive(Clone, Copy)]
pub(super) struct Voice<'a> {
    pub(super) turn: &'a TurnContext,
    pub(super) task: TaskId,
    pub(super) node: NodeIx,
    pub(super) attempt: u32,
    /// Events of the attempt so far, if somebody read when it began.
    pub(super) emitted: Option<&'a AtomicU32>,
    pub(super) pulse: Option<&'a Pulse>,
}

/// A reader that must not miss what was told has no room.
pub(super) struct Waiting<'a> {
    room: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// While a slow reader is waited for, the node is not silent of its own accord.
    _emitting: Option<Emitting<'a>>,
}

impl Waiting<'_> {
    pub(super) async fn room(self) {
        self.room.await;
    }
}

// None of it is a future: what a node awaits becomes part of its own, which is allocated whether somebody reads or not.
impl<'a> Voice<'a> {
    pub(super) fn emit(self, event: impl Serialize + Send) -> Result<Option<Waiting<'a>>, NodeError> {
        // What is no JSON fails whether the reader is still there or not.
        let Some(sink) = self.sink() else { return Ok(None) };
        let value = to_json(event).map_err(|e| NodeError::fatal(format!("the event can't be written as JSON: {e}")))?;
        Ok(self.send(sink, EmittedKind::Custom(value)))
    }

    pub(super) fn token(self, text: impl Into<String> + Send) -> Option<Waiting<'a>> {
        let sink = self.sink()?;
        self.send(sink, EmittedKind::Token(text.into()))
    }

    /// Whether somebody reads or has read. Whoever asks is alive.
    #[inline]
    pub(super) fn is_heard(self) -> bool {
        if let Some(pulse) = self.pulse {
            pulse.beat();
        }
        self.turn.cancel.is_read()
    }

    /// Where events go, if they are [heard](Self::is_heard).
    fn sink(self) -> Option<Arc<dyn Sink>> {
        self.turn.sink().filter(|sink| sink.is_open())
    }

    fn send(self, sink: Arc<dyn Sink>, kind: EmittedKind) -> Option<Waiting<'a>> {
        let emitting = self.pulse.map(Pulse::emitting);
        let index = match self.emitted {
            Some(emitted) => emitted.fetch_add(1, Ordering::Relaxed),
            None => sink.late_index(self.task, self.attempt),
        };
        let event = Emitted { task: self.task, node: self.node, attempt: self.attempt, index, kind };
        sink.emit(event).map(|room| Waiting { room, _emitting: emitting })
    }
}
