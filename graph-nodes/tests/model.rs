//! Scripted models, models of closures, and how a stream becomes a response.

use std::error::Error as _;
use std::time::Duration;

use graph_nodes::assemble::{AssemblyError, CallDelta};
use graph_nodes::message::{FinishReason, Message, ToolCall, Usage};
use graph_nodes::model::{
    ChatModel, Chunk, CutOff, FnModel, ModelError, Request, Response, ScriptError, ScriptedModel, Turn,
};
use serde_json::json;
use tokio::time::Instant;

fn ask() -> Request {
    Request::new([Message::user("hi")])
}

fn search(id: &str) -> ToolCall {
    ToolCall::new(id, "search", &json!({"q": "日本"}))
}

async fn one(turn: Turn) -> Response {
    ScriptedModel::new([turn]).complete(ask()).await.unwrap()
}

#[tokio::test]
async fn a_turn_survives_cuts_at_every_byte() {
    for cut in 0..20 {
        let turn = Turn::text("grüße 🏨").with_call(search("a")).with_call(search("b")).cut_at([cut, cut + 1]);
        let response = one(turn).await;
        assert_eq!(response.text, "grüße 🏨");
        assert_eq!(response.calls, [search("a"), search("b")]);
        assert_eq!(response.finish, Some(FinishReason::ToolCalls));
        assert_eq!(response.usage, Some(Usage::new(100, 10)));
        assert_eq!(response.warnings, []);
    }
}

