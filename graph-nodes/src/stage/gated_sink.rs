//! The stream of a turn as the sink of a gated call.

use async_trait::async_trait;
use graph_engine::{Ctx, Name, NodeError};

use super::StageEvent;
use crate::gate::{GateSink, GatedEvent};

/// Hands pieces of text on as tokens, and what doesn't count as an event.
pub(super) struct NodeSink<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) stage: &'a Name,
    /// The first event that couldn't be told.
    pub(super) failed: Option<NodeError>,
}

#[async_trait]
impl GateSink for NodeSink<'_> {
    fn is_read(&self) -> bool {
        self.ctx.is_observed()
    }

    async fn event(&mut self, event: GatedEvent) {
        match event {
            GatedEvent::Text(text) => self.ctx.token(text).await,
            GatedEvent::Retract(retracted) => {
                let event = StageEvent::Retracted { stage: self.stage.clone(), retracted };
                if let Err(error) = self.ctx.emit(event).await {
                    self.failed.get_or_insert(error);
                }
            }
            // Everything else is told when the verdict is followed.
            _ => {}
        }
    }
}
