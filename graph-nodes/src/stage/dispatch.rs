//! One call after another, each answered whatever happens.

use graph_engine::{Ctx, Name, NodeError, State, Task};

use super::StageEvent;
use crate::message::{CallStatus, Content, Message, ToolCall};
use crate::panics::guarded_async;
use crate::tool::{Answer, Call, ToolBox, ToolRoute};

/// What became of one call.
pub(super) struct Answered<S: State> {
    pub(super) message: Message,
    pub(super) update: Option<S::Update>,
    pub(super) route: Option<ToolRoute>,
}

/// Runs the calls of one stage.
pub(super) struct Dispatch<'a, S: State> {
    pub(super) stage: &'a Name,
    pub(super) tools: &'a ToolBox<S>,
    pub(super) task: &'a Task<S>,
    pub(super) ctx: &'a Ctx,
}

impl<S: State> Dispatch<'_, S> {
    /// Runs one call, unless its name or arguments forbid it.
    pub(super) async fn run(&self, call: &ToolCall) -> Result<Answered<S>, NodeError> {
        let answer = match self.check(call) {
            Err(message) => Err(message.into()),
            Ok(entry) => {
                let (stage, tool, call_id) = (self.stage.clone(), call.name.clone(), call.id.clone());
                self.emit(|| StageEvent::ToolStarted { stage, tool, call_id }).await?;
                // The call itself is inside: it may panic before its first await.
                let handled = guarded_async(async { entry.tool.call(Call::new(call, self.task)).await }).await;
                match handled {
                    Ok(answer) => answer,
                    Err(panic) => self.panicked(call, panic).await?,
                }
            }
        };
        self.answer(call, answer).await
    }

    /// Answers a call that is not executed.
    pub(super) async fn refuse(&self, call: &ToolCall, why: String) -> Result<Answered<S>, NodeError> {
        self.answer(call, Err(why.into())).await
    }

    fn check(&self, call: &ToolCall) -> Result<&crate::tool::Entry<S>, String> {
        if call.name.trim().is_empty() {
            return Err(format!("the call names no tool; {}", crate::tool::offered(self.tools.names())));
        }
        let entry = self.tools.find(&call.name)?;
        let arguments = call.arguments.parsed().map_err(ToString::to_string)?;
        entry.schema.check(&call.name, arguments)?;
        Ok(entry)
    }

    async fn panicked(&self, call: &ToolCall, message: String) -> Result<Answer<S>, NodeError> {
        tracing::error!(stage = %self.stage, tool = call.name, call_id = call.id, message, "a tool panicked");
        let (stage, tool, call_id) = (self.stage.clone(), call.name.clone(), call.id.clone());
        self.emit(|| StageEvent::ToolPanicked { stage, tool, call_id, message }).await?;
        Ok(Err(
            format!("the tool `{}` failed because of a defect; don't call it again in the same way", call.name).into()
        ))
    }

    async fn answer(&self, call: &ToolCall, answer: Answer<S>) -> Result<Answered<S>, NodeError> {
        let (text, artifacts, status, update, route) = match answer {
            Ok(reply) => match reply.model_text() {
                Ok(text) => (text, reply.artifacts, CallStatus::Ok, reply.update, reply.route),
                Err(error) => {
                    let text = format!(
                        "the tool `{}` gave a result that is no JSON ({error}); don't call it again in the same way",
                        call.name
                    );
                    (text, Vec::new(), CallStatus::Error, None, None)
                }
            },
            Err(error) => (error.to_string(), Vec::new(), CallStatus::Error, None, None),
        };
        let (stage, tool, call_id) = (self.stage.clone(), call.name.clone(), call.id.clone());
        self.emit(|| StageEvent::ToolAnswered { stage, tool, call_id, status }).await?;
        let mut message = Message::tool(&call.id, text).with_tool_name(&call.name).with_status(status);
        message.content.extend(artifacts.into_iter().map(|artifact| Content::Artifact { artifact }));
        Ok(Answered { message, update, route })
    }

    async fn emit(&self, event: impl FnOnce() -> StageEvent + Send) -> Result<(), NodeError> {
        if self.ctx.is_observed() { self.ctx.emit(event()).await } else { Ok(()) }
    }
}