#[tokio::test]
async fn s44_s45_calls_are_kept_whatever_complete_reason_ends_the_stream() {
    let stop = one(Turn::calls([search("a")]).with_finish(FinishReason::Stop)).await;
    assert_eq!(stop.executable_calls(), Ok(&[search("a")][..]));

    let call = Chunk::call(CallDelta::new().at(0).id("a").name("search").text(r#"{"q":"日本"}"#));
    let twice = [call, Chunk::finish(FinishReason::ToolCalls), Chunk::finish(FinishReason::Stop)];
    let twice = one(Turn::chunks(twice)).await;
    assert_eq!(twice.executable_calls(), Ok(&[search("a")][..]));
    assert_eq!(twice.finish, Some(FinishReason::ToolCalls));
}

#[tokio::test]
async fn s46_finish_tool_calls_without_calls_is_an_empty_response() {
    let response = one(Turn::calls([])).await;
    assert!(response.is_empty());
    assert_eq!(response.executable_calls(), Ok(&[][..]));
}

#[tokio::test]
async fn s47_content_and_calls_are_both_kept() {
    let response = one(Turn::text("One moment.").with_call(search("a"))).await;
    assert_eq!((response.text.as_str(), response.calls.len()), ("One moment.", 1));
    assert_eq!(response.to_message().text(), "One moment.");
    assert_eq!(response.to_message().calls(), [search("a")]);
}

#[tokio::test]
async fn a_cut_off_response_has_no_executable_calls_and_says_why() {
    for (turn, cut) in [
        (Turn::calls([search("a")]).with_finish(FinishReason::Length), CutOff::Length),
        (Turn::calls([search("a")]).with_finish(FinishReason::ContentFilter), CutOff::ContentFilter),
        (Turn::calls([search("a")]).without_finish(), CutOff::NoFinishReason),
    ] {
        let response = one(turn).await;
        assert_eq!(response.calls.len(), 1);
        assert_eq!(response.executable_calls(), Err(cut));
    }
}

#[tokio::test]
async fn a_cut_is_not_talked_away_by_a_second_finish_reason() {
    for reasons in [[FinishReason::Length, FinishReason::Stop], [FinishReason::Stop, FinishReason::Length]] {
        let response = one(Turn::chunks(reasons.map(Chunk::finish))).await;
        assert_eq!(response.finish, Some(FinishReason::Length));
    }
}

#[tokio::test]
async fn an_error_in_the_middle_keeps_what_had_arrived() {
    let turn = Turn::text("half an answer").cut_at([4]).broken_after(1, ModelError::transport("reset"));
    let error = ScriptedModel::new([turn]).complete(ask()).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(error.to_string(), "the model's stream broke off (reset); try again");
    let received = error.received().unwrap();
    assert_eq!((received.text.as_str(), received.cut_off()), ("half", Some(CutOff::NoFinishReason)));
}

#[tokio::test]
async fn an_error_before_the_first_chunk_stays_what_it_is() {
    for turn in [
        Turn::error(ModelError::transport("refused")),
        Turn::text("never").broken_after(0, ModelError::transport("refused")),
    ] {
        let error = ScriptedModel::new([turn]).complete(ask()).await.unwrap_err();
        assert_eq!(error.to_string(), "the model could not be reached (refused); try again");
    }
}

#[tokio::test]
async fn unused_and_missing_turns_are_errors() {
    let model = ScriptedModel::new([Turn::text("a"), Turn::text("b")]);
    model.complete(ask()).await.unwrap();
    assert_eq!(model.assert_done(), Err(ScriptError::Unused { turns: 1 }));
    model.complete(ask()).await.unwrap();
    assert_eq!(model.assert_done(), Ok(()));
    let error = model.complete(ask()).await.unwrap_err();
    assert!(matches!(error, ModelError::ScriptExhausted { request: 3 }));
    assert_eq!(model.assert_done(), Err(ScriptError::Missing { requests: 1 }));
    assert_eq!(model.requests(), vec![ask(); 3]);
}

#[test]
fn one_is_told_in_the_singular() {
    let texts = [
        (ScriptError::Unused { turns: 1 }, "1 scripted turn was not used; remove it, or find out why nobody asked"),
        (ScriptError::Unused { turns: 2 }, "2 scripted turns were not used; remove them, or find out why nobody asked"),
        (ScriptError::Missing { requests: 1 }, "1 request found no scripted turn; add one, or find out who asked"),
        (ScriptError::Missing { requests: 2 }, "2 requests found no scripted turn; add some, or find out who asked"),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn the_reason_is_in_the_text_or_behind_source_and_never_in_both() {
    let refused = ModelError::from(AssemblyError::MissingId { call: 0 });
    let text = "the model's tool calls can't be used: call 0 has no id; ask the provider, or use the lenient policy";
    assert_eq!((refused.to_string().as_str(), refused.source().is_none()), (text, true));
    let client = Some("tls handshake".into());
    let lost = ModelError::Transport { message: "no answer".into(), source: client };
    assert_eq!(lost.to_string(), "the model could not be reached (no answer); try again");
    assert_eq!(lost.source().map(ToString::to_string).as_deref(), Some("tls handshake"));
    assert_eq!(ModelError::Cancelled.to_string(), "the model call was cancelled; ask again");
}

#[tokio::test(start_paused = true)]
async fn delays_run_on_the_clock_of_tokio() {
    let start = Instant::now();
    let turn =
        Turn::text("ab").cut_at([1]).with_delay(Duration::from_secs(1)).with_chunk_delay(Duration::from_millis(10));
    one(turn).await;
    // Two texts, the finish reason, the usage.
    assert_eq!(start.elapsed(), Duration::from_millis(1040));
}

#[tokio::test]
async fn refusal_and_reasoning_are_collected() {
    let response = one(Turn::chunks([
        Chunk::reasoning("let me "),
        Chunk::reasoning("think"),
        Chunk::reasoning(json!({"signature": "s"})),
        Chunk::refusal("I can't "),
        Chunk::refusal("do that."),
        Chunk::finish(FinishReason::Stop).with_usage(Usage::new(1, 1)),
        Chunk::usage(Usage::new(1, 2)),
    ]))
    .await;
    assert_eq!(response.reasoning, [json!("let me think"), json!({"signature": "s"})]);
    assert_eq!(response.refusal.as_deref(), Some("I can't do that."));
    assert_eq!(response.usage, Some(Usage::new(1, 2)));
    assert!(!response.is_empty());
}

#[tokio::test]
async fn structured_output_is_the_text_of_a_request_with_a_schema() {
    let model = ScriptedModel::new([Turn::text("{}"), Turn::text("{}")]);
    let plain = model.complete(ask()).await.unwrap();
    assert_eq!(plain.structured_output(), None);
    let structured = model.complete(ask().with_response_schema(json!({"type": "object"}))).await.unwrap();
    assert_eq!(structured.structured_output(), Some("{}"));
}

#[tokio::test]
async fn closures_are_models() {
    let sync = FnModel::new("sync", |_| Ok(Response::from_calls([search("a")])));
    let response = sync.complete(ask()).await.unwrap();
    assert_eq!(response, Response::from_calls([search("a")]));

    let waiting = FnModel::new_async("async", async |request: Request| {
        tokio::task::yield_now().await;
        Ok(vec![Chunk::text(request.messages[0].text()), Chunk::finish(FinishReason::Stop)])
    });
    assert_eq!(waiting.complete(ask()).await.unwrap().text, "hi");
    assert_eq!(waiting.name(), "async");

    let failing = FnModel::new("failing", |_| Err::<Response, _>(ModelError::rejected("no")));
    assert!(!failing.complete(ask()).await.unwrap_err().is_retryable());
}

#[test]
fn equal_requests_have_equal_canonical_text() {
    let schema = json!({"type": "object", "properties": {"b": {}, "a": {}}});
    let one =
        ask().with_parameter("z", 1).with_parameter("a", json!({"y": 1, "x": 2})).with_response_schema(schema.clone());
    let other = ask().with_response_schema(schema).with_parameter("a", json!({"x": 2, "y": 1})).with_parameter("z", 1);
    assert_eq!(one.canonical_json(), other.canonical_json());
    let back: Request = serde_json::from_str(&one.canonical_json()).unwrap();
    assert_eq!(back, one);
}
