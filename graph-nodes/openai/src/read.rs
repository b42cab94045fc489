//! Answers that aren't streamed, and errors, read from what the server sent.

use graph_nodes::model::{Chunk, ModelError};
use reqwest::header::HeaderMap;

use crate::excerpt::excerpt;
use crate::retry_after::retry_after;
use crate::secrets::Secrets;
use crate::wire::{CallStyle, Event, Failure};

/// Reads the whole body of an answer that isn't streamed, as one chunk. Pure.
///
/// ```
/// use graph_nodes::model::Collector;
/// use graph_nodes_openai::read_answer;
///
/// let body = br#"{"choices":[{"message":{"role":"assistant","content":"Hello!"},"finish_reason":"stop"}]}"#;
/// let mut collector = Collector::new();
/// collector.push(read_answer(body)?);
/// assert_eq!(collector.finish()?.text, "Hello!");
/// # Ok::<(), graph_nodes::model::ModelError>(())
/// ```
///
/// # Errors
/// [`ModelError::Truncated`] when there is no answer in it or no finish reason; the kind of an error that came with
/// status 200; [`ModelError::Provider`] when it is no JSON.
pub fn read_answer(body: &[u8]) -> Result<Chunk, ModelError> {
    answer(body, &Secrets::default())
}

/// As [`read_answer`], with these texts taken out of every error.
pub(crate) fn answer(body: &[u8], secrets: &Secrets) -> Result<Chunk, ModelError> {
    let no_json = |why: String| ModelError::provider(format!("the answer is {why}"));
    let text = std::str::from_utf8(body).map_err(|error| no_json(format!("no text: {error}")))?;
    if text.trim().is_empty() {
        return Err(ModelError::truncated("the answer is empty"));
    }
    let event = Event::read(text).map_err(|error| {
        if error.is_eof() {
            return ModelError::truncated(format!("the answer ends after {} bytes, within its JSON", body.len()));
        }
        let (why, text) = (excerpt(&error.to_string(), secrets), excerpt(text, secrets));
        no_json(format!("no JSON ({why}): {text}"))
    })?;
    if let Some(failure) = event.failure(text) {
        return Err(failure.into_error("error with status 200", None, None, secrets));
    }
    if !event.has_answer() {
        return Err(ModelError::truncated("there is no choice in the answer"));
    }
    match event.chunk(&mut CallStyle::default()) {
        Some(chunk) if chunk.finish.is_some() => Ok(chunk),
        _ => Err(ModelError::truncated("the answer has no finish reason")),
    }
}

/// The error that an HTTP answer with another status than 2xx is. Pure: a date in `Retry-After` is measured from the
/// answer's own `Date`.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::model::ModelErrorKind;
/// use graph_nodes_openai::{HeaderMap, read_error};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "7".parse()?);
/// let error = read_error(429, &headers, br#"{"error":{"message":"slow down","type":"requests"}}"#);
/// assert_eq!((error.kind(), error.retry_after()), (ModelErrorKind::Rate, Some(Duration::from_secs(7))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_error(status: u16, headers: &HeaderMap, body: &[u8]) -> ModelError {
    error(status, headers, body, &Secrets::default())
}

/// As [`read_error`], with these texts taken out.
pub(crate) fn error(status: u16, headers: &HeaderMap, body: &[u8], secrets: &Secrets) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let failure = serde_json::from_str(&text).ok().and_then(|json| Failure::of_body(&json));
    let failure = failure.unwrap_or_else(|| Failure::of_text(&text));
    failure.into_error(&format!("HTTP {status}"), Some(status), retry_after(headers), secrets)
}
