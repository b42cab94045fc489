//! Calls as structured output, over HTTP: what a caller sees of the answers.

use futures_util::StreamExt;
use graph_nodes::message::{FinishReason, Message};
use graph_nodes::model::{ChatModel, Chunk, Collector, Request, Response, ToolChoice, ToolSpec};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{OpenAi, ToolMode};
use serde_json::json;

fn request(choice: ToolChoice) -> Request {
    let search = ToolSpec::new("search", "Finds hotels.", json!({"type": "object"}));
    Request::new([Message::user("hi")]).with_tools([search]).with_tool_choice(choice)
}

/// A stream that says these pieces.
fn stream_of(pieces: &[&str]) -> String {
    let says = |piece: &&str| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": piece}}]}));
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    pieces.iter().map(says).collect::<String>() + stop
}

/// The chunks of an answer, and what they come to.
async fn answered(reply: Reply, request: Request) -> (Vec<Chunk>, Response) {
    let server = Server::start([reply]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").tool_mode(ToolMode::Schema).build().unwrap();
    let mut collector = Collector::for_request(&request);
    let chunks: Vec<Chunk> = model.stream(request).await.unwrap().map(Result::unwrap).collect().await;
    chunks.iter().cloned().for_each(|chunk| drop(collector.push(chunk)));
    (chunks, collector.finish().unwrap())
}

#[tokio::test]
async fn a_streamed_call_comes_at_once_with_an_id_of_its_place() {
    let pieces = ["{\"name\":", "\"search\",", "\"arguments\":{\"city\":", "\"Bern\"}}"];
    let (chunks, response) = answered(Reply::stream(stream_of(&pieces)), request(ToolChoice::Auto)).await;
    assert_eq!(chunks.len(), 1);
    let call = &response.calls[0];
    assert_eq!((&*call.id, &*call.name, call.arguments.raw()), ("call_0", "search", "{\"city\":\"Bern\"}"));
    assert_eq!((&*response.text, response.finish, response.warnings.len()), ("", Some(FinishReason::ToolCalls), 0));
}

#[tokio::test]
async fn a_streamed_reply_comes_as_it_is_written() {
    let pieces = ["{\"re", "ply\":\"Gr", "\\u00fc", "ezi", "\"}"];
    let (chunks, response) = answered(Reply::stream(stream_of(&pieces)), request(ToolChoice::Auto)).await;
    let texts: Vec<_> = chunks.iter().filter_map(|chunk| chunk.text.as_deref()).collect();
    assert_eq!(texts, ["Gr", "ü", "ezi"]);
    assert_eq!((&*response.text, response.finish), ("Grüezi", Some(FinishReason::Stop)));
}

#[tokio::test]
async fn a_text_where_a_call_is_required_stays_a_text_for_the_gate_to_judge() {
    for text in ["I would rather talk.", "{\"reply\":\"no\"}", "```json\n{\"name\":\"search\"}\n```"] {
        let (_, response) = answered(Reply::stream(stream_of(&[text])), request(ToolChoice::Required)).await;
        assert_eq!((response.calls.len(), response.finish), (0, Some(FinishReason::Stop)));
        assert_eq!(response.text, if text.starts_with("{\"reply") { "no" } else { text });
    }
}

#[tokio::test]
async fn beside_a_schema_the_text_of_the_response_is_the_value() {
    let request = request(ToolChoice::Auto).with_response_schema(json!({"type": "object"}));
    let (_, response) = answered(Reply::stream(stream_of(&["{\"reply\": {\"rooms\"", ": 7}}"])), request).await;
    assert_eq!(response.structured_output(), Some("{\"rooms\": 7}"));
}

#[tokio::test]
async fn without_tools_json_is_a_text_like_any_other() {
    let request = Request::new([Message::user("hi")]);
    let (chunks, response) = answered(Reply::stream(stream_of(&["{\"reply\":", "\"no\"}"])), request).await;
    assert_eq!((chunks.len(), &*response.text), (3, "{\"reply\":\"no\"}"));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_in_the_same_way() {
    let text = json!({"name": "search", "arguments": {}}).to_string();
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    let (chunks, response) = answered(Reply::json(body), request(ToolChoice::Required)).await;
    assert_eq!((chunks.len(), &*response.calls[0].id, response.finish), (1, "call_0", Some(FinishReason::ToolCalls)));
}

#[tokio::test]
async fn a_server_that_makes_tool_calls_nevertheless_is_understood() {
    let call = json!({"index": 0, "id": "c1", "function": {"name": "search", "arguments": "{}"}});
    let event = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let (_, response) = answered(Reply::stream(format!("data: {event}\n\n")), request(ToolChoice::Auto)).await;
    assert_eq!((response.calls.len(), &*response.calls[0].id), (1, "c1"));
}
