//! Why a call failed, as the model is told.

use std::fmt;

use graph_engine::{BoxError, NodeError};

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
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Final,
    Retryable,
    /// A person said no.
    Declined,
    /// It is not for the model: the task can't go on.
    Halts {
        retryable: bool,
    },
}

impl ToolError {
    /// A failure with this message for the model; calling again with the same arguments won't help.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self { source: source.into(), kind: Kind::Final }
    }

    /// A person was asked and said no; the model reads the message with status
    /// [declined](crate::message::CallStatus::Declined). Such a call is no failure: it doesn't count against the tool.
    ///
    /// ```
    /// use graph_nodes::tool::ToolError;
    ///
    /// assert!(ToolError::declined("not at this price").is_declined());
    /// ```
    pub fn declined(reason: impl Into<BoxError>) -> Self {
        Self { source: reason.into(), kind: Kind::Declined }
    }

    /// What the engine said to a question or a memo: the task waits, or fails.
    pub(crate) fn halts(error: &NodeError) -> Self {
        Self { source: error.to_string().into(), kind: Kind::Halts { retryable: error.is_retryable() } }
    }

    /// The same, and something more for the model.
    pub(crate) fn noted(&self, note: &str) -> Self {
        Self { source: format!("{self}\n{note}").into(), kind: self.kind }
    }

    /// What the task fails with, if this is not for the model.
    pub(crate) fn halt(&self) -> Option<NodeError> {
        match self.kind {
            Kind::Halts { retryable: true } => Some(NodeError::retryable(self.to_string())),
            Kind::Halts { retryable: false } => Some(NodeError::fatal(self.to_string())),
            _ => None,
        }
    }

    /// Marks that the same call may succeed later. For whoever wraps tools; the model reads only the message.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.kind = Kind::Retryable;
        self
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind == Kind::Retryable
    }

    /// Whether a person said no.
    #[must_use]
    pub fn is_declined(&self) -> bool {
        self.kind == Kind::Declined
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
        f.debug_struct("ToolError").field("source", &self.source).field("kind", &self.kind).finish()
    }
}
