//! Why a list as a whole is refused.

/// Why a list as a whole is refused, before any request is made. What is wrong with single ids is in the report.
///
/// ```
/// use graph_nodes::batch::BatchError;
///
/// assert_eq!(BatchError::Empty.to_string(), "no id is left once blank ones are dropped; name at least one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There are no ids, or only blank ones.
    #[error("no id is left once blank ones are dropped; name at least one")]
    Empty,
    /// Two writes to one id differ.
    #[error("`{id}` is to be written twice with different content; write it once")]
    Conflicting {
        /// The id, normalised.
        id: String,
    },
    /// What was confirmed is another operation's.
    #[error("this confirms `{confirmed}`, not `{operation}`; give it to the batch that asked")]
    OtherOperation {
        /// The operation that was asked to write.
        operation: String,
        /// The operation that the confirmation is for.
        confirmed: String,
    },
}
