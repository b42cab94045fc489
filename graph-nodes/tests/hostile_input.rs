//! Input that nobody sends by mistake: typed errors, and a history that can still be sent.

use graph_engine::Log;
use graph_nodes::assemble::{Assembler, CallDelta};
use graph_nodes::message::{
    Arguments, ArgumentsError, CallFault, FinishReason, Message, ToolCall, add_messages, check_history,
};
use graph_nodes::model::{ChatModel, Chunk, Collector, Request, Response, ScriptedModel, Turn};
use serde_json::{Value, json};

/// The response as it enters the history, answered: whatever was in it can be sent again and stored.
fn sendable(response: &Response) {
    let mut history = vec![Message::user("go"), response.to_message()];
    history.extend(response.calls.iter().map(|call| {
        let fault = call.fault().map_or("done".to_owned(), |fault| fault.to_string());
        Message::tool(&call.id, fault).with_tool_name(&call.name)
    }));
    assert_eq!(check_history(&history), Ok(()));
    let text = serde_json::to_string(&history).unwrap();
    assert!(serde_json::from_str::<Vec<Message>>(&text).unwrap() == history);
    assert!(add_messages(&Log::new(), history.into_iter().collect()).unwrap().len() >= 2);
}

fn one_call(name: &str, arguments: &str) -> Response {
    let mut collector = Collector::new();
    collector.push(Chunk::call(CallDelta::new().at(0).id("c1").name(name).text(arguments)));
    collector.push(Chunk::finish(FinishReason::ToolCalls));
    collector.finish().unwrap()
}

#[test]
fn malformed_arguments_are_faults_and_never_repaired() {
    for text in [
        "{",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\":NaN}",
        "{\"a\":1}}",
        "nul",
        "\"",
        "{\"a\":\"\n\"}",
        "{\"a\":01}",
        "\u{feff}{}",
    ] {
        let response = one_call("f", text);
        assert!(
            matches!(response.calls[0].fault(), Some(CallFault::Arguments(ArgumentsError::Invalid { .. }))),
            "{text:?}"
        );
        assert_eq!(response.calls[0].arguments.raw(), text);
        sendable(&response);
    }
}

#[test]
fn arguments_nested_too_deeply_are_a_fault_and_no_stack_overflows() {
    for depth in [127, 128, 1_000, 1_000_000] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let arguments = Arguments::from_text(&text);
        match arguments.parsed() {
            Ok(_) => assert!(depth < 127),
            Err(ArgumentsError::Invalid { message }) => {
                assert!(message.starts_with("recursion limit exceeded"), "{message}")
            }
            Err(other) => panic!("{other}"),
        }
        sendable(&one_call("f", &text));
        drop(arguments);
    }
    let open = one_call("f", &"{\"a\":".repeat(1_000_000));
    assert!(open.calls[0].fault().is_some());
    sendable(&open);
    let deep =
        format!("{{\"role\":\"assistant\",\"content\":[{{\"type\":\"reasoning\",\"reasoning\":{}", "[".repeat(100_000));
    assert!(serde_json::from_str::<Message>(&deep).unwrap_err().to_string().starts_with("recursion limit exceeded"));
}

#[tokio::test]
async fn an_answer_of_ten_megabytes_is_taken_whole() {
    let text = "Grüezi ".repeat(10 * 1024 * 1024 / 8);
    let turn = Turn::text(&text).cut_at((0..1_000).map(|n| n * text.len() / 1_000));
    let response = ScriptedModel::new([turn]).complete(Request::new([Message::user("go")])).await.unwrap();
    assert!(response.text == text);
    sendable(&response);
    let arguments = json!({"q": text}).to_string();
    let response = one_call("f", &arguments);
    assert_eq!(response.calls[0].fault(), None);
    assert_eq!(response.calls[0].arguments.parsed().unwrap()["q"].as_str().map(str::len), Some(text.len()));
    sendable(&response);
}

#[test]
fn hostile_names_are_kept_as_they_are_and_blank_ones_are_a_fault() {
    let long = "x".repeat(1 << 20);
    for name in
        ["\u{0}", "a\nb", "\u{202e}eman", "日本", "🏨", "../../etc", "f\"},{\"", "__proto__", "\u{1b}[31m", &long]
    {
        let response = one_call(name, "{}");
        assert!(response.calls[0].name == name);
        assert_eq!(response.calls[0].fault(), None);
        sendable(&response);
    }
    for name in ["", " ", "\n\t", "\u{a0}"] {
        let response = one_call(name, "{}");
        assert_eq!(response.calls[0].fault(), Some(CallFault::MissingName), "{name:?}");
        sendable(&response);
    }
    // As an id: present, distinct, and answered.
    for id in ["\u{0}", "日本", &long] {
        let mut assembler = Assembler::new();
        assembler.push(CallDelta::new().at(0).id(id).name("f").text("{}"));
        assembler.push(CallDelta::new().at(1).id(id).name("f").text("{}"));
        let calls = assembler.finish().unwrap().calls;
        assert!(calls[0].id == id);
        assert_eq!(calls[1].id, "call_auto_0");
        sendable(&Response::from_calls(calls));
    }
}

#[test]
fn lone_surrogates_are_a_fault_and_pairs_are_not() {
    for (text, good) in [
        (r#"{"q":"\ud83c"}"#, false),
        (r#"{"q":"\udfe8\ud83c"}"#, false),
        (r#"{"q":"\ud83cx"}"#, false),
        (r#"{"\ud83c":1}"#, false),
        (r#"{"q":"\ud83c\udfe8"}"#, true),
    ] {
        let response = one_call("f", text);
        assert_eq!(response.calls[0].fault().is_none(), good, "{text}");
        assert_eq!(response.calls[0].arguments.raw(), text);
        sendable(&response);
    }
    // The two halves may come in two pieces.
    let mut assembler = Assembler::new();
    assembler.push(CallDelta::new().at(0).id("c").name("f").text(r#"{"q":"\ud83c"#));
    assembler.push(CallDelta::new().at(0).text(r#"\udfe8"}"#));
    assert_eq!(assembler.finish().unwrap().calls[0].arguments.parsed().unwrap()["q"], "🏨");
    assert!(serde_json::from_str::<Message>(r#"{"role":"user","content":"\ud83c"}"#).is_err());
}

#[test]
fn numbers_beyond_every_type_are_a_fault_or_kept() {
    for (text, good) in [(r#"{"n":1e999}"#, false), (r#"{"n":18446744073709551616}"#, true), (r#"{"n":-0.0}"#, true)] {
        let call = ToolCall::from_text("c", "f", text);
        assert_eq!(call.fault().is_none(), good, "{text}");
        assert_eq!(serde_json::to_value(&call).unwrap()["function"]["arguments"], Value::from(text));
    }
}
