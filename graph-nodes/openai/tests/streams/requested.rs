//! What the recorded requests asked, and what the adapter would send for the same conversation.

use graph_nodes::message::Message;
use graph_nodes::model::{Request, ToolChoice, ToolSpec};
use graph_nodes_openai::OpenAi;
use serde_json::{Map, Value, json};

use crate::files::requests;

fn read(name: &str, text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The conversation that a recorded body is about.
fn request(name: &str, body: &Map<String, Value>) -> Request {
    let messages: Vec<Message> = serde_json::from_value(body["messages"].clone()).expect(name);
    let tools = body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    let tools = tools.iter().map(|tool| {
        let function = &tool["function"];
        let text = |field: &str| function[field].as_str().expect(name).to_owned();
        ToolSpec::new(text("name"), text("description"), function["parameters"].clone())
    });
    let choice = match body.get("tool_choice") {
        None => ToolChoice::Auto,
        Some(Value::String(word)) => serde_json::from_value(json!(word)).expect(name),
        Some(named) => ToolChoice::Named(named["function"]["name"].as_str().expect(name).to_owned()),
    };
    let mut request = Request::new(messages).with_model("local").with_tools(tools).with_tool_choice(choice);
    if let Some(format) = body.get("response_format") {
        request = request.with_response_schema(format["json_schema"]["schema"].clone());
    }
    for parameter in ["temperature", "seed", "max_tokens", "parallel_tool_calls"] {
        if let Some(value) = body.get(parameter) {
            request = request.with_parameter(parameter, value.clone());
        }
    }
    request
}

/// The recorded body in the forms that the adapter prefers.
fn preferred(mut body: Map<String, Value>) -> Map<String, Value> {
    // One of the two servers refuses null in a history, and both take an empty text for it.
    for message in body["messages"].as_array_mut().expect("messages") {
        if message["content"].is_null() {
            message["content"] = json!("");
        }
    }
    match body.get("tool_choice") {
        // What every server does without a word for it.
        Some(Value::String(word)) if word == "auto" => drop(body.remove("tool_choice")),
        // One of the two servers takes a named tool for no choice at all: it is the only one that is sent, and required.
        Some(Value::Object(_)) => drop(body.insert("tool_choice".into(), json!("required"))),
        _ => {}
    }
    if let Some(format) = body.get_mut("response_format") {
        format["json_schema"]["name"] = json!("response");
    }
    body
}

#[test]
fn the_adapter_sends_what_the_recordings_were_asked_with() {
    assert_eq!(requests().count(), 25);
    for (name, text) in requests() {
        let body = read(name, text);
        if name == "qwen2.5-coder-0.5b/error_bad_tool_choice" {
            // No request can say this: there is no such choice.
            let choice: Result<ToolChoice, _> = serde_json::from_value(body["tool_choice"].clone());
            assert!(choice.is_err());
            continue;
        }
        let model = OpenAi::new("http://127.0.0.1:8080/v1", "another")
            .streaming(body["stream"] == json!(true))
            .stream_usage(body.contains_key("stream_options"))
            .strict_schemas(true)
            .build()
            .unwrap();
        let sent = model.body_of(&request(name, &body)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read(name, &sent), preferred(body), "{name}");
    }
}
