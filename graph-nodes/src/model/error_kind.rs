//! What sort of failure an error of a model is, and what to do about it.

use std::fmt;

/// What sort of failure a [`ModelError`](super::ModelError) is: for counters, alarms and decisions that need no text.
///
/// ```
/// use graph_nodes::model::{ModelError, ModelErrorKind};
///
/// let kind = ModelError::Quota { message: "no credit".into() }.kind();
/// assert_eq!((kind, kind.to_string()), (ModelErrorKind::Quota, "quota".to_owned()));
/// assert!(!kind.is_retryable());
/// assert_eq!(kind.advice(), "add credit or raise the account's limit; waiting doesn't help");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The provider doesn't accept the key.
    Authentication,
    /// The account is used up.
    Quota,
    /// Too many requests at the moment.
    Rate,
    /// The request is larger than the model's context.
    ContextTooLong,
    /// The request is wrong, whoever found it: the provider, or the adapter before anything was sent.
    BadRequest,
    /// The provider can't be reached, or the connection failed.
    Transport,
    /// The provider failed.
    Provider,
    /// The answer is not whole.
    Truncated,
    /// A strict policy refused the tool calls of the answer.
    Calls,
    /// A model for tests has no answer to this request.
    Recording,
    /// The call was cancelled.
    Cancelled,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Rate | Self::Transport | Self::Provider | Self::Truncated | Self::Calls)
    }

    /// What to do about it, for people.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Authentication => "check the key, the organisation and what the key may do",
            Self::Quota => "add credit or raise the account's limit; waiting doesn't help",
            Self::Rate => "wait as long as the provider says, and ask less often",
            Self::ContextTooLong => "send fewer or shorter messages, or choose a model with a larger context",
            Self::BadRequest => "correct the request; the same one will be refused again",
            Self::Transport => "try again; if it stays, check the address, the proxy and the timeouts",
            Self::Provider => "try again; if it stays, look at the provider's state, or at the server's log",
            Self::Truncated => "try again; if it stays, the server drops finish reasons or cuts connections",
            Self::Calls => "try again; a model can do better the next time",
            Self::Recording => "record the request, add a turn to the script, or find out who asks",
            Self::Cancelled => "ask again",
        }
    }

    /// The kind in one word, for counters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Quota => "quota",
            Self::Rate => "rate",
            Self::ContextTooLong => "context_too_long",
            Self::BadRequest => "bad_request",
            Self::Transport => "transport",
            Self::Provider => "provider",
            Self::Truncated => "truncated",
            Self::Calls => "calls",
            Self::Recording => "recording",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
