//! The agent alone, and what it sends.

use std::sync::Arc;
use std::time::Duration;

use graph_engine::NodeExt;
use graph_engine::testing::node_once;
use graph_engine::{Graph, Move, Outcome, Retry, START};
use graph_nodes::gate::{AttemptOutcome, FeedbackMode, GateLedger, ModelOutcome, ModelResult};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ChatModel, ModelError, Response, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Correction, Draft, Held, RoundEnd};

use crate::support::{Trip, TripUpdate, attempts, seat};

fn asked() -> Trip {
    Trip { city: "Oslo".into(), history: [Message::user("hi")].into_iter().collect(), ..Trip::default() }
}

fn agent() -> AgentNode<Trip> {
    AgentNode::new("explore", seat()).prompt(|trip: &Trip| format!("Go to {}.", trip.city))
}

fn correction(feedback: &str, mode: FeedbackMode) -> Correction {
    let feedback = Some(feedback.to_owned());
    Correction { stage: "explore".into(), feedback, mode, attempt: 2, max: 3, is_last: false, fallback: false }
}

async fn run(
    agent: AgentNode<Trip>,
    model: &ScriptedModel,
    state: Trip,
    feedback: Option<Correction>,
) -> Outcome<Trip> {
    let model: Arc<dyn ChatModel> = Arc::new(model.clone());
    let once = node_once(agent).state(state).provide_arc(model);
    let once = feedback.into_iter().fold(once, |once, feedback| once.feedback(feedback));
    once.run().await.unwrap()
}

