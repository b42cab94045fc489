//! A group's reply as a JSON value, for handlers that are only known at run time.

use graph_engine::State;
use serde_json::{Map, Value};

use super::{GroupReply, ToolReply};
use crate::message::Message;

/// Why a handler's return is no reply of a group.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{GroupReply, GroupReplyError};
/// use serde_json::json;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let error = GroupReply::<Trip>::from_value(json!(3)).unwrap_err();
/// assert_eq!(error, GroupReplyError::Unsupported { found: "a number" });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupReplyError {
    /// `null`.
    #[error("the group returned nothing; return the name of a node, or an object with a `step`")]
    Nothing,
    /// A blank text.
    #[error("the group returned a blank name of a node; name one")]
    BlankName,
    /// Neither a text nor an object.
    #[error("the group returned {found}; return the name of a node, or an object with a `step`")]
    Unsupported {
        /// What it returned, with its article.
        found: &'static str,
    },
    /// An object that doesn't say where to go.
    #[error("the group returned an object without a `step`; add it with the name of a node")]
    NoStep,
    /// An object that doesn't name a node.
    #[error("the group returned an object whose `step` is blank or no text; name a node")]
    BadStep,
    /// An object with a part of the wrong type.
    #[error("the group returned an object whose `{part}` is not {expected}; correct it")]
    BadPart {
        /// The part.
        part: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// An object with a part that means nothing.
    #[error(
        "the group returned an object with an unknown part `{part}`; the parts are `step`, `feedback`, `answers`, `prompt`, `message`, `content_type`"
    )]
    UnknownPart {
        /// The part.
        part: String,
    },
    /// A text for a call that isn't of the group.
    #[error("the group answered the call `{call_id}`, which it was not given; its calls are {}", listed(known))]
    UnknownCall {
        /// The call.
        call_id: String,
        /// The calls of the group.
        known: Vec<String>,
    },
}

fn listed(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

impl<S: State> GroupReply<S> {
    /// A reply from a JSON value: the name of a node to go to, or an object.
    ///
    /// | part | meaning |
    /// | --- | --- |
    /// | `step` | the node to go to; required |
    /// | `feedback` | the shared text (default: [`ToolReply::VALIDATED`]) |
    /// | `answers` | an object of texts by call id |
    /// | `prompt`, `message`, `content_type` | as [`ToolReply::prompt`], a user message as [`ToolReply::message`], [`ToolReply::content_type`] |
    ///
    /// ```
    /// # use graph_engine::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String }
    /// use graph_nodes::tool::GroupReply;
    /// use serde_json::json;
    ///
    /// let reply = GroupReply::<Trip>::from_value(json!({"step": "present", "answers": {"c1": "120"}})).unwrap();
    /// assert_eq!(reply.text_of("c1").unwrap(), "120");
    /// assert_eq!(reply.text_of("c2").unwrap(), "input validated");
    /// ```
    ///
    /// # Errors
    /// Says what is wrong with the value.
    pub fn from_value(value: Value) -> Result<Self, GroupReplyError> {
        let found = match value {
            Value::Null => return Err(GroupReplyError::Nothing),
            Value::String(name) if name.trim().is_empty() => return Err(GroupReplyError::BlankName),
            Value::String(name) => return Ok(ToolReply::text(ToolReply::<S>::VALIDATED).go(name.trim()).into()),
            Value::Object(parts) => return from_parts(parts),
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Array(_) => "an array",
        };
        Err(GroupReplyError::Unsupported { found })
    }
}

fn from_parts<S: State>(mut parts: Map<String, Value>) -> Result<GroupReply<S>, GroupReplyError> {
    let step = match parts.remove("step") {
        None => return Err(GroupReplyError::NoStep),
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(_) => return Err(GroupReplyError::BadStep),
    };
    let mut reply = GroupReply::text(ToolReply::<S>::VALIDATED);
    for (part, value) in parts {
        let text = || value.as_str().ok_or(GroupReplyError::BadPart { part: part.clone(), expected: "a text" });
        reply = match part.as_str() {
            "feedback" => {
                reply.shared.text = Ok(text()?.to_owned());
                reply
            }
            "prompt" => reply.prompt(text()?),
            "message" => reply.message(Message::user(text()?)),
            "content_type" => reply.content_type(text()?),
            "answers" => {
                let wrong = || GroupReplyError::BadPart { part: part.clone(), expected: "an object of texts" };
                let answers = value.as_object().ok_or_else(wrong)?;
                let answer = |reply: GroupReply<S>, (id, text): (&String, &Value)| {
                    text.as_str().map(|text| reply.answer(id, text)).ok_or_else(wrong)
                };
                answers.iter().try_fold(reply, answer)?
            }
            _ => return Err(GroupReplyError::UnknownPart { part }),
        };
    }
    Ok(reply.go(step.trim()))
}
