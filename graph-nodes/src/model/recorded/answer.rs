//! What a model answered, as a line of a cassette holds it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::assemble::AssemblyError;
use crate::model::{Chunk, ModelError, Response};

/// The version of the form of a line.
pub(super) const VERSION: u32 = 1;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) version: u32,
    /// Of the canonical text of `request`.
    pub(super) hash: String,
    /// The name of the model that answered.
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) answer: Answer,
}

/// What came back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The model failed before its stream began.
    Failed(Failure),
    /// What the stream gave.
    Stream(Vec<Item>),
}

/// One item of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Item {
    Chunk(Chunk),
    Error(Failure),
}

/// A [`ModelError`] as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failure {
    Transport { message: String, source: Option<String> },
    Authentication { message: String },
    Quota { message: String },
    Rejected { message: String },
    Provider { message: String, retry_after: Option<Duration>, received: Option<Box<Response>> },
    Truncated { message: String },
    RateLimited { message: String, retry_after: Option<Duration> },
    ContextTooLong { message: String },
    StreamBroken { message: String, received: Box<Response> },
    Assembly(AssemblyError),
}

impl Failure {
    /// The error as data; nothing for an error that is not the provider's.
    pub(super) fn of(error: &ModelError) -> Option<Self> {
        Some(match error {
            ModelError::Transport { message, source } => {
                Self::Transport { message: message.clone(), source: source.as_ref().map(ToString::to_string) }
            }
            ModelError::Authentication { message } => Self::Authentication { message: message.clone() },
            ModelError::Quota { message } => Self::Quota { message: message.clone() },
            ModelError::Rejected { message } => Self::Rejected { message: message.clone() },
            ModelError::Provider { message, retry_after, received } => {
                let (message, received) = (message.clone(), received.clone());
                Self::Provider { message, retry_after: *retry_after, received }
            }
            ModelError::Truncated { message } => Self::Truncated { message: message.clone() },
            ModelError::RateLimited { message, retry_after } => {
                Self::RateLimited { message: message.clone(), retry_after: *retry_after }
            }
            ModelError::ContextTooLong { message } => Self::ContextTooLong { message: message.clone() },
            ModelError::StreamBroken { message, received } => {
                Self::StreamBroken { message: message.clone(), received: received.clone() }
            }
            ModelError::Assembly(error) => Self::Assembly(error.clone()),
            ModelError::ScriptExhausted { .. }
            | ModelError::StrayRemoval { .. }
            | ModelError::Unsendable { .. }
            | ModelError::NotRecorded { .. }
            | ModelError::Cassette(_)
            | ModelError::Cancelled => return None,
        })
    }
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Transport { message, source } => Self::Transport { message, source: source.map(Into::into) },
            Failure::Authentication { message } => Self::Authentication { message },
            Failure::Quota { message } => Self::Quota { message },
            Failure::Rejected { message } => Self::Rejected { message },
            Failure::Provider { message, retry_after, received } => Self::Provider { message, retry_after, received },
            Failure::Truncated { message } => Self::Truncated { message },
            Failure::RateLimited { message, retry_after } => Self::RateLimited { message, retry_after },
            Failure::ContextTooLong { message } => Self::ContextTooLong { message },
            Failure::StreamBroken { message, received } => Self::StreamBroken { message, received },
            Failure::Assembly(error) => Self::Assembly(error),
        }
    }
}

impl From<Item> for Result<Chunk, ModelError> {
    fn from(item: Item) -> Self {
        match item {
            Item::Chunk(chunk) => Ok(chunk),
            Item::Error(failure) => Err(failure.into()),
        }
    }
}
