//! What a model is shown before the conversation.

use serde_json::Value;

use crate::message::{Message, ToolCall};

/// One exchange that an [agent](super::AgentNode::examples) shows its model before the history: what somebody says, and
/// what the model should make of it. Small models call the right tool far more often when they have seen a call or two.
///
/// ```
/// use graph_nodes::message::{Message, ToolCall};
/// use graph_nodes::stage::Example;
/// use serde_json::json;
///
/// let call = Example::new("Something in Oslo.").call("search", json!({"city": "Oslo"}), "12 hotels");
/// let text = Example::new("Hello!").text("Hello! Where to?");
/// assert_eq!(
///     Example::messages([call, text]),
///     [
///         Message::user("Something in Oslo."),
///         Message::assistant("").with_calls([ToolCall::new("example_1", "search", &json!({"city": "Oslo"}))]),
///         Message::tool("example_1", "12 hotels").with_tool_name("search"),
///         Message::user("Hello!"),
///         Message::assistant("Hello! Where to?"),
///     ],
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    said: String,
    calls: Vec<Shown>,
    text: Option<String>,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    tool: String,
    arguments: Value,
    answer: String,
}

impl Example {
    /// Somebody says this, and nothing follows yet.
    #[must_use]
    pub fn new(said: impl Into<String>) -> Self {
        Self { said: said.into(), calls: Vec::new(), text: None }
    }

    /// The model calls this tool and gets this answer. Further calls are of the same response.
    #[must_use]
    pub fn call(mut self, tool: impl Into<String>, arguments: Value, answer: impl Into<String>) -> Self {
        self.calls.push(Shown { tool: tool.into(), arguments, answer: answer.into() });
        self
    }

    /// The model says this, after its calls if there are any.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The messages of several examples. The ids of their calls are `example_1`, `example_2` and so on.
    #[must_use]
    pub fn messages(examples: impl IntoIterator<Item = Self>) -> Vec<Message> {
        let (mut messages, mut number) = (Vec::new(), 0);
        for Self { said, calls, text } in examples {
            messages.push(Message::user(said));
            let calls: Vec<(ToolCall, Message)> = calls
                .into_iter()
                .map(|Shown { tool, arguments, answer }| {
                    number += 1;
                    let id = format!("example_{number}");
                    (ToolCall::new(&id, &tool, &arguments), Message::tool(id, answer).with_tool_name(tool))
                })
                .collect();
            if !calls.is_empty() {
                messages.push(Message::assistant("").with_calls(calls.iter().map(|(call, _)| call.clone())));
                messages.extend(calls.into_iter().map(|(_, answer)| answer));
            }
            messages.extend(text.map(Message::assistant));
        }
        messages
    }
}
