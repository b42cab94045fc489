//! An error as a server writes it, and what sort of error it is.

use std::time::Duration;

use graph_nodes::model::ModelError;
use serde_json::Value;

use crate::excerpt::excerpt;
use crate::secrets::Secrets;

/// What a server says of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    message: Option<String>,
    /// The words that say which error it is: its code, then its type.
    words: Vec<String>,
    /// The HTTP status that stands in the error itself.
    status: Option<u16>,
}

/// Words of used-up accounts.
const QUOTA: &[&str] = &[
    "insufficient_quota",
    "insufficient_balance",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
    "credit_exhausted",
];

/// Words of requests that are too long.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "request_too_large",
];

/// What messages of requests that are too long say, where there is no word for it.
const TOO_LONG_TEXTS: &[&str] = &[
    "maximum context length",
    "context length exceeded",
    "exceeds the available context size",
    "exceed context window",
    "exceeds the context window",
    "exceeds the model's context",
    "prompt is too long",
    "input is too long",
];

/// Words of keys that are not accepted.
const AUTHENTICATION: &[&str] =
    &["invalid_api_key", "authentication_error", "invalid_authentication", "permission_error", "permission_denied"];

/// Words of too many requests.
const RATE: &[&str] = &["rate_limit_exceeded", "rate_limit_error", "too_many_requests", "rate_limited"];

/// Words of wrong requests.
const REJECTED: &[&str] = &["invalid_request_error", "not_found_error", "not_supported_error", "invalid_argument"];

impl Failure {
    /// From the value of the field `error`, whatever its form is.
    pub(crate) fn of_error(error: &Value) -> Self {
        let mut failure = Self::default();
        match error {
            Value::String(text) => failure.message = Some(text.clone()),
            Value::Object(map) => {
                let texts = ["message", "detail", "error", "msg"].iter().filter_map(|key| map.get(*key));
                failure.message = texts.filter_map(Value::as_str).map(str::to_owned).next();
                for word in ["code", "type", "status"].iter().filter_map(|key| map.get(*key)) {
                    failure.word(word);
                }
            }
            Value::Null => {}
            other => failure.message = Some(other.to_string()),
        }
        if failure.message.is_none() && !error.is_null() {
            failure.message = Some(error.to_string());
        }
        failure
    }

    /// From the body of an error: the field `error`, or its parts at the top.
    pub(crate) fn of_body(body: &Value) -> Option<Self> {
        if let Some(error) = body.get("error").filter(|error| says_something(error)) {
            return Some(Self::of_error(error));
        }
        let is_error = body.get("object").and_then(Value::as_str) == Some("error");
        let tells = ["message", "detail", "msg"].iter().any(|key| body.get(*key).is_some_and(|told| !told.is_null()));
        (is_error || tells).then(|| Self::of_error(body))
    }

    /// A body that is no JSON, or another one.
    pub(crate) fn of_text(text: &str) -> Self {
        let text = text.trim();
        Self { message: (!text.is_empty()).then(|| text.to_owned()), ..Self::default() }
    }

    fn word(&mut self, word: &Value) {
        let number = word.as_u64().or_else(|| word.as_str()?.parse().ok());
        if let Some(status) = number.and_then(|number| u16::try_from(number).ok()).filter(is_status) {
            self.status.get_or_insert(status);
        } else if let Some(word) = word.as_str() {
            self.words.push(word.to_owned());
        }
    }

    /// The error. The HTTP status of the answer counts more than one that stands in the error.
    pub(crate) fn into_error(
        self,
        place: &str,
        http: Option<u16>,
        retry_after: Option<Duration>,
        secrets: &Secrets,
    ) -> ModelError {
        let status = http.or(self.status);
        let message = self.message(place, secrets);
        let is = |words: &[&str]| self.is_any_of(words);
        if is(QUOTA) || status == Some(402) {
            ModelError::Quota { message }
        } else if self.is_too_long(status) {
            ModelError::ContextTooLong { message }
        } else if is(AUTHENTICATION) || matches!(status, Some(401 | 403)) {
            ModelError::Authentication { message }
        } else if is(RATE) || status == Some(429) {
            ModelError::RateLimited { message, retry_after }
        } else if is_refusal(status) || (status.is_none() && is(REJECTED)) {
            ModelError::Rejected { message }
        } else {
            ModelError::Provider { message, retry_after, received: None }
        }
    }

    fn is_any_of(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }

    fn is_too_long(&self, status: Option<u16>) -> bool {
        if status == Some(413) || self.is_any_of(TOO_LONG) {
            return true;
        }
        let message = self.message.as_deref().unwrap_or_default().to_lowercase();
        matches!(status, None | Some(400 | 422)) && TOO_LONG_TEXTS.iter().any(|text| message.contains(text))
    }

    /// `HTTP 400: what the server says (its_code)`.
    fn message(&self, place: &str, secrets: &Secrets) -> String {
        let mut text = place.to_owned();
        if let Some(message) = &self.message {
            text.push_str(": ");
            text.push_str(&excerpt(message, secrets));
        }
        if let Some(word) = self.words.first() {
            text.push_str(&format!(" ({})", excerpt(word, secrets)));
        }
        text
    }
}

/// Some servers say in every event that there is no error.
pub(super) fn says_something(error: &Value) -> bool {
    !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
}

fn is_status(number: &u16) -> bool {
    (300..600).contains(number)
}

/// Whether the same request will be refused again. Three of the codes below 500 ask to try again, two above don't.
fn is_refusal(status: Option<u16>) -> bool {
    match status {
        Some(408 | 409 | 425) => false,
        Some(501 | 505) => true,
        Some(status) => (300..500).contains(&status),
        None => false,
    }
}
