//! What became of one call.

use graph_engine::{NodeError, State};
use serde::{Deserialize, Serialize};

use super::super::{RouteOf, StageEvent};
use super::Dispatch;
use crate::message::{CallStatus, Content, Message, ToolCall};
use crate::tool::{Answer, Extras, ToolError, ToolReply};

/// What became of one call. Of a group the first call holds what takes effect once.
pub(in crate::stage) struct Answered<S: State> {
    pub(in crate::stage) message: Message,
    pub(in crate::stage) update: Option<S::Update>,
    pub(in crate::stage) route: Option<RouteOf>,
    pub(in crate::stage) extras: Extras,
    pub(super) counts: Counts,
    pub(super) standing: Standing,
}

/// How an answer counts in the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Counts {
    /// It doesn't.
    #[default]
    Not,
    /// The call was wrong.
    Faulty,
    /// The same call had succeeded.
    Repeated,
    /// A handler or a person answered it; a stale result may be older than a write beside it.
    Ran { stale: bool },
}

/// Whether a later run of the vertex can take the answer as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It must be kept if another call waits.
    Fresh,
    /// It is kept.
    Kept,
    /// There is none yet.
    Waits,
}

impl<S: State> Answered<S> {
    /// Stands for a call that waits. It never leaves the dispatch.
    pub(super) fn waiting(call: &ToolCall) -> Self {
        Self { standing: Standing::Waits, ..Self::text(call, "", CallStatus::Error) }
    }

    pub(super) fn waits(&self) -> bool {
        self.standing == Standing::Waits
    }

    pub(super) fn counted(self, counts: Counts) -> Self {
        Self { counts, ..self }
    }

    fn text(call: &ToolCall, text: impl Into<String>, status: CallStatus) -> Self {
        let message = Message::tool(&call.id, text).with_tool_name(&call.name).with_status(status);
        let (counts, standing) = (Counts::Not, Standing::Fresh);
        Self { message, update: None, route: None, extras: Extras::default(), counts, standing }
    }
}

/// Why a handler gave no reply.
pub(super) struct Failure {
    pub(super) error: ToolError,
    /// What a panic said, which the model is not told.
    pub(super) panic: Option<String>,
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self { error, panic: None }
    }
}

impl<S: State> Dispatch<'_, S> {
    /// Answers a call that no handler is given.
    pub(super) async fn refuse(&self, call: &ToolCall, why: String) -> Result<Answered<S>, NodeError> {
        self.told(Answered::text(call, why, CallStatus::Error), call).await
    }

    /// Answers a call whose handler failed, or that a person declined.
    pub(super) async fn fail(&self, call: &ToolCall, error: &ToolError) -> Result<Answered<S>, NodeError> {
        let status = if error.is_declined() { CallStatus::Declined } else { CallStatus::Error };
        self.told(Answered::text(call, error.to_string(), status), call).await
    }

    /// Answers a call whose result is known.
    pub(super) async fn repeat(&self, call: &ToolCall, text: String) -> Result<Answered<S>, NodeError> {
        self.told(Answered::text(call, text, CallStatus::Ok), call).await
    }

    /// Answers a call with the reply of its handler.
    pub(super) async fn reply(
        &self,
        call: &ToolCall,
        text: String,
        reply: ToolReply<S>,
        tool: &str,
    ) -> Result<Answered<S>, NodeError> {
        let mut answered = Answered::text(call, text, CallStatus::Ok);
        answered.route = reply.route.map(|route| RouteOf { call_id: call.id.clone(), tool: tool.to_owned(), route });
        (answered.update, answered.extras) = (reply.update, reply.extras);
        answered.message.content.extend(reply.artifacts.into_iter().map(|artifact| Content::Artifact { artifact }));
        self.told(answered, call).await
    }

    /// Says that a handler failed; the answers of its calls follow. That a person said no is no failure.
    pub(super) async fn failed(&self, tool: &str, call_id: &str, failure: &Failure) -> Result<(), NodeError> {
        if failure.error.is_declined() {
            return Ok(());
        }
        let (stage, tool, call_id) = (self.node.stage.clone(), tool.to_owned(), call_id.to_owned());
        if let Some(message) = &failure.panic {
            tracing::error!(%stage, tool, call_id, message, "a tool panicked");
            let message = message.clone();
            return self.emit(|| StageEvent::ToolPanicked { stage, tool, call_id, message }).await;
        }
        let retryable = failure.error.is_retryable();
        self.emit(|| StageEvent::ToolFailed { stage, tool, call_id, retryable }).await
    }

    /// Says that a call is answered.
    pub(super) async fn told(&self, answered: Answered<S>, call: &ToolCall) -> Result<Answered<S>, NodeError> {
        let status = answered.message.status().unwrap_or_default();
        let (stage, tool, call_id) = (self.node.stage.clone(), call.name.clone(), call.id.clone());
        self.emit(|| StageEvent::ToolAnswered { stage, tool, call_id, status }).await?;
        Ok(answered)
    }

    pub(super) async fn emit(&self, event: impl FnOnce() -> StageEvent + Send) -> Result<(), NodeError> {
        if self.ctx.is_observed() { self.ctx.emit(event()).await } else { Ok(()) }
    }

    /// The reply, unless it can't enter a history.
    pub(super) fn checked(&self, tool: &str, reply: ToolReply<S>) -> Answer<S> {
        if let Err(error) = &reply.text {
            return Err(no_json(tool, error));
        }
        let is_of_call = |message: &Message| message.call_id().is_some() || !message.calls().is_empty();
        let messages = || reply.extras.messages.iter();
        let refused = [
            (messages().any(is_of_call), "a message of a tool or with calls, which a history can't take"),
            (messages().any(Message::is_removal), "a removal as a message, which only an update of the history may be"),
        ];
        if let Some((_, what)) = refused.iter().find(|(is_so, _)| *is_so) {
            return Err(format!("the tool `{tool}` gave {what}; don't call it again in the same way").into());
        }
        // Where messages are found by their ids, this one would part a call from its answer.
        let history = self.node.seat.history.get(self.task.state());
        let replaced = |id: &str| history.iter().any(|old| old.id.as_deref() == Some(id) && is_of_call(old));
        match messages().filter_map(|message| message.id.as_deref()).find(|id| replaced(id)) {
            None => Ok(reply),
            Some(id) => Err(format!(
                "the tool `{tool}` gave a message with the id `{id}` of a call or its answer, which can't be replaced; don't call it again in the same way"
            )
            .into()),
        }
    }
}

pub(super) fn no_json(tool: &str, error: &serde_json::Error) -> ToolError {
    format!("the tool `{tool}` gave a result that is no JSON ({error}); don't call it again in the same way").into()
}
