//! Calls as structured output.

use graph_nodes::message::{CallStatus, Content, Message, ToolCall};
use graph_nodes::model::{Request, ToolChoice};
use graph_nodes_openai::ToolMode;
use serde_json::{Value, json};

use crate::tools::asking;
use crate::{model, sent_by};

const INSTRUCTIONS: &str = "Answer with one JSON object and nothing else.\n\
    To call a tool, write {\"name\": its name, \"arguments\": its arguments}.\n\
    To answer in words, write {\"reply\": your text}.\n\
    The tools:\n\
    - search: Does search. Arguments: {\"properties\":{},\"type\":\"object\"}\n\
    - book: Does book. Arguments: {\"properties\":{},\"type\":\"object\"}";

fn sent(request: &Request) -> Value {
    sent_by(&model(|model| model.tool_mode(ToolMode::Schema)), request)
}

fn call(name: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "const": name},
            "arguments": {"type": "object", "properties": {}},
        },
        "required": ["name", "arguments"],
        "additionalProperties": false,
    })
}

fn reply(schema: Value) -> Value {
    json!({"type": "object", "properties": {"reply": schema}, "required": ["reply"], "additionalProperties": false})
}

fn schema(body: &Value) -> &Value {
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    &body["response_format"]["json_schema"]["schema"]
}

#[test]
fn a_model_that_may_call_chooses_among_the_calls_and_a_reply() {
    let body = sent(&asking(ToolChoice::Auto));
    assert_eq!(schema(&body), &json!({"anyOf": [call("search"), call("book"), reply(json!({"type": "string"}))]}));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": "hi"},
        ])
    );
}

#[test]
fn a_model_that_must_call_is_offered_no_reply() {
    let body = sent(&asking(ToolChoice::Required));
    assert_eq!(schema(&body), &json!({"anyOf": [call("search"), call("book")]}));
    assert!(!body["messages"][0]["content"].as_str().unwrap().contains("reply"));
    let body = sent(&asking(ToolChoice::Named("book".into())));
    assert_eq!(schema(&body), &call("book"));
}

#[test]
fn beside_structured_output_the_reply_is_a_value_of_its_schema() {
    let rooms = json!({"type": "object", "properties": {"rooms": {"type": "integer"}}});
    let mut request = asking(ToolChoice::Auto).with_response_schema(rooms.clone());
    request.messages.push(Message::assistant("{\"rooms\":2}"));
    let body = sent(&request);
    assert_eq!(schema(&body), &json!({"anyOf": [call("search"), call("book"), reply(rooms)]}));
    assert_eq!(body["messages"][2], json!({"role": "assistant", "content": "{\"reply\":{\"rooms\":2}}"}));
}

#[test]
fn without_tools_it_is_plain_structured_output_or_plain_text() {
    let rooms = json!({"type": "object"});
    let plain = Request::new([Message::user("hi"), Message::assistant("Hello.")]);
    let messages = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]);
    assert_eq!(sent(&plain), json!({"messages": messages}));
    let body = sent(&plain.with_response_schema(rooms.clone()));
    assert_eq!((schema(&body), &body["messages"]), (&rooms, &messages));
    let mut none = asking(ToolChoice::None);
    none.messages.push(Message::assistant("").with_calls([ToolCall::from_text("c1", "search", "{}")]));
    let called = json!({"role": "assistant", "content": "{\"name\":\"search\",\"arguments\":{}}"});
    assert_eq!(sent(&none), json!({"messages": [{"role": "user", "content": "hi"}, called]}));
}

#[test]
fn earlier_calls_replies_and_results_have_the_form_of_an_answer() {
    let mut request = asking(ToolChoice::Auto);
    request.messages = vec![
        Message::system("You book hotels."),
        Message::user("A hotel in Bern?"),
        Message::assistant("Let me see.").with_calls([
            ToolCall::from_text("c1", "search", r#"{"city": "Bern"}"#),
            ToolCall::from_text("c2", "book", r#"{"hotel"#),
        ]),
        Message::tool("c2", "no such hotel").with_status(CallStatus::Error),
        Message::tool("c1", r#"{"hotels":["h1"]}"#).with_content(Content::image("http://127.0.0.1/h1.png")),
        Message::assistant("There is h1."),
        Message::user("Thanks."),
    ];
    let image = json!({"type": "image_url", "image_url": {"url": "http://127.0.0.1/h1.png"}});
    let found = json!({"type": "text", "text": "{\"name\":\"search\",\"result\":{\"hotels\":[\"h1\"]}}"});
    assert_eq!(
        sent(&request)["messages"],
        json!([
            {"role": "system", "content": format!("You book hotels.\n\n{INSTRUCTIONS}")},
            {"role": "user", "content": "A hotel in Bern?"},
            {"role": "assistant", "content": "{\"reply\":\"Let me see.\"}"},
            {"role": "assistant", "content": "{\"name\":\"search\",\"arguments\":{\"city\": \"Bern\"}}"},
            {"role": "user", "content": [found, image]},
            {"role": "assistant", "content": "{\"name\":\"book\",\"arguments\":{\"unreadable\":\"{\\\"hotel\"}}"},
            {"role": "user", "content": "{\"name\":\"book\",\"error\":\"no such hotel\"}"},
            {"role": "assistant", "content": "{\"reply\":\"There is h1.\"}"},
            {"role": "user", "content": "Thanks."},
        ])
    );
}
