//! One handler at work: in time, and without letting a panic out.

use std::future::Future;
use std::sync::Arc;

use graph_engine::{Ctx, NodeError, State};
use tokio::time::timeout;

use super::super::StageEvent;
use super::Dispatch;
use super::answered::Failure;
use crate::message::ToolCall;
use crate::panics::guarded_async;
use crate::tool::{Call, GroupCalls, GroupHandler, GroupKey, GroupReply, Tool, ToolError, ToolReply};

impl<S: State> Dispatch<'_, S> {
    /// Runs one call; `None` if it waits for an answer. An error here is one of the events or the engine, not of the
    /// tool.
    pub(super) async fn handle(
        &self,
        call: &ToolCall,
        tool: &Arc<dyn Tool<S>>,
    ) -> Result<Option<Result<ToolReply<S>, Failure>>, NodeError> {
        self.started(call).await?;
        // The call itself is inside: it may panic before its first await.
        let work = async { tool.call(Call::new(call, self.task)).await };
        let replied = self.bounded(&format!("the tool `{}`", call.name), work).await;
        let replied = replied.and_then(|reply| Ok(self.checked(&call.name, reply)?));
        unless_waiting(&self.ctx.scope(&call.id), replied)
    }

    /// Runs all calls of a group at once; `None` if they wait for an answer.
    pub(super) async fn handle_group(
        &self,
        key: &GroupKey,
        calls: &[ToolCall],
        handler: &Arc<dyn GroupHandler<S>>,
    ) -> Result<Option<Result<GroupReply<S>, Failure>>, NodeError> {
        for call in calls {
            self.started(call).await?;
        }
        let work = async { handler.call(GroupCalls::new(calls, self.task)).await };
        let replied = self.bounded(&format!("the handler of `{key}`"), work).await;
        let replied = replied.and_then(|reply| {
            reply.check(&GroupCalls::new(calls, self.task)).map_err(ToolError::from)?;
            Ok(reply)
        });
        // What one of its calls asked is a question of the group.
        for call in calls {
            if self.ctx.scope(&call.id).is_waiting() {
                return Ok(None);
            }
        }
        unless_waiting(&self.ctx.scope(GroupCalls::new(calls, self.task).scope()), replied)
    }

    async fn started(&self, call: &ToolCall) -> Result<(), NodeError> {
        let (stage, tool, call_id) = (self.node.stage.clone(), call.name.clone(), call.id.clone());
        self.emit(|| StageEvent::ToolStarted { stage, tool, call_id }).await
    }

    async fn bounded<T>(&self, what: &str, work: impl Future<Output = Result<T, ToolError>>) -> Result<T, Failure> {
        let work = guarded_async(work);
        let ended = match self.node.call_timeout {
            None => work.await,
            Some(limit) => timeout(limit, work).await.map_err(|_| {
                let text =
                    format!("{what} gave no result within {limit:?} and was stopped; the same call may work later");
                ToolError::from(text).retryable()
            })?,
        };
        match ended {
            Ok(replied) => Ok(replied?),
            Err(panic) => {
                let error = format!("{what} failed because of a defect; don't call it again in the same way").into();
                Err(Failure { error, panic: Some(panic) })
            }
        }
    }
}

/// What a handler said, unless it waits, or the task can't go on.
fn unless_waiting<T>(ctx: &Ctx, replied: Result<T, Failure>) -> Result<Option<Result<T, Failure>>, NodeError> {
    if ctx.is_waiting() {
        return Ok(None);
    }
    match replied.as_ref().err().and_then(|failure| failure.error.halt()) {
        Some(error) => Err(error),
        None => Ok(Some(replied)),
    }
}
