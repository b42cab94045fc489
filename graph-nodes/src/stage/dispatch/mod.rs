//! All calls of one response, each answered whatever happens.

mod answered;
mod batch;
mod group;
mod handle;
mod judge;
mod kept;
mod permit;

use graph_engine::{Ctx, Name, NodeError, State, Task};

pub(super) use answered::Answered;

use super::{ToolLedger, ToolsNode};
use crate::message::ToolCall;
use crate::model::Response;
use crate::tool::ToolBox;

/// Runs the calls of one stage.
pub(super) struct Dispatch<'a, S: State> {
    pub(super) node: &'a ToolsNode<S>,
    pub(super) tools: &'a ToolBox<S>,
    pub(super) task: &'a Task<S>,
    pub(super) ctx: &'a Ctx,
    /// The turn in which the calls were made, if they were kept waiting since.
    pub(super) since: Option<&'a Name>,
}

impl<S: State> Dispatch<'_, S> {
    /// Answers every call, in request order: a group handler all at once, or each call its own tool.
    pub(super) async fn run(
        &self,
        response: &Response,
        ledger: &mut ToolLedger,
    ) -> Result<Vec<Answered<S>>, NodeError> {
        let calls = &response.calls;
        let mut all = Vec::with_capacity(calls.len());
        if let Err(cut) = response.executable_calls() {
            for call in calls {
                all.push(self.refuse(call, cut.to_string()).await?);
            }
            return Ok(all);
        }
        let kept = self.node.several.kept(calls);
        let chosen = &calls[kept.clone()];
        for call in &calls[..kept.start] {
            all.push(self.drop_for(chosen, call).await?);
        }
        match self.tools.group(chosen.iter().map(|call| call.name.as_str())) {
            Some((key, handler)) => self.run_group(key, handler, chosen, ledger, &mut all).await?,
            None => self.run_each(chosen, ledger, &mut all).await?,
        }
        self.pause_if_waiting(chosen, &mut all[kept.start..]).await?;
        for call in &calls[kept.end..] {
            all.push(self.drop_for(chosen, call).await?);
        }
        Ok(all)
    }

    async fn drop_for(&self, chosen: &[ToolCall], call: &ToolCall) -> Result<Answered<S>, NodeError> {
        let chosen = chosen.first().map_or("another one", |call| call.name.as_str());
        let why = format!(
            "not executed: one call of a response is executed here, and this time it was `{chosen}`; call it again if it is still needed"
        );
        self.refuse(call, why).await
    }
}
