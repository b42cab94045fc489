//! Who speaks, and how a tool call ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who a message is from.
///
/// ```
/// use graph_nodes::message::{Message, Role};
///
/// assert_eq!(Message::user("hello").role(), Role::User);
/// assert_eq!(Role::Assistant.to_string(), "assistant");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Instructions of the program; also read from the name `developer`.
    #[serde(alias = "developer")]
    System,
    /// The person the program talks to.
    User,
    /// The model.
    Assistant,
    /// The answer to one tool call.
    Tool,
    /// Nobody: an order to remove one message of a history. No provider knows it.
    Removal,
    /// Nobody: an order to empty a history. No provider knows it.
    RemovalOfAll,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Removal => "removal",
            Self::RemovalOfAll => "removal_of_all",
        })
    }
}

/// How one tool call ended, as the model is told.
///
/// ```
/// use graph_nodes::message::{CallStatus, Message};
///
/// let answer = Message::tool("call_1", "no such city").with_status(CallStatus::Error);
/// assert_eq!(answer.status(), Some(CallStatus::Error));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The call did what it was asked to do.
    #[default]
    Ok,
    /// The call failed or was not executed; the content says why.
    Error,
    /// A person was asked and said no, so the call was not executed.
    Declined,
}
