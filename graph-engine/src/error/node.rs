//! What a node's failure is: a value that says whether trying again can help.

use std::error::Error;
use std::fmt;

/// A boxed error of any kind.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a node failed. It is not a `std::error::Error` itself, so that `?` turns every error (and `&str`, and
/// `String`) into one: retryable by default, [`fatal`](Self::fatal) when trying again can't help.
///
/// ```
/// use graph_engine::NodeError;
///
/// fn parse(text: &str) -> Result<u32, NodeError> {
///     if text.is_empty() {
///         return Err(NodeError::fatal("nothing to parse"));
///     }
///     Ok(text.parse()?)
/// }
///
/// assert!(!parse("").unwrap_err().is_retryable());
/// assert!(parse("x").unwrap_err().is_retryable());
/// ```
pub struct NodeError(Box<Fault>);

struct Fault {
    kind: FaultKind,
    source: BoxError,
}

/// What kind of failure a [`NodeError`] is.
///
/// ```
/// use graph_engine::{FaultKind, NodeError};
///
/// assert_eq!(NodeError::fatal("no").kind(), FaultKind::Fatal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The node failed and may be tried again.
    Retryable,
    /// The node failed and trying again can't help.
    Fatal,
    /// The node ran longer than its timeout. Retryable.
    TimedOut,
    /// The node was silent for longer than its idle timeout. Retryable.
    Idle,
    /// The node panicked. Fatal.
    Panicked,
    /// The node waits for an answer. Only the engine makes one, and the turn pauses whatever the node does with it.
    Interrupted,
}

impl FaultKind {
    /// The word for labels and spans.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retryable => "retryable",
            Self::Fatal => "fatal",
            Self::TimedOut => "timed_out",
            Self::Idle => "idle",
            Self::Panicked => "panicked",
            Self::Interrupted => "interrupted",
        }
    }
}

impl NodeError {
    /// A failure that a retry policy may try again.
    pub fn retryable(source: impl Into<BoxError>) -> Self {
        Self::new(FaultKind::Retryable, source.into())
    }

    /// A failure that no retry can mend.
    pub fn fatal(source: impl Into<BoxError>) -> Self {
        Self::new(FaultKind::Fatal, source.into())
    }

    pub(crate) fn new(kind: FaultKind, source: BoxError) -> Self {
        Self(Box::new(Fault { kind, source }))
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// Whether a retry policy may try the node again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, FaultKind::Retryable | FaultKind::TimedOut | FaultKind::Idle)
    }

    /// The error that the node returned.
    #[must_use]
    pub fn source(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0.source
    }

    pub(crate) fn into_parts(self) -> (FaultKind, BoxError) {
        (self.0.kind, self.0.source)
    }
}

impl<E: Into<BoxError>> From<E> for NodeError {
    fn from(source: E) -> Self {
        Self::retryable(source)
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeError").field("kind", &self.0.kind).field("source", &self.0.source).finish()
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.source.fmt(f)
    }
}
