//! Which tools are offered, and what is asked of the model.

use graph_nodes::model::{ModelError, Request, ToolChoice, ToolSpec};
use serde_json::Value;

use crate::schema::Reply;

/// The tools that are sent, and what the model is to do with them.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) tools: Vec<&'a ToolSpec>,
    pub(crate) calls: Calls,
}

/// Whether the model may, must or must not call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    May,
    Must,
    MustNot,
}

impl<'a> Offer<'a> {
    /// A named tool is sent alone, as one that has to be called: several servers take a named choice for none at all.
    pub(crate) fn of(request: &'a Request) -> Result<Self, ModelError> {
        let tools: Vec<&ToolSpec> = request.tools.iter().collect();
        match &request.tool_choice {
            ToolChoice::Auto => Ok(Self { tools, calls: Calls::May }),
            ToolChoice::None => Ok(Self { tools, calls: Calls::MustNot }),
            ToolChoice::Required if tools.is_empty() => {
                Err(ModelError::unsendable("a call is required, but no tool is offered"))
            }
            ToolChoice::Required => Ok(Self { tools, calls: Calls::Must }),
            ToolChoice::Named(name) => match tools.iter().find(|tool| tool.name == *name) {
                Some(tool) => Ok(Self { tools: vec![tool], calls: Calls::Must }),
                None => Err(ModelError::unsendable(unknown(name, &tools))),
            },
            other => Err(ModelError::unsendable(format!("the tool choice {other:?} is not known to this adapter"))),
        }
    }

    /// What an answer in JSON may be besides a call. Nothing where the model isn't to call: it answers as without tools.
    pub(super) fn json_reply<'s>(&self, schema: Option<&'s Value>) -> Option<Reply<'s>> {
        match self.calls {
            _ if self.tools.is_empty() => None,
            Calls::MustNot => None,
            Calls::Must => Some(Reply::None),
            Calls::May => Some(schema.map_or(Reply::Text, Reply::Value)),
        }
    }

    /// The word for it; nothing where the server's default is the same.
    pub(super) fn choice_word(&self) -> Option<&'static str> {
        match self.calls {
            Calls::Must => Some("required"),
            Calls::MustNot if !self.tools.is_empty() => Some("none"),
            Calls::May | Calls::MustNot => None,
        }
    }
}

fn unknown(name: &str, tools: &[&ToolSpec]) -> String {
    let offered: Vec<String> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    match offered.as_slice() {
        [] => format!("a call of `{name}` is required, but no tool is offered"),
        offered => format!("a call of `{name}` is required, but only {} are offered", offered.join(", ")),
    }
}
