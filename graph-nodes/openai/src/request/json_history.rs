//! A history for a model that answers with JSON objects: calls, replies and results have the same form as its answers.

use std::borrow::Cow;

use graph_nodes::message::{Content, Message, MessageKind};

use super::messages::{Part, WireContent, WireMessage, arguments, content, thoughts};
use crate::schema::{call_json, reply_json, result_json};

/// How the model is to answer.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// In words.
    Words,
    /// With an object; the instructions say so.
    Object {
        instructions: String,
        /// Whether a reply is a JSON value instead of a text.
        is_value: bool,
    },
}

/// The history. Each call is followed by its result, and both are messages of their own: an answer holds one call.
pub(super) fn messages<'a>(history: &'a [Message], form: &Form, reasoning: bool) -> Vec<WireMessage<'a>> {
    let mut messages = Vec::new();
    let mut rest = history;
    while let [message, after @ ..] = rest {
        rest = after;
        match &message.kind {
            MessageKind::System => messages.push(WireMessage::System { content: content(&message.content) }),
            MessageKind::User => messages.push(WireMessage::User { content: content(&message.content) }),
            MessageKind::Assistant { calls, .. } => {
                let answers = rest.iter().take_while(|next| next.call_id().is_some()).count();
                let (answers, later) = rest.split_at(answers);
                rest = later;
                let mut open: Vec<&Message> = answers.iter().collect();
                let mut reasons = reasoning.then(|| thoughts(&message.content)).flatten();
                let mut assistant = |text: Cow<'a, str>| WireMessage::Assistant {
                    content: WireContent::Text(text),
                    reasoning_content: reasons.take(),
                    tool_calls: Vec::new(),
                };
                let said = words(&message.content);
                if calls.is_empty() || !said.is_empty() {
                    messages.push(assistant(form.reply(said)));
                }
                for call in calls {
                    messages.push(assistant(Cow::Owned(call_json(&call.name, &arguments(call.arguments.raw())))));
                    if let Some(at) = open.iter().position(|answer| answer.call_id() == Some(&call.id)) {
                        messages.push(result(open.remove(at), Some(&call.name)));
                    }
                }
                messages.extend(open.into_iter().map(|answer| result(answer, None)));
            }
            MessageKind::Tool { .. } => messages.push(result(message, None)),
            _ => {}
        }
    }
    form.instruct(&mut messages);
    messages
}

/// What a tool answered. The model's own side of the conversation is taken, so it comes from the other one.
fn result<'a>(message: &'a Message, name: Option<&str>) -> WireMessage<'a> {
    let status = message.status().unwrap_or_default();
    let text = result_json(name.or(message.tool_name()), &words(&message.content), status);
    let images: Vec<Part<'a>> = message.content.iter().filter_map(Part::image).collect();
    let text = Cow::Owned(text);
    WireMessage::User {
        content: if images.is_empty() {
            WireContent::Text(text)
        } else {
            WireContent::Parts([Part::Text { text }].into_iter().chain(images).collect())
        },
    }
}

/// Texts and refusals, joined.
fn words(blocks: &[Content]) -> Cow<'_, str> {
    match content(blocks) {
        WireContent::Text(text) => text,
        WireContent::Parts(parts) => Cow::Owned(parts.iter().filter_map(Part::text).collect()),
    }
}

impl Form {
    fn reply<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        match self {
            Self::Words => text,
            Self::Object { is_value, .. } => Cow::Owned(reply_json(&text, *is_value)),
        }
    }

    /// Adds the instructions to the system message at the beginning: some templates know only one, and only there.
    fn instruct(&self, messages: &mut Vec<WireMessage<'_>>) {
        let Self::Object { instructions, .. } = self else { return };
        match messages.first_mut() {
            Some(WireMessage::System { content: WireContent::Text(text) }) if !text.is_empty() => {
                let all = format!("{text}\n\n{instructions}");
                *text = Cow::Owned(all);
            }
            Some(WireMessage::System { content: WireContent::Parts(parts) }) => {
                parts.push(Part::Text { text: Cow::Owned(instructions.clone()) });
            }
            Some(WireMessage::System { content: WireContent::Text(text) }) => *text = Cow::Owned(instructions.clone()),
            _ => {
                let content = WireContent::Text(Cow::Owned(instructions.clone()));
                messages.insert(0, WireMessage::System { content });
            }
        }
    }
}
