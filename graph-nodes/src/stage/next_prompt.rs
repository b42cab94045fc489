//! A prompt for one round.

use serde::{Deserialize, Serialize};

use graph_engine::Name;

/// A prompt that a [tool's reply](crate::tool::ToolReply::prompt) set for one round of an agent.
///
/// ```
/// use graph_nodes::stage::GateBook;
///
/// assert!(GateBook::default().prompts.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextPrompt {
    /// The prompt.
    pub text: String,
    /// The stage whose round it counts for, once that has begun; it is dropped when the round ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<Name>,
}
