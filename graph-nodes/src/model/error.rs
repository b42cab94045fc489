//! What can go wrong when a model is asked.

use std::time::Duration;

use super::{CassetteError, Response};
use crate::assemble::AssemblyError;

/// Why a model gave no response.
///
/// ```
/// use graph_nodes::model::ModelError;
///
/// assert!(ModelError::transport("connection reset").is_retryable());
/// assert!(!ModelError::rejected("unknown model").is_retryable());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider could not be reached or did not answer properly. Retryable.
    #[error("the model could not be reached ({message}); try again")]
    Transport {
        /// What happened.
        message: String,
        /// The client's error.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The provider refused the request; the same one will be refused again.
    #[error("the model's provider refused the request ({message}); correct the request")]
    Rejected {
        /// The provider's message.
        message: String,
    },
    /// Too many requests. Retryable, not before `retry_after`.
    #[error("the model's provider limits the rate ({message}); wait and try again")]
    RateLimited {
        /// The provider's message.
        message: String,
        /// How long to wait, where the provider says so.
        retry_after: Option<Duration>,
    },
    /// The request is larger than the model's context.
    #[error("the request is too long for the model ({message}); send fewer or shorter messages")]
    ContextTooLong {
        /// The provider's message.
        message: String,
    },
    /// The stream ended with an error after it had begun. Retryable.
    #[error("the model's stream broke off ({message}); try again")]
    StreamBroken {
        /// What happened.
        message: String,
        /// What had arrived; cut off, so none of its calls is executable.
        received: Box<Response>,
    },
    /// The strict policy refused the tool calls of the response. Retryable: a
    /// model can do better the next time.
    #[error("the model's tool calls can't be used: {0}")]
    Assembly(AssemblyError),
    /// A scripted model was asked more often than its script has turns.
    #[error("the script has no turn for request {request}; add one, or find out who asks")]
    ScriptExhausted {
        /// The number of the request, from 1.
        request: usize,
    },
    /// The request holds an order to remove a message instead of a message.
    #[error(
        "message {message} of the request is a removal that nobody carried out; declare the history with \
         `#[state(with = graph_nodes::message::add_messages)]`"
    )]
    StrayRemoval {
        /// The number of the message, from 0.
        message: usize,
    },
    /// A recorded model was asked what it has no answer to, or none any more.
    #[error("no answer is recorded for request {request} ({nearest}); record it, or correct the request")]
    NotRecorded {
        /// The hash of the request.
        request: String,
        /// How the nearest recorded request differs, in one line.
        nearest: String,
    },
    /// An answer could not be recorded.
    #[error(transparent)]
    Cassette(CassetteError),
    /// The call was cancelled.
    #[error("the model call was cancelled; ask again")]
    Cancelled,
}

impl ModelError {
    /// A failure of the connection without an error of a client.
    pub fn transport(message: impl Into<String>) -> Self {
        Self::Transport { message: message.into(), source: None }
    }

    /// A refused request.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::Rejected { message: message.into() }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Transport { .. } | Self::RateLimited { .. } | Self::StreamBroken { .. } | Self::Assembly(_)
        )
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What had arrived before the error.
    pub fn received(&self) -> Option<&Response> {
        match self {
            Self::StreamBroken { received, .. } => Some(received),
            _ => None,
        }
    }
}

/// The text tells the reason, so it is no source of its own.
impl From<AssemblyError> for ModelError {
    fn from(reason: AssemblyError) -> Self {
        Self::Assembly(reason)
    }
}

impl From<CassetteError> for ModelError {
    fn from(error: CassetteError) -> Self {
        Self::Cassette(error)
    }
}
