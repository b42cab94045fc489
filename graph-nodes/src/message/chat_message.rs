//! One message of a conversation.

use serde::{Deserialize, Serialize};

use super::wire::WireMessage;
use super::{CallStatus, Content, Role, ToolCall, Usage};

/// One message of a conversation.
///
/// What only some roles have is in [`Message::kind`], so that a user message
/// with tool calls can't be written down. See the [module](super) for the serde
/// form.
///
/// ```
/// use graph_nodes::message::{Message, ToolCall, check_history};
/// use serde_json::json;
///
/// let history = [
///     Message::system("You book hotels."),
///     Message::user("Is it warm in Bern?"),
///     Message::assistant("").with_calls([ToolCall::new("c1", "weather", &json!({"city": "Bern"}))]),
///     Message::tool("c1", "21 degrees").with_tool_name("weather"),
///     Message::assistant("Yes."),
/// ];
/// assert_eq!(check_history(&history), Ok(()));
/// assert_eq!(history[4].text(), "Yes.");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WireMessage", into = "WireMessage")]
pub struct Message {
    /// An id of the program's own; no provider sees it. [`add_messages`](super::add_messages) finds messages by it.
    pub id: Option<String>,
    /// The content, in order.
    pub content: Vec<Content>,
    /// The role with what belongs to it alone.
    pub kind: MessageKind,
    /// The least number that an id made after this message may have, where this message's own id doesn't say so; else
    /// 0. Bookkeeping of `add_messages`, and no part of what the message says.
    pub(crate) next_id: u64,
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.content == other.content && self.kind == other.kind
    }
}

/// The role of a message with the data that only this role has.
///
/// ```
/// use graph_nodes::message::{Message, MessageKind};
///
/// assert_eq!(Message::user("hi").kind, MessageKind::User);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MessageKind {
    /// Instructions of the program.
    System,
    /// The person the program talks to.
    User,
    /// The model.
    Assistant {
        /// What the model wants to run, in its order.
        calls: Vec<ToolCall>,
        /// What the response cost, where known.
        usage: Option<Usage>,
    },
    /// The answer to one tool call.
    Tool {
        /// The id of the call that this answers.
        call_id: String,
        /// The tool's name, where known.
        name: Option<String>,
        /// How the call ended.
        status: CallStatus,
    },
    /// No message: an order to [`add_messages`](super::add_messages) to take one out of the history.
    Removal {
        /// The id of the message to remove.
        target: String,
    },
    /// No message: an order to [`add_messages`](super::add_messages) to empty the history.
    RemovalOfAll,
}

impl Message {
    fn new(content: impl Into<String>, kind: MessageKind) -> Self {
        let text = content.into();
        let content = if text.is_empty() { Vec::new() } else { vec![Content::Text { text }] };
        Self { id: None, content, kind, next_id: 0 }
    }

    /// Instructions of the program.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(text, MessageKind::System)
    }

    /// Words of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(text, MessageKind::User)
    }

    /// Words of the model; an empty text makes no content block.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(text, MessageKind::Assistant { calls: Vec::new(), usage: None })
    }

    /// The answer to the call `call_id`, with status ok.
    pub fn tool(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        let kind = MessageKind::Tool { call_id: call_id.into(), name: None, status: CallStatus::Ok };
        Self::new(text, kind)
    }

    /// Removes the message with this id from a history that is merged by [`add_messages`](super::add_messages).
    ///
    /// Any other history keeps it as it is, and can't be sent any more.
    pub fn removal(target: impl Into<String>) -> Self {
        Self::new("", MessageKind::Removal { target: target.into() })
    }

    /// Empties a history that is merged by [`add_messages`](super::add_messages); what comes later in the same write
    /// is kept.
    pub fn removal_of_all() -> Self {
        Self::new("", MessageKind::RemovalOfAll)
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds a content block.
    #[must_use]
    pub fn with_content(mut self, block: Content) -> Self {
        self.content.push(block);
        self
    }

    /// Adds tool calls. Without effect on a message that isn't the assistant's.
    #[must_use]
    pub fn with_calls(mut self, more: impl IntoIterator<Item = ToolCall>) -> Self {
        if let MessageKind::Assistant { calls, .. } = &mut self.kind {
            calls.extend(more);
        }
        self
    }

    /// Sets the usage. Without effect on a message that isn't the assistant's.
    #[must_use]
    pub fn with_usage(mut self, reported: Usage) -> Self {
        if let MessageKind::Assistant { usage, .. } = &mut self.kind {
            *usage = Some(reported);
        }
        self
    }

    /// Sets the tool's name. Without effect on a message that isn't a tool's.
    #[must_use]
    pub fn with_tool_name(mut self, tool: impl Into<String>) -> Self {
        if let MessageKind::Tool { name, .. } = &mut self.kind {
            *name = Some(tool.into());
        }
        self
    }

    /// Sets the status. Without effect on a message that isn't a tool's.
    #[must_use]
    pub fn with_status(mut self, ended: CallStatus) -> Self {
        if let MessageKind::Tool { status, .. } = &mut self.kind {
            *status = ended;
        }
        self
    }

    /// Who the message is from.
    pub fn role(&self) -> Role {
        match self.kind {
            MessageKind::System => Role::System,
            MessageKind::User => Role::User,
            MessageKind::Assistant { .. } => Role::Assistant,
            MessageKind::Tool { .. } => Role::Tool,
            MessageKind::Removal { .. } => Role::Removal,
            MessageKind::RemovalOfAll => Role::RemovalOfAll,
        }
    }

    /// Whether this is no message but an order to remove one or all.
    pub fn is_removal(&self) -> bool {
        matches!(self.kind, MessageKind::Removal { .. } | MessageKind::RemovalOfAll)
    }

    /// All text blocks, joined without a separator.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The tool calls; empty for other roles than the assistant's.
    pub fn calls(&self) -> &[ToolCall] {
        match &self.kind {
            MessageKind::Assistant { calls, .. } => calls,
            _ => &[],
        }
    }

    /// The usage of an assistant message, where known.
    pub fn usage(&self) -> Option<Usage> {
        match self.kind {
            MessageKind::Assistant { usage, .. } => usage,
            _ => None,
        }
    }

    /// The id of the call that a tool message answers.
    pub fn call_id(&self) -> Option<&str> {
        match &self.kind {
            MessageKind::Tool { call_id, .. } => Some(call_id),
            _ => None,
        }
    }

    /// The name of the tool that answers, where known.
    pub fn tool_name(&self) -> Option<&str> {
        match &self.kind {
            MessageKind::Tool { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// How the call of a tool message ended.
    pub fn status(&self) -> Option<CallStatus> {
        match self.kind {
            MessageKind::Tool { status, .. } => Some(status),
            _ => None,
        }
    }
}
