//! Messages.

use graph_nodes::message::{Artifact, CallStatus, Content, Message, ToolCall, Usage};
use graph_nodes::model::Request;
use serde_json::{Value, json};

use crate::{model, sent, sent_by};

fn messages(history: impl IntoIterator<Item = Message>) -> Value {
    sent(&Request::new(history))["messages"].clone()
}

#[test]
fn each_role_has_its_own_fields_and_nothing_of_the_programs_own() {
    let history = [
        Message::system("You book hotels.").with_id("m1"),
        Message::user("Is it warm in Bern?").with_id("m2"),
        Message::assistant("Let me see.")
            .with_calls([ToolCall::from_text("c1", "weather", r#"{"city": "Bern"}"#)])
            .with_usage(Usage::new(7, 2)),
        Message::tool("c1", "21 degrees").with_tool_name("weather").with_status(CallStatus::Error),
    ];
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Bern\"}"}});
    assert_eq!(
        messages(history),
        json!([
            {"role": "system", "content": "You book hotels."},
            {"role": "user", "content": "Is it warm in Bern?"},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
        ])
    );
}

#[test]
fn a_message_without_content_is_an_empty_text_and_never_null() {
    let call = ToolCall::from_text("c1", "f", "{}");
    let sent = messages([Message::user(""), Message::assistant("").with_calls([call]), Message::tool("c1", "")]);
    assert_eq!([&sent[0]["content"], &sent[1]["content"], &sent[2]["content"]], ["", "", ""]);
}

#[test]
fn texts_are_one_text_where_there_is_no_image() {
    let two = Message::user("a").with_content(Content::text("b"));
    let refused = Message::assistant("").with_content(Content::refusal("I won't."));
    let artifact =
        Message::tool("c1", "see it").with_content(Content::Artifact { artifact: Artifact::new("file:///a") });
    assert_eq!(
        messages([two, refused, artifact]),
        json!([
            {"role": "user", "content": "ab"},
            {"role": "assistant", "content": "I won't."},
            {"role": "tool", "tool_call_id": "c1", "content": "see it"},
        ])
    );
}

#[test]
fn an_image_makes_a_list_of_parts() {
    let mut message = Message::user("What is this?").with_content(Content::image("data:image/png;base64,AA=="));
    if let Content::Image { image } = &mut message.content[1] {
        image.detail = Some("low".into());
    }
    assert_eq!(
        messages([message])[0]["content"],
        json!([
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
        ])
    );
}

#[test]
fn reasoning_is_sent_back_only_where_that_is_asked_for() {
    let thought = |text: &str| Content::Reasoning { reasoning: text.into() };
    let mut message = Message::assistant("Yes.");
    message.content.insert(0, thought("It is "));
    message.content.insert(1, Content::Reasoning { reasoning: json!({"opaque": 1}) });
    message.content.insert(2, thought("May."));
    let request = Request::new([message]);
    assert_eq!(sent(&request)["messages"], json!([{"role": "assistant", "content": "Yes."}]));
    let sent = sent_by(&model(|model| model.reasoning_in_history(true)), &request);
    let expected = json!([{"role": "assistant", "content": "Yes.", "reasoning_content": "It is May."}]);
    assert_eq!(sent["messages"], expected);
}

#[test]
fn arguments_are_the_models_own_text_unless_a_server_could_not_read_them() {
    for (raw, sent) in [
        (r#" {"a" :1}"#, r#" {"a" :1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ("", "{}"),
        (" \n", "{}"),
        (r#"{"a":"#, r#"{"unreadable":"{\"a\":"}"#),
        ("[1]", r#"{"unreadable":"[1]"}"#),
    ] {
        let history = [Message::assistant("").with_calls([ToolCall::from_text("c1", "f", raw)])];
        assert_eq!(messages(history)[0]["tool_calls"][0]["function"]["arguments"], sent, "{raw}");
    }
}
