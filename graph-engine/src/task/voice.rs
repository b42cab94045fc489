//! How an attempt tells something to whoever reads the turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;

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

impl Voice<'_> {
    pub(super) async fn emit(self, event: impl Serialize + Send) -> Result<(), NodeError> {
        // What is no JSON fails whether the reader is still there or not.
        let Some(sink) = self.sink() else { return Ok(()) };
        let value = to_json(event).map_err(|e| NodeError::fatal(format!("the event can't be written as JSON: {e}")))?;
        self.send(&*sink, EmittedKind::Custom(value)).await;
        Ok(())
    }

    pub(super) async fn token(self, text: impl Into<String> + Send) {
        if let Some(sink) = self.sink() {
            self.send(&*sink, EmittedKind::Token(text.into())).await;
        }
    }

    /// Where events go, if somebody reads or has read. Whoever asks is alive.
    fn sink(self) -> Option<Arc<dyn Sink>> {
        if let Some(pulse) = self.pulse {
            pulse.beat();
        }
        if !self.turn.cancel.is_read() {
            return None;
        }
        self.turn.sink().filter(|sink| sink.is_open())
    }

    async fn send(self, sink: &dyn Sink, kind: EmittedKind) {
        // While a slow reader is waited for, the node is not silent of its own accord.
        let _emitting = self.pulse.map(Pulse::emitting);
        let index = match self.emitted {
            Some(emitted) => emitted.fetch_add(1, Ordering::Relaxed),
            None => sink.late_index(self.task, self.attempt),
        };
        let event = Emitted { task: self.task, node: self.node, attempt: self.attempt, index, kind };
        if let Some(waiting) = sink.emit(event) {
            waiting.await;
        }
    }
}
