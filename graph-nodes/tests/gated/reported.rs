//! Faults that were reported of other systems, with input of our own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use graph_engine::{Graph, Log, START, State};
use graph_nodes::gate::{Code, Cost, GatedError, GatedEvent, Streaming, StructuredOutput, Validators, Verdict};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ModelError, Response, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, GatedNode, Seat, StageError, ToolsNode};
use graph_nodes::tool::{ToolBox, tool};

use crate::support::{agent, ask, attempts, call, gate, run, run_with, turn};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Room {
    #[expect(dead_code, reason = "only read")]
    beds: u8,
}

fn rooms<S: Sync + 'static>() -> Validators<S> {
    Validators::new().with_structured(StructuredOutput::of::<Room>().unwrap())
}

#[tokio::test(start_paused = true)]
async fn s1_structured_output_that_is_never_valid_ends_at_three_attempts_with_the_last_answer_and_the_reasons() {
    let never = || [Turn::text("two beds"), Turn::text(r#"{"beds": "two"}"#), Turn::text(r#"{"beds": 256}"#)];
    let ran = run(graph_nodes::gate::GatePolicy::new(), rooms(), never()).await;
    let failure = ran.end.as_ref().unwrap_err();
    assert_eq!((ran.asked(), failure.ledger.tokens()), (3, 330));
    assert_eq!(failure.last.as_ref().unwrap().text, r#"{"beds": 256}"#);
    let GatedError::Exhausted(reasons) = &*failure.error else { panic!("{failure}") };
    let codes: Vec<_> = reasons.attempts.iter().flat_map(|attempt| attempt.codes()).collect();
    assert_eq!(codes, [Code::PARSE, Code::SCHEMA, Code::SCHEMA]);

    // In a stage the error says the same.
    let model = ScriptedModel::new(never());
    let ran = turn(GatedNode::new(agent(&model), gate(graph_nodes::gate::GatePolicy::new(), rooms()))).await;
    let StageError::Exhausted { failure, ledger, last, .. } = ran.stage_error() else { panic!() };
    assert_eq!((model.requests().len(), ledger.tokens(), failure.attempts.len()), (3, 330, 3));
    assert_eq!(last.as_ref().unwrap().text, r#"{"beds": 256}"#);
}

#[tokio::test(start_paused = true)]
async fn report_25_an_acceptance_after_failed_attempts_gives_the_tokens_of_all() {
    let ran = run(attempts(3), rooms(), [Turn::text("?").with_usage(70, 7), Turn::text(r#"{"beds": 2}"#)]).await;
    let ledger = &ran.end.as_ref().unwrap().ledger;
    assert_eq!((ledger.accepted, ledger.rejected, ledger.tokens()), (Usage::new(100, 10), Usage::new(70, 7), 187));

    // An error in attempt 2 of 3 that will come again: two attempts, not one and not three.
    let ran = run(attempts(3), rooms(), [Turn::text("?"), Turn::error(ModelError::rejected("no credit"))]).await;
    assert!(matches!(ran.error(), GatedError::Fatal { .. }));
    assert_eq!((ran.ledger().started(), ran.ledger().tokens()), (2, 110));
}

#[derive(State, Clone, Default)]
struct Desk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct NoArgs {}

#[tokio::test(start_paused = true)]
async fn report_28_no_tool_of_a_response_runs_while_its_guard_is_still_thinking() {
    for streaming in [Streaming::HoldAll, Streaming::every_chars(1), Streaming::PassThrough] {
        let ran = Arc::new(AtomicU32::new(0));
        let count = ran.clone();
        let send = tool::<Desk, NoArgs>("send", "Sends money.", move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Ok("sent".into()) }
        });
        let tools = ToolBox::builder().tool(send).build().unwrap();
        // The guard takes long, and says no.
        let guard = Validators::new().with_async_fn("guard", Cost::Judge, async |response: &Response, _: &Desk| {
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            if response.calls.is_empty() { Verdict::Accept } else { Verdict::retry("fraud", "send nothing") }
        });
        let seat = Seat { history: Desk::HISTORY, draft: Desk::DRAFT, book: Desk::BOOK };
        let model = ScriptedModel::new([
            Turn::text("I send it.").with_call(call("c1", "send", "{}")),
            Turn::text("I can't send money."),
        ]);
        let agent = AgentNode::new("pay", seat).with_model(model).tools(tools.clone());
        let gate = GateNode::new("pay", seat, attempts(3), guard).calls("tools");
        let graph = Graph::<Desk>::builder("pay")
            .cluster("pay", "talk", |stage| {
                stage
                    .node("talk", GatedNode::new(agent, gate).streaming(streaming))
                    .node("tools", ToolsNode::new("pay", seat, tools, ["send"]).then("talk"))
            })
            .edge(START, "talk")
            .compile()
            .unwrap();
        let end = graph.runner().thread("t").run(seat.user("Send 900.")).await.unwrap();
        assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("I can't send money."));
        assert_eq!((ran.load(Ordering::Relaxed), end.state.history.len()), (0, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn report_28_a_guard_is_not_skipped_when_the_response_is_streamed() {
    for streaming in
        [Streaming::HoldAll, Streaming::every_chars(1), Streaming::every_sentence(), Streaming::PassThrough]
    {
        let guard = Validators::new().with_fn("guard", |response, ()| match response.text.contains("4711") {
            true => Verdict::fatal("leak", "a secret number"),
            false => Verdict::Accept,
        });
        let turn = Turn::text("It is 4711. Bye.").cut_at([7, 9]);
        let ran = run_with(attempts(3), guard, [turn], |gated| gated.with_streaming(streaming), ask()).await;
        assert!(matches!(ran.error(), GatedError::Fatal { .. }));
        let shown: String = ran
            .events
            .iter()
            .filter_map(|event| match event {
                GatedEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(shown.contains("4711"), streaming == Streaming::PassThrough);
        assert_eq!(graph_nodes::gate::shown(&ran.events), "");
    }
}
