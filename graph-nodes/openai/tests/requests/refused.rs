//! What is refused before anything is sent.

use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ModelError, ModelErrorKind, Request, ToolChoice};
use graph_nodes_openai::testing::Server;
use graph_nodes_openai::{OpenAi, ToolMode};
use serde_json::json;

use crate::model;
use crate::tools::asking;

fn refused(request: &Request) -> String {
    let error = model(|model| model).body_of(request).unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ModelErrorKind::BadRequest, false));
    error.to_string()
}

#[test]
fn a_named_tool_that_is_not_offered() {
    assert_eq!(
        refused(&asking(ToolChoice::Named("fly".into()))),
        "the request was not sent (a call of `fly` is required, but only `search`, `book` are offered); correct the request",
    );
    let none = Request::new([Message::user("hi")]).with_tool_choice(ToolChoice::Named("fly".into()));
    assert_eq!(
        refused(&none),
        "the request was not sent (a call of `fly` is required, but no tool is offered); correct the request",
    );
}

#[test]
fn a_required_call_without_tools() {
    let request = Request::new([Message::user("hi")]).with_tool_choice(ToolChoice::Required);
    assert_eq!(
        refused(&request),
        "the request was not sent (a call is required, but no tool is offered); correct the request",
    );
}

#[test]
fn a_request_without_messages_and_one_with_a_stray_removal() {
    assert_eq!(refused(&Request::new([])), "the request was not sent (it has no messages); correct the request");
    let error = model(|model| model).body_of(&Request::new([Message::removal("m1")])).unwrap_err();
    assert!(matches!(error, ModelError::StrayRemoval { message: 0 }));
}

#[test]
fn parameters_that_would_overwrite_the_request() {
    let own =
        ["messages", "model", "stream", "stream_options", "tools", "tool_choice", "functions", "function_call", "n"];
    for name in own {
        let text = refused(&asking(ToolChoice::Auto).with_parameter(name, json!(null)));
        assert!(text.contains(&format!("the parameter `{name}` can't be set: ")), "{text}");
    }
    let twice = asking(ToolChoice::Auto).with_response_schema(json!({})).with_parameter("response_format", json!({}));
    assert!(refused(&twice).contains("the parameter `response_format` can't be set beside a response schema"));
    let calls = asking(ToolChoice::Auto).with_parameter("response_format", json!({}));
    assert!(model(|model| model.tool_mode(ToolMode::Schema)).body_of(&calls).is_err());
}

#[tokio::test]
async fn nothing_reaches_the_server() {
    let server = Server::start([]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").build().unwrap();
    let error = model.complete(asking(ToolChoice::Named("fly".into()))).await.unwrap_err();
    assert!(matches!(error, ModelError::Unsendable { .. }));
    assert_eq!(server.requests(), []);
}
