//! The serde form of a message.

use serde::{Deserialize, Serialize};

use super::{CallStatus, Content, Message, MessageKind, Role, ToolCall, Usage};

#[derive(Serialize, Deserialize)]
pub(super) struct WireMessage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    role: Role,
    #[serde(default)]
    content: Option<WireContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<ToolCall>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<CallStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removes: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    next_id: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WireContent {
    Text(String),
    Blocks(Vec<Content>),
}

/// Fields of one role in a message of another one.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("a `tool` message needs `tool_call_id`; give the id of the call that it answers")]
    MissingCallId,
    #[error("a `{0}` message can't have `tool_calls`; only `assistant` messages have calls")]
    CallsOfOther(Role),
    #[error("a `{0}` message can't have `tool_call_id`; only `tool` messages answer calls")]
    AnswerOfOther(Role),
    #[error("a `removal` needs `removes`; give the id of the message to remove")]
    MissingTarget,
    #[error("a `{0}` message can't have `removes`; only a `removal` removes a message")]
    RemovalOfOther(Role),
}

impl TryFrom<WireMessage> for Message {
    type Error = WireError;

    fn try_from(wire: WireMessage) -> Result<Self, WireError> {
        let calls = wire.tool_calls.unwrap_or_default();
        if wire.role != Role::Assistant && !calls.is_empty() {
            return Err(WireError::CallsOfOther(wire.role));
        }
        if wire.role != Role::Tool && wire.tool_call_id.is_some() {
            return Err(WireError::AnswerOfOther(wire.role));
        }
        if wire.role != Role::Removal && wire.removes.is_some() {
            return Err(WireError::RemovalOfOther(wire.role));
        }
        let kind = match wire.role {
            Role::System => MessageKind::System,
            Role::User => MessageKind::User,
            Role::Assistant => MessageKind::Assistant { calls, usage: wire.usage },
            Role::Tool => MessageKind::Tool {
                call_id: wire.tool_call_id.ok_or(WireError::MissingCallId)?,
                name: wire.name,
                status: wire.status.unwrap_or_default(),
            },
            Role::Removal => MessageKind::Removal { target: wire.removes.ok_or(WireError::MissingTarget)? },
            Role::RemovalOfAll => MessageKind::RemovalOfAll,
        };
        let content = match wire.content {
            None => Vec::new(),
            Some(WireContent::Text(text)) => vec![Content::Text { text }],
            Some(WireContent::Blocks(blocks)) => blocks,
        };
        Ok(Self { id: wire.id, content, kind, next_id: wire.next_id })
    }
}

impl From<Message> for WireMessage {
    fn from(message: Message) -> Self {
        let role = message.role();
        let mut blocks = message.content;
        let content = match blocks.as_mut_slice() {
            [] => None,
            [Content::Text { text }] => Some(WireContent::Text(std::mem::take(text))),
            _ => Some(WireContent::Blocks(blocks)),
        };
        let mut wire = Self {
            id: message.id,
            role,
            content,
            tool_calls: None,
            tool_call_id: None,
            name: None,
            status: None,
            usage: None,
            removes: None,
            next_id: message.next_id,
        };
        match message.kind {
            MessageKind::System | MessageKind::User | MessageKind::RemovalOfAll => {}
            MessageKind::Removal { target } => wire.removes = Some(target),
            MessageKind::Assistant { calls, usage } => {
                wire.tool_calls = (!calls.is_empty()).then_some(calls);
                wire.usage = usage;
            }
            MessageKind::Tool { call_id, name, status } => {
                wire.tool_call_id = Some(call_id);
                wire.name = name;
                wire.status = (status != CallStatus::Ok).then_some(status);
            }
        }
        wire
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(message: &Message, expected: &serde_json::Value) {
        assert_eq!(&serde_json::to_value(message).unwrap(), expected);
        assert_eq!(&serde_json::from_value::<Message>(expected.clone()).unwrap(), message);
    }

    #[test]
    fn one_text_block_is_a_plain_string() {
        check(&Message::user("hi").with_id("m1"), &json!({"id": "m1", "role": "user", "content": "hi"}));
    }

    #[test]
    fn several_blocks_are_a_list() {
        check(
            &Message::user("see").with_content(Content::image("https://example.invalid/a")),
            &json!({"role": "user", "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "https://example.invalid/a"}},
            ]}),
        );
        check(
            &Message::assistant("")
                .with_content(Content::Reasoning { reasoning: json!({"signature": "s"}) })
                .with_content(Content::refusal("no")),
            &json!({"role": "assistant", "content": [
                {"type": "reasoning", "reasoning": {"signature": "s"}},
                {"type": "refusal", "refusal": "no"},
            ]}),
        );
    }

    #[test]
    fn calls_and_usage_belong_to_the_assistant() {
        check(
            &Message::assistant("").with_calls([ToolCall::from_text("c1", "f", "")]).with_usage(Usage::new(3, 4)),
            &json!({
                "role": "assistant",
                "content": null,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}],
                "usage": {"input": 3, "output": 4},
            }),
        );
    }

    #[test]
    fn a_tool_answer_says_its_status_only_when_it_failed() {
        check(&Message::tool("c1", "ok"), &json!({"role": "tool", "tool_call_id": "c1", "content": "ok"}));
        check(
            &Message::tool("c1", "no").with_tool_name("f").with_status(CallStatus::Error),
            &json!({"role": "tool", "tool_call_id": "c1", "name": "f", "status": "error", "content": "no"}),
        );
    }

    #[test]
    fn removals_have_roles_of_their_own() {
        check(&Message::removal("m1"), &json!({"role": "removal", "removes": "m1", "content": null}));
        check(&Message::removal_of_all(), &json!({"role": "removal_of_all", "content": null}));
        let error = serde_json::from_value::<Message>(json!({"role": "removal"})).unwrap_err().to_string();
        assert_eq!(error, "a `removal` needs `removes`; give the id of the message to remove");
        let error =
            serde_json::from_value::<Message>(json!({"role": "user", "removes": "m1"})).unwrap_err().to_string();
        assert_eq!(error, "a `user` message can't have `removes`; only a `removal` removes a message");
    }

    #[test]
    fn fields_of_another_role_are_refused() {
        let calls = json!([{"id": "c", "type": "function", "function": {"name": "f"}}]);
        for (wire, expected) in [
            (json!({"role": "tool", "content": "x"}), "a `tool` message needs `tool_call_id`"),
            (json!({"role": "user", "content": "x", "tool_calls": calls}), "a `user` message can't have `tool_calls`"),
            (
                json!({"role": "user", "content": "x", "tool_call_id": "c"}),
                "a `user` message can't have `tool_call_id`",
            ),
        ] {
            let error = serde_json::from_value::<Message>(wire).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
