//! Streams that a real server sent, assembled.

use graph_nodes::assemble::{ArgumentsDelta, AssemblyWarning, CallDelta, WarningKind, count_warnings};
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{Chunk, Collector, CutOff, Response};
use serde_json::Value;

/// Reads the `data:` lines of a recorded body.
fn collect(body: &str) -> Response {
    let mut collector = Collector::new();
    for line in body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|line| *line != "[DONE]") {
        collector.push(chunk(&serde_json::from_str(line).expect("a data line is JSON")));
    }
    collector.finish().expect("lenient")
}

fn chunk(event: &Value) -> Chunk {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut chunk = Chunk::new();
    let choice = &event["choices"][0];
    let delta = &choice["delta"];
    chunk.text = text(&delta["content"]);
    chunk.finish = choice["finish_reason"].as_str().map(FinishReason::from);
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        chunk.calls.push(CallDelta {
            index: call["index"].as_u64().and_then(|index| u32::try_from(index).ok()),
            id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            arguments: ArgumentsDelta::from(call["function"].get("arguments").cloned()),
        });
    }
    if let (Some(input), Some(output)) =
        (event["usage"]["prompt_tokens"].as_u64(), event["usage"]["completion_tokens"].as_u64())
    {
        chunk.usage = Some(Usage::new(input, output));
    }
    chunk
}

fn calls(response: &Response) -> Vec<(&str, &str)> {
    response.calls.iter().map(|call| (call.name.as_str(), call.arguments.raw())).collect()
}

#[test]
fn text_only() {
    let response = collect(include_str!("fixtures/text_only.sse"));
    assert_eq!(calls(&response), []);
    assert_eq!(
        response.text,
        "Comparing hotels by rating can help hotel agents make informed decisions about which hotel to visit based on their ratings.",
    );
    assert_eq!(response.finish, Some(FinishReason::Stop));
    assert_eq!(response.usage, Some(Usage::new(32, 23)));
}

#[test]
fn one_tool_call_required() {
    let response = collect(include_str!("fixtures/one_tool_call_required.sse"));
    assert_eq!(
        calls(&response),
        [("search_hotels", r#"{"city": "Paris", "check_in": "2026-12-05", "nights": 3, "guests": 2}"#)],
    );
    assert_eq!(response.executable_calls().map(<[_]>::len), Ok(1));
    assert_eq!(response.warnings, []);
    assert_eq!(response.usage, Some(Usage::new(159, 48)));
}

#[test]
fn parallel_tool_calls() {
    let response = collect(include_str!("fixtures/parallel_tool_calls.sse"));
    assert_eq!(
        calls(&response),
        [("get_hotel_details", r#"{"hotel_id": "h1"}"#), ("get_hotel_details", r#"{"hotel_id": "h2"}"#)],
    );
    assert_ne!(response.calls[0].id, response.calls[1].id);
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    assert_eq!(response.warnings, []);
}

#[test]
fn tool_call_truncated_by_max_tokens() {
    let response = collect(include_str!("fixtures/tool_call_truncated_by_max_tokens.sse"));
    assert_eq!(calls(&response), [("search_hotels", r#"{"city": "Paris"#)]);
    assert_eq!(response.executable_calls(), Err(CutOff::Length));
    assert_eq!(count_warnings(&response.warnings).into_iter().collect::<Vec<_>>(), [(WarningKind::ParseError, 1)]);
}

#[test]
fn duplicate_argument_key() {
    let response = collect(include_str!("fixtures/duplicate_argument_key.sse"));
    assert_eq!(calls(&response), [("get_hotel_details", r#"{"hotel_id": "h1", "hotel_id": "h2"}"#)]);
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    assert_eq!(
        response.calls[0].fault().map(|fault| fault.to_string()),
        Some("the arguments hold a duplicate key `hotel_id` at line 1 column 29; send each key once".into()),
    );
}

#[test]
fn name_and_id_on_every_delta() {
    let response = collect(include_str!("fixtures/name_and_id_on_every_delta.sse"));
    assert_eq!(calls(&response), [("search_hotels", r#"{ "city":"Paris", "guests":2}"#)]);
    assert_eq!(response.warnings.iter().map(AssemblyWarning::kind).collect::<Vec<_>>(), [WarningKind::RepeatedName]);
    assert_eq!(response.executable_calls().map(<[_]>::len), Ok(1));
}
