//! What servers write besides the plain form. All bytes here are made by hand.

use graph_nodes::assemble::WarningKind;
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{Collector, ModelErrorKind, Response};
use graph_nodes_openai::{StreamReader, read_answer};
use serde_json::{Value, json};

/// The response of a stream of these bytes.
fn of_bytes(bytes: &[u8]) -> Response {
    let (mut reader, mut collector) = (StreamReader::new(), Collector::new());
    reader.push(bytes).unwrap().into_iter().for_each(|chunk| drop(collector.push(chunk)));
    reader.finish().unwrap().into_iter().for_each(|chunk| drop(collector.push(chunk)));
    collector.finish().unwrap()
}

/// The response of these events and one with the finish reason.
fn of(events: &[&str]) -> Response {
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let events = events.iter().chain([&stop]).map(|event| format!("data: {event}\n\n"));
    of_bytes(events.collect::<String>().as_bytes())
}

/// Deltas in events of their own.
fn of_deltas(deltas: &[Value]) -> Response {
    let events: Vec<String> = deltas.iter().map(|delta| json!({"choices": [{"delta": delta}]}).to_string()).collect();
    of(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn calls(response: &Response) -> Vec<(&str, &str, &str)> {
    response.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw())).collect()
}

#[test]
fn nulls_and_missing_fields_say_nothing() {
    let empty = json!({"role": null, "content": null, "refusal": null, "tool_calls": null, "function_call": null,
        "reasoning": null, "reasoning_content": null});
    let response =
        of_deltas(&[empty, json!({}), json!({"content": ""}), json!({"content": "a"}), json!({"tool_calls": []})]);
    assert_eq!(response, Response::from_text("a"));
    let response =
        of(&[r#"{"choices":null}"#, r#"{"choices":[]}"#, r#"{"choices":[{"delta":null,"finish_reason":""}]}"#, "{}"]);
    assert_eq!(response, Response::from_text(""));
}

#[test]
fn unknown_fields_and_odd_types_are_skipped() {
    let response = of(&[
        r#"{"id":7,"object":[],"timings":{"a":1},"choices":[{"index":"0","logprobs":{},"delta":{"content":"a","audio":{}}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":{"odd":true},"refusal":{},"role":3}}],"usage":"none"}"#,
    ]);
    assert_eq!(response, Response::from_text("a"));
}

#[test]
fn a_repeated_key_of_an_event_counts_once() {
    assert_eq!(of(&[r#"{"choices":[{"delta":{"content":"a","content":"b"}}]}"#]).text, "b");
}

#[test]
fn content_may_be_a_list_of_parts() {
    let parts = json!({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(of_deltas(&[parts]).text, "ab");
}

#[test]
fn reasoning_has_several_names_and_is_joined() {
    let response = of_deltas(&[
        json!({"reasoning_content": "It ", "reasoning": "It "}),
        json!({"reasoning": "is"}),
        json!({"reasoning_content": "", "reasoning": " May."}),
        json!({"content": "Yes."}),
    ]);
    assert_eq!((response.reasoning, response.text.as_str()), (vec![json!("It is May.")], "Yes."));
}

#[test]
fn a_refusal_is_joined() {
    let response = of_deltas(&[json!({"refusal": "I "}), json!({"refusal": "won't."})]);
    assert_eq!((response.refusal.as_deref(), response.text.as_str()), (Some("I won't."), ""));
}

#[test]
fn usage_comes_alone_with_each_event_or_within_a_choice() {
    let report =
        r#"{"prompt_tokens":5,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":3}}"#;
    let expected = Some(Usage { total: Some(9), cached: 3, ..Usage::new(5, 2) });
    for event in [
        format!(r#"{{"choices":[],"usage":{report}}}"#),
        format!(r#"{{"usage":{report}}}"#),
        format!(r#"{{"choices":[{{"delta":{{}},"usage":{report}}}]}}"#),
    ] {
        assert_eq!(
            of(&[r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#, &event]).usage,
            expected
        );
    }
    assert_eq!(of(&[r#"{"choices":[],"usage":null}"#]).usage, None);
}

#[test]
fn finish_reasons_are_kept_also_unknown_ones() {
    let finish = |word: &str| {
        let body = format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{word}\"}}]}}\n\n");
        of_bytes(body.as_bytes()).finish.unwrap()
    };
    assert_eq!(finish("length"), FinishReason::Length);
    assert_eq!(finish("content_filter"), FinishReason::ContentFilter);
    assert_eq!(finish("function_call"), FinishReason::ToolCalls);
    assert_eq!(finish("eos"), FinishReason::Other("eos".into()));
}

#[test]
fn only_the_first_choice_counts() {
    let both = r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"},{"index":0,"delta":{"content":"a"}}]}"#;
    assert_eq!(of(&[both]), Response::from_text("a"));
}

#[test]
fn id_and_name_in_every_delta_are_those_of_one_call() {
    let piece =
        |text: &str| json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": text}}]});
    let response = of_deltas(&[piece("{\"a\""), piece(":"), piece("1}")]);
    assert_eq!(calls(&response), [("c1", "f", "{\"a\":1}")]);
    assert_eq!(response.warnings.iter().map(|warning| warning.kind()).collect::<Vec<_>>(), [WarningKind::RepeatedName]);
}

#[test]
fn a_mirrored_call_is_one_and_an_old_call_alone_is_one_too() {
    let call = |text: &str| json!({"index": 0, "id": "c1", "function": {"name": "f", "arguments": text}});
    let both = |text: &str| json!({"function_call": {"name": "f", "arguments": text}, "tool_calls": [call(text)]});
    assert_eq!(calls(&of_deltas(&[both("{"), both("}")])), [("c1", "f", "{}")]);
    let apart =
        [both("{"), json!({"function_call": {"name": "", "arguments": "}"}}), json!({"tool_calls": [call("}")]})];
    assert_eq!(calls(&of_deltas(&apart)), [("c1", "f", "{}")]);
    let old = [json!({"function_call": {"name": "f"}}), json!({"function_call": {"arguments": "{}"}})];
    let response = of_deltas(&old);
    assert_eq!((response.calls.len(), &*response.calls[0].name, response.calls[0].arguments.raw()), (1, "f", "{}"));
}

#[test]
fn arguments_may_be_an_object_and_indexes_and_ids_may_be_missing() {
    let response = of_deltas(&[json!({"tool_calls": [{"id": 7, "function": {"name": "f", "arguments": {"a": 1}}}]})]);
    assert_eq!(calls(&response), [("7", "f", "{\"a\":1}")]);
    let kinds: Vec<_> = response.warnings.iter().map(|warning| warning.kind()).collect();
    assert_eq!(kinds, [WarningKind::MissingIndex, WarningKind::ArgumentsAsValue]);
    let response = of_deltas(&[json!({"tool_calls": [{"index": -1, "function": {"name": "f", "arguments": "{}"}}]})]);
    assert_eq!((response.calls.len(), &*response.calls[0].name), (1, "f"));
}

#[test]
fn every_line_end_comments_and_a_byte_order_mark() {
    let event = r#"{"choices":[{"delta":{"content":"ü"},"finish_reason":"stop"}]}"#;
    for end in ["\n", "\r\n", "\r"] {
        let body = format!("\u{feff}: hello{end}event: message{end}id: 1{end}data:{event}{end}{end}: bye{end}{end}");
        assert_eq!(of_bytes(body.as_bytes()), Response::from_text("ü"));
        for cut in 0..body.len() {
            let (first, second) = body.as_bytes().split_at(cut);
            let (mut reader, mut collector) = (StreamReader::new(), Collector::new());
            for piece in [first, second] {
                reader.push(piece).unwrap().into_iter().for_each(|chunk| drop(collector.push(chunk)));
            }
            assert_eq!(reader.finish().unwrap(), []);
            assert_eq!(collector.finish().unwrap(), Response::from_text("ü"), "{end:?} {cut}");
        }
    }
}

#[test]
fn d3_the_end_marker_makes_no_difference() {
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    let done = "data: [DONE]\n\n";
    for body in [
        whole.to_owned(),
        format!("{whole}{done}"),
        format!("{whole}{done}{done}"),
        format!("{whole}{done}data: more\n\n"),
    ] {
        assert_eq!(of_bytes(body.as_bytes()), Response::from_text("a"), "{body}");
    }
    assert_eq!(of_bytes(whole.trim_end().as_bytes()), Response::from_text("a"));
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    for body in
        [half.to_owned(), format!("{half}{done}"), format!("{half}{done}{done}"), done.to_owned(), String::new()]
    {
        let mut reader = StreamReader::new();
        reader.push(body.as_bytes()).unwrap();
        assert_eq!(reader.finish().unwrap_err().kind(), ModelErrorKind::Truncated, "{body}");
    }
}

#[test]
fn calls_of_an_answer_that_is_not_streamed_need_no_index() {
    let call = |id: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call("c1", json!("{\"a\":1}")), call("c2", json!("{}"))]});
    let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}});
    let mut collector = Collector::new();
    collector.push(read_answer(body.to_string().as_bytes()).unwrap());
    let response = collector.finish().unwrap();
    assert_eq!(calls(&response), [("c1", "f", "{\"a\":1}"), ("c2", "f", "{}")]);
    assert_eq!((response.warnings, response.usage), (vec![], Some(Usage::new(1, 0))));
}

#[test]
fn a_half_of_a_surrogate_pair_is_an_error_and_no_other_character() {
    let mut reader = StreamReader::new();
    let error = reader.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n").unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ModelErrorKind::Provider, true));
}
