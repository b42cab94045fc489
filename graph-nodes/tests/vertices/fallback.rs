//! The fallback model, in a whole stage.

use std::sync::Arc;
use std::time::Duration;

use graph_engine::testing::node_once;
use graph_engine::{Graph, Level, Lint, MemoryStore, RunError, Runner, START, Status, TurnEnd, TurnError};
use graph_nodes::gate::{
    AttemptOutcome, ExhaustedBy, Exhaustion, FallbackUse, FeedbackMode, GatePolicy, Validators, Verdict,
};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ChatModel, ChunkStream, ModelError, Request, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Correction, GateNode, RoundEnd, StageError, StageEvent};
use tokio::time::{Instant, sleep};

use crate::support::{Trip, attempts, only_good, say, seat, stage_error, transcript, watch};

fn policy(n: u32) -> GatePolicy {
    attempts(n).with_exhaustion(Exhaustion::FallbackModel)
}

fn poem(lines: usize) -> ScriptedModel {
    ScriptedModel::new((1..=lines).map(|line| Turn::text(format!("line {line}"))))
}

fn large(turns: impl IntoIterator<Item = Turn>) -> ScriptedModel {
    ScriptedModel::new(turns).with_name("large")
}

fn agent(policy: &GatePolicy) -> AgentNode<Trip> {
    AgentNode::new("explore", seat()).policy(policy)
}

fn stage(agent: AgentNode<Trip>, policy: GatePolicy, small: &ScriptedModel) -> Runner<Trip> {
    let gate = GateNode::new("explore", seat(), policy, only_good());
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
        .edge(START, "agent")
        // What `compile()` would refuse must also be refused by the vertices themselves.
        .lint(Lint::NodeProblem, Level::Warn)
        .compile()
        .unwrap();
    let model: Arc<dyn ChatModel> = Arc::new(small.clone());
    graph.runner().provide_arc(model)
}

async fn turn(policy: GatePolicy, small: &ScriptedModel, large: &ScriptedModel) -> Result<TurnEnd<Trip>, TurnError> {
    let agent = agent(&policy).fallback_model(large.clone());
    say(&stage(agent, policy, small).thread("t")).await
}

