//! What can go wrong when graphs are offered.

/// Why graphs can't be offered as tools.
///
/// ```
/// use graph_nodes_mcp::OfferError;
///
/// let error = OfferError::Twice { tool: "concierge".into() };
/// assert_eq!(error.to_string(), "two tools would be called `concierge`; rename one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// A tool can't have this name.
    #[error("a tool can't be called `{tool}`; take at most 57 of the letters a-z and A-Z, digits, `_` and `-`")]
    BadName {
        /// The name.
        tool: String,
    },
    /// Two tools have one name.
    #[error("two tools would be called `{tool}`; rename one")]
    Twice {
        /// The name.
        tool: String,
    },
    /// The schema of an input describes no object.
    #[error("the input of `{tool}` is no JSON object; make its type a struct, or its schema `\"type\": \"object\"`")]
    NoObject {
        /// The tool.
        tool: String,
    },
    /// The input has a property that is added to every input.
    #[error("the input of `{tool}` has a property `thread`, which names the conversation; rename it")]
    ThreadTaken {
        /// The tool.
        tool: String,
    },
    /// Nothing is offered.
    #[error("the server `{server}` offers no tool; add one with `offer`")]
    Nothing {
        /// The server.
        server: String,
    },
    /// The other side didn't greet as the protocol asks for.
    #[error("nobody spoke the protocol with the server `{server}` ({reason}); it is started by an MCP client")]
    Handshake {
        /// The server.
        server: String,
        /// What happened.
        reason: String,
    },
}
