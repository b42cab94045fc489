//! How a model is told of tools.

/// How a model is told of tools, and how it calls them.
///
/// ```
/// use graph_nodes_openai::ToolMode;
///
/// assert_eq!(ToolMode::default(), ToolMode::Native);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolMode {
    /// By the server's own tool calls.
    #[default]
    Native,
    /// By structured output: the model answers with one JSON object, which is a call or a text. For servers and models
    /// without tool calls, and for small models that get them wrong. A response holds one call at most.
    Schema,
}