#[tokio::test(start_paused = true)]
async fn g19_three_attempts_and_one_with_the_fallback_model() {
    let (small, large) = (poem(3), large([Turn::text("good").with_usage(500, 50)]));
    let start = Instant::now();
    let agent = agent(&policy(3)).fallback_model(large.clone());
    let (end, events) = watch(say(&stage(agent, policy(3), &small).thread("t"))).await;
    let end = end.unwrap();
    assert_eq!((small.requests().len(), large.requests().len()), (3, 1));
    assert_eq!(transcript(&end.state), ["user: hi", "assistant: good"]);
    assert_eq!((end.report.stays, start.elapsed()), (3, Duration::from_secs(1)));

    let told = Message::system("Your previous answer was rejected: say `good`");
    assert_eq!(large.requests()[0].messages, [small.requests()[0].messages.as_slice(), &[told]].concat());

    let round = end.state.book.last_round("explore").unwrap();
    let models: Vec<_> = round.ledger.attempts.iter().map(|attempt| attempt.model.as_str()).collect();
    assert_eq!((models, &round.end), (vec!["scripted", "scripted", "scripted", "large"], &RoundEnd::Accepted));
    assert_eq!(round.ledger.fallback, Some(FallbackUse { by: ExhaustedBy::Attempts, attempt: Some(4) }));
    let totals = end.state.book.totals("explore");
    assert_eq!((totals.accepted, totals.rejected), (Usage::new(500, 50), Usage::new(300, 30)));

    let told: Vec<StageEvent> = events
        .into_iter()
        .filter_map(|event| match event {
            graph_engine::EventKind::Custom(value) => serde_json::from_value(value).ok(),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 4);
    assert_eq!(told[2], StageEvent::Fallback { stage: "explore".into(), by: ExhaustedBy::Attempts });
    assert!(matches!(&told[3], StageEvent::Rejected { attempt: 4, max: 4, .. }));
}

#[tokio::test(start_paused = true)]
async fn g19_the_next_round_begins_with_the_usual_model() {
    let (small, large) = (ScriptedModel::new(["bad", "good"].map(Turn::text)), large([Turn::text("good")]));
    let agent = agent(&policy(1)).fallback_model(large.clone());
    let thread = stage(agent, policy(1), &small).store(MemoryStore::new()).thread("t");
    say(&thread).await.unwrap();
    say(&thread).await.unwrap();
    assert_eq!((small.assert_done(), large.assert_done()), (Ok(()), Ok(())));
}

#[tokio::test(start_paused = true)]
async fn g19_a_rejection_of_the_fallback_model_is_final() {
    let (small, large) = (poem(9), large(["bad", "good"].map(Turn::text)));
    let error = turn(policy(3), &small, &large).await.unwrap_err();
    assert_eq!((small.requests().len(), large.requests().len()), (3, 1));
    let StageError::Exhausted { failure, ledger, .. } = stage_error(&error) else { panic!("{error}") };
    assert_eq!((&failure.by, failure.attempts.len()), (&ExhaustedBy::Attempts, 4));
    assert_eq!((ledger.rejected, ledger.attempts[3].model.as_str()), (Usage::new(400, 40), "large"));
}

#[tokio::test(start_paused = true)]
async fn g19_after_a_rejection_the_gate_may_still_lead_to_a_node() {
    let gate = GateNode::new("explore", seat(), policy(1), only_good()).exhausted("handoff");
    let agent = agent(&policy(1)).with_model(poem(1)).fallback_model(large([Turn::text("bad")]));
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
        .node("handoff", || async { Trip::update().notes(["handoff"]) })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let end = say(&graph.runner().thread("t")).await.unwrap();
    assert_eq!((end.state.notes.as_slice(), transcript(&end.state).len()), (["handoff".to_owned()].as_slice(), 1));
}

#[tokio::test(start_paused = true)]
async fn g19_transcript_mode_shows_the_rejected_response_to_the_fallback_model() {
    let (small, large) = (poem(1), large([Turn::text("good")]));
    turn(policy(1).with_feedback(FeedbackMode::Transcript), &small, &large).await.unwrap();
    assert_eq!(large.requests()[0].messages[1], Message::assistant("line 1"));
}

/// A model of another type, as a resource.
struct Big(ScriptedModel);

#[graph_engine::async_trait]
impl ChatModel for Big {
    fn name(&self) -> &str {
        "big"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        self.0.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn g19_the_fallback_model_can_be_a_resource_that_is_found_missing_before_the_turn() {
    let agent = || agent(&policy(1)).fallback_resource::<Big>();
    let small = poem(1);
    let runner = stage(agent(), policy(1), &small).provide(Big(ScriptedModel::new([Turn::text("good")])));
    let end = say(&runner.thread("t")).await.unwrap();
    assert_eq!(end.state.book.last_round("explore").unwrap().ledger.attempts[1].model, "big");

    let small = poem(1);
    let error = say(&stage(agent(), policy(1), &small).thread("t")).await.unwrap_err();
    assert!(matches!(&*error, RunError::MissingResource { node, .. } if *node == "agent"), "{error}");
    assert_eq!(small.requests().len(), 0);

    let shared: Arc<dyn ChatModel> = Arc::new(large([Turn::text("good")]));
    let agent = AgentNode::new("explore", seat()).fallback_model(shared);
    assert!(say(&stage(agent, policy(1), &poem(1)).thread("t")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn g19_an_agent_without_a_fallback_model_fails_the_first_turn_and_says_what_to_do() {
    let small = poem(3);
    let error = say(&stage(agent(&policy(3)), policy(3), &small).thread("t")).await.unwrap_err();
    // Not after three attempts were paid for.
    assert_eq!(small.requests().len(), 1);
    let expected = "stage `explore`: the gate asks a fallback model when a limit is reached, but the agent has none; \
                    give it one with `AgentNode::fallback_model`";
    assert_eq!(stage_error(&error).to_string(), expected);

    // The same from a gate of somebody else.
    let mut state = Trip::default();
    state.book.open.insert("explore".into(), Default::default());
    let correction = Correction {
        stage: "explore".into(),
        feedback: None,
        mode: FeedbackMode::Reason,
        attempt: 2,
        max: 2,
        is_last: true,
        fallback: true,
    };
    let alone = node_once(AgentNode::new("explore", seat()).with_model(poem(1))).state(state).feedback(correction);
    assert_eq!(alone.run().await.unwrap_err().to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn g19_a_second_fallback_model_is_refused() {
    let two = || agent(&policy(1)).fallback_model(large([])).fallback_resource::<Big>();
    let Err(error @ StageError::SecondFallback { .. }) = two().check() else { panic!("refused") };
    assert_eq!(
        error.to_string(),
        "stage `explore`: the agent was given several fallback models (`large`, `vertices::fallback::Big`), \
         but one is asked, once; give it one only",
    );
    let small = poem(1);
    let runner = stage(two(), policy(1), &small).provide(Big(large([])));
    let error = say(&runner.thread("t")).await.unwrap_err();
    assert!(matches!(stage_error(&error), StageError::SecondFallback { .. }));
    assert_eq!(small.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn g19_the_deadline_cuts_the_fallback_models_call() {
    let ms = Duration::from_millis;
    let small = ScriptedModel::new([Turn::text("bad").with_delay(ms(400))]);
    let late = large([Turn::text("good").with_delay(ms(600))]);
    let start = Instant::now();
    let error = turn(policy(1).with_deadline(ms(900)), &small, &late).await.unwrap_err();
    let StageError::Exhausted { failure, ledger, .. } = stage_error(&error) else { panic!("{error}") };
    assert_eq!((&failure.by, failure.attempts[1].outcome), (&ExhaustedBy::Attempts, AttemptOutcome::Deadline));
    assert_eq!((start.elapsed(), ledger.elapsed), (ms(900), ms(900)));
}

#[tokio::test(start_paused = true)]
async fn g23_a_cancelled_turn_asks_no_fallback_model() {
    // Cancelled in the last wait before the last attempt.
    let (small, large) = (poem(2), large([Turn::text("good")]));
    let agent = || agent(&policy(2)).fallback_model(large.clone());
    let runner = stage(agent(), policy(2), &small).store(MemoryStore::new());
    let thread = runner.thread("t");
    let end = say(&thread).cancel_on(sleep(Duration::from_millis(200))).await.unwrap();
    assert_eq!((end.status, small.requests().len(), large.requests().len()), (Status::Cancelled, 1, 0));
    // Going on is another decision: the rest of the budget, then the fallback model.
    let end = thread.proceed().await.unwrap();
    assert_eq!((small.requests().len(), large.requests().len()), (2, 1));
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("good"));
}

#[tokio::test(start_paused = true)]
async fn g23_a_cancelled_call_of_the_fallback_model_is_made_again_by_proceed_alone() {
    let slow = Turn::text("good").with_delay(Duration::from_secs(60));
    let (small, large) = (poem(1), large([slow, Turn::text("good"), Turn::text("good")]));
    let store = Arc::new(MemoryStore::new());
    let runner = || stage(agent(&policy(1)).fallback_model(large.clone()), policy(1), &small).store_arc(store.clone());
    let end = say(&runner().thread("t")).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!((end.status, large.requests().len()), (Status::Cancelled, 1));
    let pending = FallbackUse { by: ExhaustedBy::Attempts, attempt: None };
    assert_eq!(end.state.book.open["explore"].fallback, Some(pending));
    // Another process: the store knows that it is the fallback model's turn.
    let end = runner().thread("t").proceed().await.unwrap();
    assert_eq!((small.requests().len(), large.requests().len()), (1, 2));
    assert_eq!(end.state.book.totals("explore").attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn g19_a_fatal_verdict_needs_no_fallback() {
    let large = large([Turn::text("good")]);
    let fatal = Validators::new().with_fn("fatal", |_, _: &Trip| Verdict::fatal("illegal", "no"));
    let gate = GateNode::new("explore", seat(), policy(1), fatal);
    let agent = agent(&policy(1)).with_model(poem(1)).fallback_model(large.clone());
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
        .edge(START, "agent")
        .compile()
        .unwrap();
    assert!(say(&graph.runner().thread("t")).await.is_err());
    assert_eq!(large.requests().len(), 0);
}
