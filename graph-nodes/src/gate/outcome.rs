//! What a model call gave, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Code;
use crate::message::Usage;
use crate::model::{ModelError, ModelErrorKind, Response};

/// What a model call gave, as data: what the agent hands to the gate.
///
/// An error of the model is in here and not an error of the vertex, so that the
/// gate alone counts, waits and retries.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::gate::{ModelOutcome, ModelResult};
/// use graph_nodes::model::ModelError;
///
/// let outcome = ModelOutcome::new("gpt", Duration::from_millis(80), Err(ModelError::transport("reset")));
/// assert!(matches!(outcome.result, ModelResult::Error { retryable: true, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelOutcome {
    /// What came back.
    pub result: ModelResult,
    /// How long the call took.
    pub latency: Duration,
    /// The model's name.
    pub model: String,
    /// The tokens, where reported.
    pub usage: Option<Usage>,
}

/// What came back from a model.
///
/// ```
/// use graph_nodes::gate::ModelResult;
///
/// assert_eq!(serde_json::to_string(&ModelResult::Cancelled).unwrap(), r#""cancelled""#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelResult {
    /// A response.
    Response(Box<Response>),
    /// An error.
    Error {
        /// The counter it goes to.
        code: Code,
        /// What happened.
        message: String,
        /// Whether the same request may succeed later.
        retryable: bool,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The call was cancelled.
    Cancelled,
    /// The gate's deadline cut the call.
    Deadline,
}

impl ModelOutcome {
    /// The outcome of a call that ended by itself.
    pub fn new(model: impl Into<String>, latency: Duration, result: Result<Response, ModelError>) -> Self {
        let (result, usage) = match result {
            Ok(response) => {
                let usage = response.usage;
                (ModelResult::Response(Box::new(response)), usage)
            }
            Err(ModelError::Cancelled) => (ModelResult::Cancelled, None),
            Err(error) => {
                let code = match error.kind() {
                    ModelErrorKind::ContextTooLong => Code::CONTEXT_TOO_LONG,
                    ModelErrorKind::Authentication => Code::AUTHENTICATION,
                    ModelErrorKind::Quota => Code::QUOTA,
                    ModelErrorKind::Rate => Code::RATE,
                    _ => Code::INVOCATION,
                };
                let result = ModelResult::Error {
                    code,
                    message: error.to_string(),
                    retryable: error.is_retryable(),
                    retry_after: error.retry_after(),
                };
                (result, error.received().and_then(|received| received.usage))
            }
        };
        Self { result, latency, model: model.into(), usage }
    }

    /// The outcome of a call that was cut when [`GatePolicy::remaining`] was over.
    ///
    /// [`GatePolicy::remaining`]: super::GatePolicy::remaining
    pub fn deadline(model: impl Into<String>, latency: Duration) -> Self {
        Self { result: ModelResult::Deadline, latency, model: model.into(), usage: None }
    }

    /// The outcome of a call that was cancelled.
    pub fn cancelled(model: impl Into<String>, latency: Duration) -> Self {
        Self { result: ModelResult::Cancelled, latency, model: model.into(), usage: None }
    }
}
