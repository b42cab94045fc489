//! What the model is sent on the next attempt.

use super::FeedbackMode;
use crate::message::{CallStatus, Message};
use crate::model::{Request, Response};

/// The messages of the next attempt.
///
/// `base` are the messages of the *first* attempt, so that corrections never
/// add up: there is at most one, the latest. The result is for one request
/// only; nothing of it belongs into the history.
///
/// | mode | what follows `base` |
/// | --- | --- |
/// | `Blind` | nothing |
/// | `Reason` | one system message with the feedback, if there is any |
/// | `Transcript` | the rejected response; then, for calls, one error answer per call with the feedback, else as `Reason` |
///
/// ```
/// use graph_nodes::gate::{FeedbackMode, retry_messages};
/// use graph_nodes::message::Message;
///
/// let base = [Message::user("Where?")];
/// let next = retry_messages(FeedbackMode::Reason, &base, None, Some("name a city"));
/// assert_eq!(next[0], base[0]);
/// assert_eq!(next[1], Message::system("Your previous answer was rejected: name a city"));
/// assert_eq!(retry_messages(FeedbackMode::Blind, &base, None, Some("name a city")), base);
/// ```
pub fn retry_messages(
    mode: FeedbackMode,
    base: &[Message],
    rejected: Option<&Response>,
    feedback: Option<&str>,
) -> Vec<Message> {
    let mut messages = base.to_vec();
    match (mode, rejected) {
        (FeedbackMode::Blind, _) => {}
        (FeedbackMode::Transcript, Some(rejected)) => messages.extend(transcript(rejected, feedback)),
        (FeedbackMode::Reason | FeedbackMode::Transcript, _) => messages.extend(feedback.map(correction)),
    }
    messages
}

/// The request of the next attempt: the first one with [`retry_messages`].
///
/// ```
/// use graph_nodes::gate::{FeedbackMode, retry_request};
/// use graph_nodes::message::Message;
/// use graph_nodes::model::Request;
///
/// let first = Request::new([Message::user("Where?")]);
/// let blind = retry_request(FeedbackMode::Blind, &first, None, Some("name a city"));
/// assert_eq!(blind.canonical_json(), first.canonical_json());
/// ```
pub fn retry_request(
    mode: FeedbackMode,
    first: &Request,
    rejected: Option<&Response>,
    feedback: Option<&str>,
) -> Request {
    let messages = retry_messages(mode, &first.messages, rejected, feedback);
    Request { messages, ..first.clone() }
}

fn correction(feedback: &str) -> Message {
    Message::system(format!("Your previous answer was rejected: {feedback}"))
}

fn transcript(rejected: &Response, feedback: Option<&str>) -> Vec<Message> {
    // A provider may refuse to read back arguments that are no JSON object, so
    // faulty calls are shown as text.
    if rejected.calls.iter().any(|call| call.fault().is_some()) {
        let calls = rejected.calls.iter().map(|call| format!("{}({})", call.name, call.arguments.raw()));
        let lines: Vec<String> =
            [rejected.text.clone()].into_iter().filter(|text| !text.is_empty()).chain(calls).collect();
        return [Message::assistant(lines.join("\n"))].into_iter().chain(feedback.map(correction)).collect();
    }
    if rejected.is_empty() {
        return feedback.map(correction).into_iter().collect();
    }
    let shown = Message {
        kind: Message::assistant("").with_calls(rejected.calls.iter().cloned()).kind,
        ..rejected.to_message()
    };
    if rejected.calls.is_empty() {
        return [shown].into_iter().chain(feedback.map(correction)).collect();
    }
    let why = feedback.unwrap_or("it was not acceptable");
    let answers = rejected.calls.iter().map(|call| {
        Message::tool(&call.id, format!("not executed, because the whole answer was rejected: {why}"))
            .with_tool_name(&call.name)
            .with_status(CallStatus::Error)
    });
    [shown].into_iter().chain(answers).collect()
}
