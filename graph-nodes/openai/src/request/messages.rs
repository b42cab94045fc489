//! Messages on the wire, in the form that most servers take.

use std::borrow::Cow;

use graph_nodes::message::{Content, ImageRef, Message, MessageKind, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    System {
        content: WireContent<'a>,
    },
    User {
        content: WireContent<'a>,
    },
    Assistant {
        content: WireContent<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: WireContent<'a>,
    },
}

/// A text where there is no image: many servers know no parts. Never `null`, which some refuse in a history; an empty
/// text means the same to all.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WireContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: &'a ImageRef },
}

#[derive(Serialize)]
pub(super) struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
}

/// The history. Orders to remove a message were refused before.
pub(super) fn messages(history: &[Message], reasoning: bool) -> Vec<WireMessage<'_>> {
    history.iter().filter_map(|message| wire(message, reasoning)).collect()
}

fn wire(message: &Message, reasoning: bool) -> Option<WireMessage<'_>> {
    let content = content(&message.content);
    Some(match &message.kind {
        MessageKind::System => WireMessage::System { content },
        MessageKind::User => WireMessage::User { content },
        MessageKind::Assistant { calls, .. } => WireMessage::Assistant {
            content,
            reasoning_content: reasoning.then(|| thoughts(&message.content)).flatten(),
            tool_calls: calls.iter().map(WireCall::of).collect(),
        },
        MessageKind::Tool { call_id, .. } => WireMessage::Tool { tool_call_id: call_id, content },
        _ => return None,
    })
}

/// Texts and refusals are joined. Reasoning has a place of its own, and what an artifact holds a text says too.
pub(super) fn content(blocks: &[Content]) -> WireContent<'_> {
    let parts: Vec<Part<'_>> = blocks.iter().filter_map(part).collect();
    match parts.as_slice() {
        [] => WireContent::Text(Cow::Borrowed("")),
        [Part::Text { text }] => WireContent::Text(text.clone()),
        _ if parts.iter().all(|part| matches!(part, Part::Text { .. })) => {
            WireContent::Text(Cow::Owned(parts.iter().filter_map(Part::text).collect()))
        }
        _ => WireContent::Parts(parts),
    }
}

fn part(block: &Content) -> Option<Part<'_>> {
    match block {
        Content::Text { text } | Content::Refusal { refusal: text } => Some(Part::Text { text: Cow::Borrowed(text) }),
        other => Part::image(other),
    }
}

impl<'a> Part<'a> {
    pub(super) fn image(block: &'a Content) -> Option<Self> {
        match block {
            Content::Image { image } => Some(Self::ImageUrl { image_url: image }),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::ImageUrl { .. } => None,
        }
    }
}

pub(super) fn thoughts(blocks: &[Content]) -> Option<String> {
    let texts = blocks.iter().filter_map(|block| match block {
        Content::Reasoning { reasoning } => reasoning.as_str(),
        _ => None,
    });
    Some(texts.collect()).filter(|text: &String| !text.is_empty())
}

impl<'a> WireCall<'a> {
    fn of(call: &'a ToolCall) -> Self {
        let function = WireFunction { name: &call.name, arguments: arguments(call.arguments.raw()) };
        Self { id: &call.id, kind: "function", function }
    }
}

/// The text of the arguments, as the model wrote it. Servers that put a history into a template of their own read it,
/// and fail for every later request when it is no JSON object: then it is a value of one.
pub(super) fn arguments(raw: &str) -> Cow<'_, str> {
    if raw.trim().is_empty() {
        Cow::Borrowed("{}")
    } else if serde_json::from_str::<Map<String, Value>>(raw).is_ok() {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(json!({ "unreadable": raw }).to_string())
    }
}
