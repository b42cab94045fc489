//! What can go wrong when a model is asked.

use std::time::Duration;

use super::{CassetteError, Collector, ModelErrorKind, Response};
use crate::assemble::AssemblyError;

/// Why a model gave no response.
///
/// [`kind`](Self::kind) says what sort of failure it is, [`ModelErrorKind::advice`] what to do about it.
///
/// ```
/// use graph_nodes::model::{ModelError, ModelErrorKind};
///
/// assert!(ModelError::transport("connection reset").is_retryable());
/// assert!(!ModelError::rejected("unknown model").is_retryable());
/// assert_eq!(ModelError::rejected("unknown model").kind(), ModelErrorKind::BadRequest);
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
    /// The provider doesn't know the key, or the key may not do this.
    #[error("the model's provider did not accept the key ({message}); check the key and what it may do")]
    Authentication {
        /// The provider's message.
        message: String,
    },
    /// What was paid for is used up; waiting doesn't help.
    #[error("the account at the model's provider is used up ({message}); add credit or raise its limit")]
    Quota {
        /// The provider's message.
        message: String,
    },
    /// The provider refused the request; the same one will be refused again.
    #[error("the model's provider refused the request ({message}); correct the request")]
    Rejected {
        /// The provider's message.
        message: String,
    },
    /// The request was not sent, because no provider could answer it.
    #[error("the request was not sent ({message}); correct the request")]
    Unsendable {
        /// What is wrong with it.
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
    /// The provider failed, or said in the middle of an answer that it did. Retryable, not before `retry_after`.
    #[error("the model's provider failed ({message}); try again")]
    Provider {
        /// The provider's message.
        message: String,
        /// How long to wait, where the provider says so.
        retry_after: Option<Duration>,
        /// What had arrived, if the answer had begun; cut off, so none of its calls is executable.
        received: Option<Box<Response>>,
    },
    /// The answer ended without saying that it is whole. Retryable.
    #[error("the model's answer is not whole ({message}); try again")]
    Truncated {
        /// What was missing.
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

    /// A failure of the provider.
    pub fn provider(message: impl Into<String>) -> Self {
        Self::Provider { message: message.into(), retry_after: None, received: None }
    }

    /// A request that is not sent.
    pub fn unsendable(message: impl Into<String>) -> Self {
        Self::Unsendable { message: message.into() }
    }

    /// An answer that is not whole.
    pub fn truncated(message: impl Into<String>) -> Self {
        Self::Truncated { message: message.into() }
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Transport { .. } => ModelErrorKind::Transport,
            Self::Authentication { .. } => ModelErrorKind::Authentication,
            Self::Quota { .. } => ModelErrorKind::Quota,
            Self::Rejected { .. } | Self::Unsendable { .. } | Self::StrayRemoval { .. } => ModelErrorKind::BadRequest,
            Self::RateLimited { .. } => ModelErrorKind::Rate,
            Self::ContextTooLong { .. } => ModelErrorKind::ContextTooLong,
            Self::Provider { .. } => ModelErrorKind::Provider,
            Self::Truncated { .. } | Self::StreamBroken { .. } => ModelErrorKind::Truncated,
            Self::Assembly(_) => ModelErrorKind::Calls,
            Self::ScriptExhausted { .. } | Self::NotRecorded { .. } | Self::Cassette(_) => ModelErrorKind::Recording,
            Self::Cancelled => ModelErrorKind::Cancelled,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind().is_retryable()
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Provider { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What had arrived before the error.
    pub fn received(&self) -> Option<&Response> {
        match self {
            Self::StreamBroken { received, .. } => Some(received),
            Self::Provider { received, .. } => received.as_deref(),
            _ => None,
        }
    }

    /// The same error with what had arrived, if it is one that cuts an answer off.
    pub(crate) fn after(self, collector: Collector) -> Self {
        match self {
            Self::Transport { message, .. } | Self::Truncated { message } if collector.has_received() => {
                Self::StreamBroken { message, received: Box::new(collector.into_partial()) }
            }
            Self::Provider { message, retry_after, received: None } if collector.has_received() => {
                Self::Provider { message, retry_after, received: Some(Box::new(collector.into_partial())) }
            }
            other => other,
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