fn outcome(update: &TripUpdate) -> &ModelOutcome {
    match &update.draft {
        Some(Some(Draft { held: Held::Outcome { outcome, .. }, .. })) => outcome,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn it_sends_prompt_and_history_and_writes_only_the_draft() {
    let model = ScriptedModel::new([Turn::text("Hello.").with_delay(Duration::from_millis(80))]);
    let done = run(agent(), &model, asked(), None).await;
    assert_eq!(model.requests()[0].messages, [Message::system("Go to Oslo."), Message::user("hi")]);
    assert_eq!(done.to_move(), Move::Declared);
    let outcome = outcome(&done.update);
    assert_eq!((outcome.latency, outcome.usage), (Duration::from_millis(80), Some(Usage::new(100, 10))));
    assert!(done.update.book.is_none());
    assert!(done.update.history.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_model_is_data() {
    let model = ScriptedModel::new([Turn::error(ModelError::transport("reset"))]);
    let done = run(agent(), &model, asked(), None).await;
    assert!(matches!(outcome(&done.update).result, ModelResult::Error { retryable: true, .. }));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_the_call() {
    let model = ScriptedModel::new([Turn::text("late").with_delay(Duration::from_secs(9))]);
    let agent = agent().policy(&attempts(3).with_deadline(Duration::from_secs(2)));
    let done = run(agent, &model, asked(), None).await;
    assert_eq!(outcome(&done.update), &ModelOutcome::deadline("scripted", Duration::from_secs(2)));
}

#[tokio::test(start_paused = true)]
async fn a_correction_is_put_on_the_base_and_nothing_else() {
    let model = ScriptedModel::new([Turn::text("1"), Turn::text("2"), Turn::text("3")]);
    let mut state = asked();
    state.book.open.insert("explore".into(), GateLedger::default());
    let base = [Message::system("Go to Oslo."), Message::user("hi")];

    let _ = run(agent(), &model, state.clone(), Some(correction("shorter", FeedbackMode::Reason))).await;
    let told = Message::system("Your previous answer was rejected: shorter");
    assert_eq!(model.requests()[0].messages, [base.as_slice(), &[told]].concat());

    let _ = run(agent(), &model, state.clone(), Some(correction("shorter", FeedbackMode::Blind))).await;
    assert_eq!(model.requests()[1].messages, base);

    let rejected = Held::Rejected(Box::new(Response::from_text("too long")));
    state.draft = Some(Draft { stage: "explore".into(), held: rejected });
    let done = run(agent(), &model, state, Some(correction("shorter", FeedbackMode::Transcript))).await;
    assert_eq!(model.requests()[2].messages[2], Message::assistant("too long"));
    assert_eq!(model.requests()[2].messages.len(), 4);
    // The round goes on: nothing is closed.
    assert!(done.update.book.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_request_can_be_changed_under_the_correction() {
    let model = ScriptedModel::new([Turn::text("1")]);
    let agent = agent().request(|trip, request| request.with_parameter("city", trip.city.clone()));
    let _ = run(agent, &model, asked(), Some(correction("x", FeedbackMode::Reason))).await;
    assert_eq!((&model.requests()[0].parameters["city"], model.requests()[0].messages.len()), (&"Oslo".into(), 3));
}

#[tokio::test(start_paused = true)]
async fn feedback_of_other_nodes_is_told_to_the_model() {
    let script = ScriptedModel::new([Turn::text("1")]);
    let shared: Arc<dyn ChatModel> = Arc::new(script.clone());
    let other = Correction { stage: "present".into(), ..correction("not for me", FeedbackMode::Reason) };
    let once = node_once(agent()).state(asked()).provide_arc(shared);
    let _ =
        once.feedback("ask for the dates").feedback(other).feedback(serde_json::json!({"n": 1})).run().await.unwrap();
    let notes = [Message::system("ask for the dates"), Message::system("{\"n\":1}")];
    assert_eq!(script.requests()[0].messages[2..], notes);
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_turn_left_behind_is_counted_and_overwritten() {
    let model = ScriptedModel::new([Turn::text("fresh")]);
    let mut state = asked();
    state.book.open.insert("explore".into(), GateLedger::default());
    let left = ModelOutcome::new(
        "scripted",
        Duration::from_secs(1),
        Ok(Response::from_text("old").with_usage(Usage::new(100, 10))),
    );
    let held = Held::Outcome { outcome: Box::new(left), deadline: None, fallback: false };
    state.draft = Some(Draft { stage: "explore".into(), held });
    let done = run(agent(), &model, state, None).await;
    let ModelResult::Response(response) = &outcome(&done.update).result else { panic!("a response") };
    assert_eq!(response.text, "fresh");
    let book = done.update.book.unwrap();
    let round = book.last_round("explore").unwrap();
    assert_eq!((&round.end, round.ledger.attempts[0].outcome), (&RoundEnd::Abandoned, AttemptOutcome::Cancelled));
    assert_eq!((book.totals("explore").rejected, book.open.len()), (Usage::new(100, 10), 0));
}

#[tokio::test(start_paused = true)]
async fn a_model_can_be_named_by_its_type_or_given() {
    let named = ScriptedModel::new([Turn::text("named")]);
    let agent = agent().model::<ScriptedModel>();
    let _ = node_once(agent).state(asked()).provide(named.clone()).run().await.unwrap();
    assert_eq!(named.assert_done(), Ok(()));

    let given = ScriptedModel::new([Turn::text("given")]);
    let agent = AgentNode::new("explore", seat()).with_model(given.clone());
    let _ = node_once(agent).state(asked()).run().await.unwrap();
    assert_eq!(given.requests()[0].messages, [Message::user("hi")]);

    let error = node_once(AgentNode::new("explore", seat())).state(asked()).run().await.unwrap_err();
    let text = "stage `explore`: nobody provides a `dyn ChatModel`; \
                call `Runner::provide_arc`, or give the agent the model itself";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_retry_policy_on_an_agent_is_refused() {
    let error = Graph::<Trip>::builder("trip")
        .node("agent", agent().retry(Retry::fixed(3, Duration::ZERO)))
        .edge(START, "agent")
        .compile()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`agent` has a retry policy, but its gate counts the attempts and asks again"), "{text}");
}
