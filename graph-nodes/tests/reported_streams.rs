//! Faults of streams and messages that were reported elsewhere, each with an input of its own.

use std::sync::Arc;

use graph_engine::{Graph, Log, START, State};
use graph_nodes::assemble::{ArgumentsDelta, Assembler, CallDelta, WarningKind, count_warnings};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{CallStatus, FinishReason, Message, ToolCall, check_history};
use graph_nodes::model::{ChatModel, Chunk, Collector, CutOff, Response, ScriptedModel, SseDecoder, SseError, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{ToolBox, tool};
use serde_json::{Value, json};

fn delta(value: &Value) -> CallDelta {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    CallDelta {
        index: value["index"].as_u64().and_then(|index| u32::try_from(index).ok()),
        id: text(&value["id"]),
        name: text(&value["function"]["name"]),
        arguments: ArgumentsDelta::from(value["function"].get("arguments").cloned()),
    }
}

/// The calls of a stream in OpenAI's form, as `id name arguments`, and the kinds of warnings.
fn calls(deltas: &[Value]) -> (Vec<String>, Vec<WarningKind>) {
    let mut assembler = Assembler::new();
    for value in deltas {
        assembler.push(delta(value));
    }
    let assembly = assembler.finish().unwrap();
    let calls = assembly.calls.iter().map(|call| {
        assert_eq!(call.fault(), None);
        format!("{} {} {}", call.id, call.name, call.arguments.raw())
    });
    (calls.collect(), count_warnings(&assembly.warnings).into_keys().collect())
}

#[test]
fn report_1_deltas_without_an_index_are_one_call() {
    let (calls, warnings) = calls(&[
        json!({"id": "call_7", "type": "function", "function": {"name": "list_rooms", "arguments": ""}}),
        json!({"function": {"arguments": "{\"floor\""}}),
        json!({"function": {"arguments": ": 3}"}}),
    ]);
    assert_eq!(calls, [r#"call_7 list_rooms {"floor": 3}"#]);
    assert_eq!(warnings, [WarningKind::MissingIndex]);
}

#[test]
fn report_2_calls_without_an_index_stay_apart_and_a_late_index_keeps_the_order() {
    let (none, _) = calls(&[
        json!({"id": "r1", "function": {"name": "rate", "arguments": "{\"hotel\":"}}),
        json!({"function": {"arguments": "\"Adler\"}"}}),
        json!({"id": "r2", "function": {"name": "rate", "arguments": "{\"hotel\":\"Krone\"}"}}),
    ]);
    assert_eq!(none, [r#"r1 rate {"hotel":"Adler"}"#, r#"r2 rate {"hotel":"Krone"}"#]);
    let (late, _) = calls(&[
        json!({"id": "r1", "function": {"name": "rate", "arguments": ""}}),
        json!({"index": 0, "function": {"arguments": "{\"hotel\":\"Adler\"}"}}),
        json!({"index": 1, "id": "r2", "function": {"name": "book", "arguments": "{}"}}),
    ]);
    assert_eq!(late, [r#"r1 rate {"hotel":"Adler"}"#, "r2 book {}"]);
}

#[test]
fn report_4_two_whole_calls_at_index_zero_are_two() {
    let (calls, warnings) = calls(&[
        json!({"index": 0, "id": "a", "function": {"name": "find", "arguments": "{\"author\": \"Ursula\"}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "find", "arguments": "{\"author\": \"Octavia\"}"}}),
    ]);
    assert_eq!(calls, [r#"a find {"author": "Ursula"}"#, r#"b find {"author": "Octavia"}"#]);
    assert_eq!(warnings, [WarningKind::SharedIndex]);
}

#[test]
fn report_7_id_type_and_name_in_every_chunk_count_once() {
    let piece = |arguments: &str| {
        json!({"index": 0, "id": "fw_1", "type": "function",
               "function": {"name": "roll_dice", "arguments": arguments}})
    };
    let (calls, warnings) = calls(&[piece("{\"si"), piece("des\":"), piece("20}"), piece("")]);
    assert_eq!(calls, [r#"fw_1 roll_dice {"sides":20}"#]);
    assert_eq!(warnings, [WarningKind::RepeatedName]);
}

#[test]
fn report_8_a_repeated_name_and_a_long_id_are_kept_once() {
    let id = format!("call_{}", "0f".repeat(29));
    let piece =
        |arguments: &str| json!({"index": 0, "id": id, "function": {"name": "web_search", "arguments": arguments}});
    let (calls, _) = calls(&[piece(""), piece("{\"q\":\"x\"}")]);
    assert_eq!(calls, [format!(r#"{id} web_search {{"q":"x"}}"#)]);
    assert_eq!(id.len(), 63);
}

#[test]
fn report_9_empty_arguments_after_a_whole_call_open_no_second_one() {
    let (calls, _) = calls(&[
        json!({"index": 0, "id": "c", "function": {"name": "now", "arguments": "{\"zone\":\"CET\"}"}}),
        json!({"index": 0, "id": "c", "function": {"name": "now", "arguments": ""}}),
        json!({"index": 0, "function": {"arguments": ""}}),
    ]);
    assert_eq!(calls, [r#"c now {"zone":"CET"}"#]);
}

#[test]
fn report_10_another_id_in_each_chunk_is_one_call_with_the_first() {
    let piece =
        |n: usize, arguments: &str| json!({"index": 0, "id": format!("t{n}"), "function": {"arguments": arguments}});
    let first = json!({"index": 0, "id": "t0", "function": {"name": "swim", "arguments": "{"}});
    let (calls, warnings) = calls(&[first, piece(1, "\"laps\""), piece(2, ":"), piece(3, "4}")]);
    assert_eq!(calls, [r#"t0 swim {"laps":4}"#]);
    assert_eq!(warnings, [WarningKind::UnstableId]);
}

#[test]
fn report_15_arguments_as_an_object_equal_those_as_text() {
    let object =
        calls(&[json!({"index": 0, "id": "m", "function": {"name": "set", "arguments": {"on": true, "n": [1]}}})]);
    let text =
        calls(&[json!({"index": 0, "id": "m", "function": {"name": "set", "arguments": "{\"n\":[1],\"on\":true}"}})]);
    let parsed = |call: &str| serde_json::from_str::<Value>(call.splitn(3, ' ').last().unwrap()).unwrap();
    assert_eq!(parsed(&object.0[0]), parsed(&text.0[0]));
}

#[test]
fn report_17_a_name_that_comes_late_or_blank_first_keeps_the_arguments() {
    for first in [json!({"arguments": "{\"a\""}), json!({"name": "", "arguments": "{\"a\""})] {
        let (calls, warnings) = calls(&[
            json!({"index": 0, "id": "late", "function": first}),
            json!({"index": 0, "function": {"name": "compare", "arguments": ":1"}}),
            json!({"index": 0, "function": {"arguments": "}"}}),
        ]);
        assert_eq!(calls, [r#"late compare {"a":1}"#]);
        assert_eq!(warnings, []);
    }
}

#[test]
fn report_18_calls_run_whatever_complete_reason_ends_the_stream() {
    for reasons in [&["tool_calls", "stop"][..], &["stop"]] {
        let mut collector = Collector::new();
        collector.push(Chunk::call(CallDelta::new().at(0).id("c").name("go").text("{}")));
        for reason in reasons {
            collector.push(Chunk::finish(FinishReason::from(*reason)));
        }
        assert_eq!(collector.finish().unwrap().executable_calls().map(<[_]>::len), Ok(1));
    }
}

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

/// Runs a turn with two tools; returns the history and the requests.
async fn turn(turns: impl IntoIterator<Item = Turn>) -> (Vec<Message>, Vec<Vec<Message>>) {
    let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    let named = |name: &'static str| {
        tool::<Trip, std::collections::BTreeMap<String, Value>>(name, "A tool.", move |args, _| async move {
            Ok(format!("{name} of {}", args.into_keys().collect::<Vec<_>>().join(",")).into())
        })
    };
    let tools = ToolBox::builder().tool(named("ping")).tool(named("add_task")).build().unwrap();
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            let names = ["ping", "add_task"];
            let agent = AgentNode::new("explore", seat).tools(tools.clone()).with_tools(names);
            let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new()).calls("tools");
            let run = ToolsNode::new("explore", seat, tools, names).then("agent");
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let model = ScriptedModel::new(turns);
    let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
    let end = graph.runner().provide_arc(shared).thread("guest-7").run(seat.user("go")).await.unwrap();
    model.assert_done().unwrap();
    let history: Vec<Message> = end.state.history.iter().cloned().collect();
    check_history(&history).unwrap();
    (history, model.requests().into_iter().map(|request| request.messages).collect())
}

/// The answers of a history: call id, text.
fn answers(history: &[Message]) -> Vec<(&str, String)> {
    let answers = history.iter().filter(|message| message.call_id().is_some());
    answers.map(|message| (message.call_id().unwrap(), message.text())).collect()
}

#[tokio::test(start_paused = true)]
async fn report_11_three_calls_of_one_tool_at_index_zero_get_three_answers() {
    let call = |id: &str, arguments: &str| Chunk::call(CallDelta::new().at(0).id(id).name("add_task").text(arguments));
    let chunks = [call("t1", r#"{"a":1}"#), call("t2", r#"{"b":1}"#), call("t3", r#"{"c":1}"#)];
    let chunks = chunks.into_iter().chain([Chunk::finish(FinishReason::ToolCalls)]);
    let (history, _) = turn([Turn::chunks(chunks), Turn::text("done")]).await;
    let expected = [("t1", "a"), ("t2", "b"), ("t3", "c")].map(|(id, key)| (id, format!("add_task of {key}")));
    assert_eq!(answers(&history), expected);
}

#[tokio::test(start_paused = true)]
async fn report_14_empty_arguments_of_a_tool_without_parameters_run_it_once() {
    let chunk = Chunk::call(CallDelta::new().at(0).id("p").name("ping").text("")).with_finish(FinishReason::ToolCalls);
    let (history, requests) = turn([Turn::chunks([chunk]), Turn::text("done")]).await;
    assert_eq!(answers(&history), [("p", "ping of ".to_owned())]);
    assert_eq!(history[2].status(), Some(CallStatus::Ok));
    assert_eq!(requests.len(), 2);
}

#[test]
fn d1_parallel_calls_of_a_gateway_at_index_zero_keep_their_arguments() {
    let (calls, _) = calls(&[
        json!({"index": 0, "id": "g1", "function": {"name": "km", "arguments": "{\"from\":"}}),
        json!({"index": 0, "id": "g2", "function": {"name": "km", "arguments": "{\"from\":"}}),
        json!({"index": 0, "id": "g1", "function": {"arguments": "\"Bern\"}"}}),
        json!({"index": 0, "id": "g2", "function": {"arguments": "\"Thun\"}"}}),
    ]);
    assert_eq!(calls, [r#"g1 km {"from":"Bern"}"#, r#"g2 km {"from":"Thun"}"#]);
}

#[tokio::test(start_paused = true)]
async fn d2_blocks_with_start_delta_and_stop_are_both_run_without_a_further_turn() {
    // Text is block 0; a stop carries nothing.
    let block = |index: u32, id: &str, name: &str, key: &str| {
        let piece = |text: String| Chunk::call(CallDelta::new().at(index).text(text));
        let start = Chunk::call(CallDelta::new().at(index).id(id).name(name));
        [start, piece(String::new()), piece(format!("{{\"{key}\"")), piece(":1}".to_owned()), Chunk::new()]
    };
    let chunks = [Chunk::text("Both at once.")]
        .into_iter()
        .chain(block(1, "b1", "ping", "x"))
        .chain(block(2, "b2", "add_task", "y"))
        .chain([Chunk::finish(FinishReason::ToolCalls)]);
    let (history, requests) = turn([Turn::chunks(chunks), Turn::text("done")]).await;
    assert_eq!(answers(&history), [("b1", "ping of x".to_owned()), ("b2", "add_task of y".to_owned())]);
    assert_eq!(requests.len(), 2);
}

/// A body, decoded and collected.
fn collect(body: &str) -> Response {
    let mut decoder = SseDecoder::new();
    let mut events = decoder.push(body.as_bytes()).unwrap();
    events.extend(decoder.finish().unwrap());
    let mut collector = Collector::new();
    for event in &events {
        let event: Value = serde_json::from_str(event).expect("an event is JSON");
        let mut chunk = Chunk::new();
        chunk.text = event["text"].as_str().map(str::to_owned);
        chunk.finish = event["finish"].as_str().map(FinishReason::from);
        collector.push(chunk);
    }
    collector.finish().unwrap()
}

#[test]
fn d3_a_response_ends_by_its_finish_reason_with_or_without_the_done_marker() {
    let text = "data: {\"text\":\"Guten Tag\"}\n\n";
    let finish = "data: {\"finish\":\"stop\"}\n\n";
    let done = "data: [DONE]\n\n";
    for end in [done.to_owned(), String::new(), done.repeat(2), "data: [DONE]".to_owned(), format!("{done}: bye\n\n")] {
        let response = collect(&format!("{text}{finish}{end}"));
        assert_eq!((response.text.as_str(), response.cut_off()), ("Guten Tag", None), "{end:?}");
    }
    for end in ["", done] {
        assert_eq!(collect(&format!("{text}{end}")).cut_off(), Some(CutOff::NoFinishReason));
    }
    // What a proxy appends after the end is no part of the response.
    assert_eq!(collect(&format!("{text}{finish}{done}{text}")).text, "Guten Tag");
}

#[tokio::test(start_paused = true)]
async fn d4_text_and_call_are_in_the_history_before_the_answer_once_streamed_or_not() {
    let whole = || Turn::text("One moment.").with_call(ToolCall::new("c1", "ping", &json!({"k": 1})));
    let (plain, _) = turn([whole(), Turn::text("done")]).await;
    let (streamed, requests) = turn([whole().cut_at([1, 2, 5, 9]), Turn::text("done")]).await;
    assert_eq!(plain, streamed);
    let [user, said, answer] = requests[1].as_slice() else { panic!("{requests:#?}") };
    assert_eq!((user.text().as_str(), said.text().as_str(), said.calls().len()), ("go", "One moment.", 1));
    assert_eq!((answer.call_id(), answer.text().as_str()), (Some("c1"), "ping of k"));
}

#[test]
fn s3_a_character_over_two_chunks_is_one_character() {
    let body = "\u{feff}: hello\r\nevent: x\r\ndata: {\"text\":\"日本ü🏨\"}\r\n\r\ndata: a\ndata:b\n\ndata: [DONE]\n\n"
        .as_bytes();
    let expected = ["{\"text\":\"日本ü🏨\"}", "a\nb"];
    for first in 0..=body.len() {
        for second in first..=body.len() {
            let mut decoder = SseDecoder::new();
            let mut events = Vec::new();
            for piece in [&body[..first], &body[first..second], &body[second..]] {
                events.extend(decoder.push(piece).unwrap());
            }
            assert!(decoder.is_done());
            assert_eq!(events, expected, "cuts at {first} and {second}");
            assert_eq!(decoder.finish(), Ok(None));
        }
    }
}

#[test]
fn s3_bytes_that_are_no_text_are_an_error_that_says_where() {
    for (bytes, offset) in
        [(&b"data: ok\n\ndata: \xe6\x97\n"[..], 16), (b"data: \xc0\xaf\n", 6), (b"\r\n\r\n\xff\n", 4)]
    {
        for cut in 0..bytes.len() {
            let mut decoder = SseDecoder::new();
            let result = decoder.push(&bytes[..cut]).and_then(|_| decoder.push(&bytes[cut..]));
            assert_eq!(result, Err(SseError::NotUtf8 { offset }), "{bytes:?} at {cut}");
        }
    }
    // The stream ended within a character.
    let mut decoder = SseDecoder::new();
    assert_eq!(decoder.push(b"data: \xe6\x97"), Ok(Vec::new()));
    assert_eq!(decoder.finish(), Err(SseError::NotUtf8 { offset: 6 }));
}
