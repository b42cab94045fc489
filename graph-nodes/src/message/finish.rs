//! Why a provider stopped writing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a response ended, in the provider's words.
///
/// ```
/// use graph_nodes::message::FinishReason;
///
/// assert_eq!(FinishReason::from("tool_calls"), FinishReason::ToolCalls);
/// assert_eq!(FinishReason::from("eos").to_string(), "eos");
/// assert!(FinishReason::Length.is_cut());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The model wants tools to run.
    ToolCalls,
    /// The token limit was reached: the answer is cut off.
    Length,
    /// A content filter of the provider stopped the answer.
    ContentFilter,
    /// A reason this crate has no name for.
    Other(String),
}

impl FinishReason {
    /// Whether the provider stopped before the model was done.
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Length | Self::ContentFilter)
    }

    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for FinishReason {
    fn from(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            // The older name of the same thing.
            "tool_calls" | "function_call" => Self::ToolCalls,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for FinishReason {
    fn from(word: String) -> Self {
        Self::from(word.as_str())
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        reason.as_str().to_owned()
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
