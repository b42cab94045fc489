//! One tool call as the model asked for it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Arguments, ArgumentsError};

/// A tool call. Serialises in OpenAI's shape.
///
/// A call can be faulty (see [`ToolCall::fault`]): it stays in the response and
/// in the history, and is answered with an error instead of being executed.
///
/// ```
/// use graph_nodes::message::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("call_1", "weather", &json!({"city": "Bern"}));
/// assert_eq!(
///     serde_json::to_value(&call).unwrap(),
///     json!({
///         "id": "call_1",
///         "type": "function",
///         "function": {"name": "weather", "arguments": "{\"city\":\"Bern\"}"},
///     }),
/// );
/// assert_eq!(call.fault(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "WireCall", into = "WireCall")]
pub struct ToolCall {
    /// The id that the answer must carry.
    pub id: String,
    /// The tool's name; blank when the provider never sent one.
    pub name: String,
    /// The arguments, as text and parsed.
    pub arguments: Arguments,
}

impl ToolCall {
    /// A call with arguments given as JSON.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Arguments::from_value(arguments) }
    }

    /// A call with arguments given as a provider's text.
    pub fn from_text(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Arguments::from_text(arguments) }
    }

    /// Why this call can't be executed, whatever tool it names.
    pub fn fault(&self) -> Option<CallFault> {
        if self.name.trim().is_empty() {
            return Some(CallFault::MissingName);
        }
        self.arguments.parsed().err().map(|error| CallFault::Arguments(error.clone()))
    }
}

/// Why a tool call can't be executed.
///
/// ```
/// use graph_nodes::message::{CallFault, ToolCall};
///
/// assert_eq!(ToolCall::from_text("call_1", "", "{}").fault(), Some(CallFault::MissingName));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFault {
    /// No name arrived.
    #[error("the call names no tool; name one of the offered tools")]
    MissingName,
    /// The arguments are not one JSON object.
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
}

#[derive(Serialize, Deserialize)]
struct WireCall {
    id: String,
    #[serde(rename = "type", default)]
    kind: WireKind,
    function: WireFunction,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireKind {
    #[default]
    Function,
}

#[derive(Serialize, Deserialize)]
struct WireFunction {
    name: String,
    #[serde(default)]
    arguments: Arguments,
}

impl From<WireCall> for ToolCall {
    fn from(wire: WireCall) -> Self {
        Self { id: wire.id, name: wire.function.name, arguments: wire.function.arguments }
    }
}

impl From<ToolCall> for WireCall {
    fn from(call: ToolCall) -> Self {
        let function = WireFunction { name: call.name, arguments: call.arguments };
        Self { id: call.id, kind: WireKind::Function, function }
    }
}
