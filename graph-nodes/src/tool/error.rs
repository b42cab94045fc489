//! Why a call failed, as the model is told.

use std::fmt;

use graph_engine::BoxError;

/// Why a call failed. The model reads the message as the answer of the call, with status error; the turn goes on.
///
/// It is not a `std::error::Error` itself, so that `?` turns every error (and `&str`, and `String`) into one.
///
/// ```
/// use graph_nodes::tool::ToolError;
///
/// fn nights(text: &str) -> Result<u32, ToolError> {
///     if text.is_empty() {
///         return Err("say how many nights".into());
///     }
///     Ok(text.parse()?)
/// }
///
/// assert_eq!(nights("").unwrap_err().to_string(), "say how many nights");
/// assert_eq!(nights("x").unwrap_err().to_string(), "invalid digit found in string");
/// assert!(ToolError::from("busy").retryable().is_retryable());
/// ```
pub struct ToolError {
    source: BoxError,
    retryable: bool,
}

impl ToolError {
    /// A failure with this message for the model; calling again with the same arguments won't help.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self { source: source.into(), retryable: false }
    }

    /// Marks that the same call may succeed later. For whoever wraps tools; the model reads only the message.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The error that the handler returned.
    #[must_use]
    pub fn source(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }
}

impl<E: Into<BoxError>> From<E> for ToolError {
    fn from(source: E) -> Self {
        Self::new(source)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError").field("source", &self.source).field("retryable", &self.retryable).finish()
    }
}
