//! Tools, tool choice, structured output, parameters.

use graph_nodes::message::Message;
use graph_nodes::model::{Request, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::{model, sent, sent_by};

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec::new(name, format!("Does {name}."), json!({"type": "object", "properties": {}}))
}

pub(crate) fn asking(choice: ToolChoice) -> Request {
    Request::new([Message::user("hi")]).with_tools([tool("search"), tool("book")]).with_tool_choice(choice)
}

fn on_the_wire(name: &str) -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    json!({"type": "function", "function": {"name": name, "description": format!("Does {name}."), "parameters": parameters}})
}

#[test]
fn the_choice_is_left_out_where_it_is_the_servers_own() {
    let both = json!([on_the_wire("search"), on_the_wire("book")]);
    for (choice, word) in
        [(ToolChoice::Auto, Value::Null), (ToolChoice::None, json!("none")), (ToolChoice::Required, json!("required"))]
    {
        let body = sent(&asking(choice));
        assert_eq!((&body["tools"], &body["tool_choice"]), (&both, &word));
    }
}

#[test]
fn a_named_tool_is_sent_alone_and_required() {
    let body = sent(&asking(ToolChoice::Named("book".into())));
    assert_eq!((&body["tools"], &body["tool_choice"]), (&json!([on_the_wire("book")]), &json!("required")));
}

#[test]
fn without_tools_nothing_is_said_of_them() {
    for choice in [ToolChoice::Auto, ToolChoice::None] {
        let body = sent(&Request::new([Message::user("hi")]).with_tool_choice(choice));
        assert_eq!(body, json!({"messages": [{"role": "user", "content": "hi"}]}));
    }
}

#[test]
fn a_tool_without_a_description_has_none() {
    let request = Request::new([Message::user("hi")]).with_tools([ToolSpec::new("f", "", json!({"type": "object"}))]);
    assert_eq!(
        sent(&request)["tools"],
        json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
    );
}

#[test]
fn structured_output_is_a_schema_with_a_name() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let request = asking(ToolChoice::Auto).with_response_schema(schema.clone());
    let format = json!({"type": "json_schema", "json_schema": {"name": "response", "schema": schema}});
    assert_eq!(sent(&request)["response_format"], format);
    let strict = json!({"type": "json_schema", "json_schema": {"name": "response", "schema": schema, "strict": true}});
    assert_eq!(sent_by(&model(|model| model.strict_schemas(true)), &request)["response_format"], strict);
}

#[test]
fn parameters_are_passed_on_as_they_are() {
    let request = Request::new([Message::user("hi")])
        .with_parameter("temperature", 0)
        .with_parameter("response_format", json!({"type": "json_object"}))
        .with_parameter("cache_prompt", false);
    assert_eq!(
        model(|model| model).body_of(&request).unwrap(),
        r#"{"model":"local","messages":[{"role":"user","content":"hi"}],"stream":false,"cache_prompt":false,"response_format":{"type":"json_object"},"temperature":0}"#,
    );
}

#[test]
fn the_requests_model_counts_more_than_the_descriptions() {
    let request = Request::new([Message::user("hi")]).with_model("other");
    assert!(model(|model| model).body_of(&request).unwrap().starts_with(r#"{"model":"other","#));
}

#[test]
fn tokens_are_asked_for_in_a_stream_unless_that_is_off() {
    let request = Request::new([Message::user("hi")]);
    let body = |change: fn(graph_nodes_openai::OpenAi) -> graph_nodes_openai::OpenAi| -> Value {
        serde_json::from_str(&model(change).body_of(&request).unwrap()).unwrap()
    };
    let streamed = body(|model| model.streaming(true));
    assert_eq!((&streamed["stream"], &streamed["stream_options"]), (&json!(true), &json!({"include_usage": true})));
    let quiet = body(|model| model.streaming(true).stream_usage(false));
    assert_eq!((&quiet["stream"], quiet.get("stream_options")), (&json!(true), None));
}
