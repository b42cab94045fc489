//! Faults of streams that were reported elsewhere, in the form in which they come over the wire. Made by hand.

use graph_nodes::assemble::{AssemblyWarning, WarningKind};
use graph_nodes::message::{CallStatus, Message};
use graph_nodes::model::{Chunk, CutOff, ModelErrorKind};
use graph_nodes_openai::StreamReader;
use serde_json::{Value, json};

use crate::engine::{WireModel, assert_sound, runner, seat, stage};
use crate::support::{Read, pieces};

fn event(choice: Value) -> String {
    format!("data: {}\n\n", json!({"id": "x", "choices": [choice]}))
}

fn delta(delta: Value) -> String {
    event(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

fn fragment(call: Value) -> String {
    delta(json!({"tool_calls": [call]}))
}

fn finish(reason: &str) -> String {
    event(json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

fn calls(body: &str) -> (Vec<String>, Vec<WarningKind>) {
    let response = Read::whole(body.as_bytes()).response();
    let calls = response.calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments.raw()));
    (calls.collect(), response.warnings.iter().map(AssemblyWarning::kind).collect())
}

const DONE: &str = "data: [DONE]\n\n";

#[test]
fn d1_two_calls_at_index_zero_with_ids_of_their_own_keep_their_arguments() {
    let piece =
        |id: &str, function: Value| fragment(json!({"index": 0, "id": id, "type": "function", "function": function}));
    let start = json!({"name": "km", "arguments": "{\"from\":"});
    // Mixed, then one after the other, then both in one event.
    let mixed = [
        piece("g1", start.clone()),
        piece("g2", start.clone()),
        piece("g1", json!({"arguments": "\"Bern\"}"})),
        piece("g2", json!({"arguments": "\"Thun\"}"})),
    ];
    let in_turn = [
        piece("g1", start.clone()),
        fragment(json!({"index": 0, "function": {"arguments": "\"Bern\"}"}})),
        piece("g2", start),
        fragment(json!({"index": 0, "function": {"arguments": "\"Thun\"}"}})),
    ];
    let whole = |id: &str, city: &str| json!({"index": 0, "id": id, "function": {"name": "km", "arguments": json!({"from": city}).to_string()}});
    let together = [delta(json!({"tool_calls": [whole("g1", "Bern"), whole("g2", "Thun")]}))];
    for stream in [mixed.concat(), in_turn.concat(), together.concat()] {
        let (calls, warnings) = calls(&format!("{stream}{}{DONE}", finish("tool_calls")));
        assert_eq!(calls, [r#"g1 km {"from":"Bern"}"#, r#"g2 km {"from":"Thun"}"#], "{stream}");
        assert_eq!(warnings, [WarningKind::SharedIndex], "{stream}");
    }
}

/// A turn with these answers of the model; its history and the requests.
async fn turn(bodies: impl IntoIterator<Item = String>, piece: usize) -> (Vec<Message>, Vec<Vec<Message>>) {
    let (graph, ran) = stage(1);
    let model = WireModel::new(bodies.into_iter().map(String::into_bytes), piece);
    let end = runner(&graph, &model).thread("t").run(seat().user("go")).await.unwrap();
    assert_sound(&end.state, "a turn");
    assert_eq!(ran.search(), end.state.notes.len());
    let requests = model.requests().into_iter().map(|request| request.messages).collect();
    (end.state.history.iter().cloned().collect(), requests)
}

#[tokio::test(start_paused = true)]
async fn d2_two_blocks_one_after_the_other_are_both_run_without_a_further_turn() {
    // Gateways that translate blocks: text is block 0, a start, pieces and a stop that carries nothing for each call.
    let block = |index: u32, id: &str, city: &str| {
        let start =
            json!({"index": index, "id": id, "type": "function", "function": {"name": "search", "arguments": ""}});
        let piece = |text: &str| fragment(json!({"index": index, "function": {"arguments": text}}));
        [fragment(start), piece(""), piece("{\"city\""), piece(&format!(":\"{city}\"}}")), delta(json!({}))].concat()
    };
    let first = [
        delta(json!({"content": "Both at once."})),
        block(1, "b1", "Bern"),
        block(2, "b2", "Thun"),
        finish("tool_calls"),
    ];
    for piece in [1, 50, usize::MAX] {
        let second = delta(json!({"content": "done"})) + &finish("stop");
        let (history, requests) = turn([first.concat(), second], piece).await;
        let answers: Vec<_> = history.iter().filter_map(|message| message.call_id().zip(message.status())).collect();
        assert_eq!(answers, [("b1", CallStatus::Ok), ("b2", CallStatus::Ok)]);
        assert_eq!((requests.len(), history.len()), (2, 5));
    }
}

#[test]
fn d3_the_end_marker_may_be_missing_or_come_twice_and_makes_nothing_complete() {
    let text = delta(json!({"content": "Guten Tag"}));
    let reason = finish("stop");
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
    for end in [
        DONE.to_owned(),
        String::new(),
        DONE.repeat(2),
        "data: [DONE]".to_owned(),
        "data:[DONE]\r\n\r\n".to_owned(),
        format!("{DONE}: bye\n\n"),
        format!("{usage}{DONE}"),
        // What a proxy appends after the end is no part of the answer.
        format!("{DONE}{text}"),
        format!("{DONE}data: {{\"error\":\"late\"}}\n\n"),
    ] {
        let response = Read::whole(format!("{text}{reason}{end}").as_bytes()).response();
        assert_eq!((response.text.as_str(), response.cut_off()), ("Guten Tag", None), "{end:?}");
        assert_eq!(response.usage.is_some(), end.contains("usage"), "{end:?}");
    }
    for end in [String::new(), DONE.to_owned(), DONE.repeat(2), format!("{DONE}{reason}"), format!("{usage}{DONE}")] {
        let read = Read::whole(format!("{text}{end}").as_bytes());
        assert_eq!(read.error.as_ref().map(|error| error.kind()), Some(ModelErrorKind::Truncated), "{end:?}");
        assert_eq!(read.collector().finish().unwrap().cut_off(), Some(CutOff::NoFinishReason), "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn d4_text_and_call_are_in_the_second_request_once_streamed_or_not() {
    let call = |arguments: &str| json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": arguments}});
    let whole = event(json!({
        "index": 0,
        "delta": {"role": "assistant", "content": "One moment.", "tool_calls": [call("{\"city\":\"Bern\"}")]},
        "finish_reason": "tool_calls",
    }));
    let pieces = [
        delta(json!({"role": "assistant", "content": null})),
        delta(json!({"content": "One "})),
        delta(json!({"content": "moment."})),
        fragment(call("{\"ci")),
        fragment(json!({"index": 0, "function": {"arguments": "ty\":\"Bern\"}"}})),
        finish("tool_calls"),
    ];
    let done = || delta(json!({"content": "done"})) + &finish("stop") + DONE;
    let (plain, _) = turn([whole, done()], usize::MAX).await;
    let (streamed, requests) = turn([pieces.concat(), done()], 3).await;
    assert_eq!(plain, streamed);
    let [user, said, answer] = requests[1].as_slice() else { panic!("{requests:#?}") };
    assert_eq!((user.text().as_str(), said.text().as_str(), said.calls().len()), ("go", "One moment.", 1));
    assert_eq!((answer.call_id(), answer.text().as_str()), (Some("c1"), "two hotels"));
}

#[test]
fn s3_a_character_over_two_pieces_is_one_character() {
    let body = delta(json!({"content": "日本ü🏨"})) + &finish("stop");
    for first in 0..=body.len() {
        for second in (first..=body.len()).step_by(7) {
            let read = Read::of(StreamReader::new(), pieces(body.as_bytes(), &[first, second]));
            assert_eq!(read.chunks[0], Chunk::text("日本ü🏨"), "cuts at {first} and {second}");
            assert_eq!(read.chunks.len(), 2);
            assert_eq!(read.told(), None);
        }
    }
}

#[test]
fn s3_bytes_that_are_no_text_are_an_error_that_says_where() {
    let mut body = delta(json!({"content": "ok"})).into_bytes();
    let start = body.len();
    body.extend_from_slice(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xe6\x97\"}}]}\n\n");
    for at in 0..=body.len() {
        let read = Read::of(StreamReader::new(), pieces(&body, &[at]));
        let error = read.error.as_ref().expect("an error");
        let place = format!("the stream is not UTF-8 at byte {}", start + 39);
        assert!(error.to_string().contains(&place), "{error}, cut at {at}");
        assert_eq!((error.kind(), error.is_retryable()), (ModelErrorKind::Provider, true));
        // Nothing of the bad event is shown, and no character stands for it.
        assert_eq!(read.chunks, [Chunk::text("ok")]);
    }
}
