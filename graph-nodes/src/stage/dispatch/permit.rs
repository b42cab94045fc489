//! Whether a person lets calls run.

use std::sync::Arc;

use graph_engine::{Ctx, NodeError, State};
use serde_json::Value;

use super::Dispatch;
use crate::message::{Arguments, ToolCall};
use crate::panics::guarded;
use crate::tool::{AskedCall, Confirm, Confirmation, Entry, GroupCalls, GroupHandler, ToolError};

/// Whether a person lets calls run.
pub(super) enum Permit {
    /// Yes, or nobody is to be asked.
    Run {
        /// The call with other arguments.
        edited: Option<ToolCall>,
        /// What the model is told beside the result.
        note: Option<String>,
        /// Somebody was asked.
        asked: bool,
    },
    Declined(ToolError),
    /// Nobody has answered yet.
    Waits,
}

impl Permit {
    /// The call as it runs.
    pub(super) fn call<'c>(&'c self, call: &'c ToolCall) -> &'c ToolCall {
        match self {
            Self::Run { edited: Some(edited), .. } => edited,
            _ => call,
        }
    }
}

impl<S: State> Dispatch<'_, S> {
    /// Asks about one call, if its tool wants that. Must be called once for each call.
    pub(super) fn permit(&self, call: &ToolCall, entry: &Entry<S>) -> Result<Permit, NodeError> {
        let Some(confirm) = asks(call, entry) else { return Ok(UNASKED) };
        let fits = |edited: &Value| match edited.as_object() {
            Some(arguments) => entry.schema.check(&call.name, arguments),
            None => Err("`arguments` must be an object".to_owned()),
        };
        let calls = vec![AskedCall::of(call, &entry.spec.description)];
        let ctx = self.questions().scope(&call.id);
        let permit = answered(&ctx, confirm.ask(&ctx, calls, fits))?;
        Ok(match permit {
            Ok(answer) => Permit::Run {
                note: answer.note(),
                edited: answer.arguments.map(|arguments| ToolCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: Arguments::from_value(&arguments),
                }),
                asked: true,
            },
            Err(other) => other,
        })
    }

    /// Asks once about all calls of a group, if its handler or one of the tools wants that.
    pub(super) fn permit_group(
        &self,
        calls: &[ToolCall],
        handler: &Arc<dyn GroupHandler<S>>,
    ) -> Result<Permit, NodeError> {
        let group = GroupCalls::new(calls, self.task);
        let whole = guarded(|| handler.confirm(&group)).unwrap_or_else(|message| {
            tracing::error!(message, "a group handler panicked when it was asked whether to confirm");
            Some(Confirm::new())
        });
        let entries: Vec<_> = calls.iter().map(|call| (call, self.tools.find(&call.name).ok())).collect();
        let single = || entries.iter().filter_map(|(call, entry)| asks(call, (*entry)?)).reduce(Confirm::merge);
        let Some(confirm) = whole.or_else(single) else { return Ok(UNASKED) };
        let described = |(call, entry): &(&ToolCall, Option<&Entry<S>>)| {
            AskedCall::of(call, entry.map_or("", |entry| &entry.spec.description))
        };
        let asked = entries.iter().map(described).collect();
        let fixed =
            |_: &Value| Err("the arguments of calls that run together can't be changed; leave them out".to_owned());
        let ctx = self.questions().scope(group.scope());
        let permit = answered(&ctx, confirm.ask(&ctx, asked, fixed))?;
        Ok(permit.map_or_else(|other| other, |answer| Permit::Run { note: answer.note(), edited: None, asked: true }))
    }

    /// Questions of the vertex, which no handler can number otherwise.
    fn questions(&self) -> Ctx {
        self.ctx.scope("").scope("confirm")
    }
}

const UNASKED: Permit = Permit::Run { edited: None, note: None, asked: false };

fn asks<S: State>(call: &ToolCall, entry: &Entry<S>) -> Option<Confirm> {
    let arguments = call.arguments.parsed().ok()?;
    guarded(|| entry.tool.confirm(arguments)).unwrap_or_else(|message| {
        tracing::error!(tool = call.name, message, "a tool panicked when it was asked whether to confirm");
        Some(Confirm::new())
    })
}

/// A yes, or what else became of a question.
fn answered(ctx: &Ctx, said: Result<Confirmation, ToolError>) -> Result<Result<Confirmation, Permit>, NodeError> {
    match said {
        Ok(answer) => Ok(match answer.refusal() {
            None => Ok(answer),
            Some(declined) => Err(Permit::Declined(declined)),
        }),
        Err(_) if ctx.is_waiting() => Ok(Err(Permit::Waits)),
        Err(error) => Err(error.halt().unwrap_or_else(|| NodeError::fatal(error.to_string()))),
    }
}
