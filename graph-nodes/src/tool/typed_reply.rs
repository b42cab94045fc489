//! A reply that says what it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the caller gets as the reply of a direct or finish that has a [content type](super::ToolReply::content_type);
/// without one it gets the content alone.
///
/// ```
/// use graph_nodes::tool::TypedReply;
///
/// let reply = TypedReply { content_type: "text/markdown".into(), content: "# Inn".into() };
/// let json = r##"{"content_type":"text/markdown","content":"# Inn"}"##;
/// assert_eq!(serde_json::to_string(&reply).unwrap(), json);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypedReply {
    /// The content type, as the handler wrote it.
    pub content_type: String,
    /// The reply itself.
    pub content: Value,
}
