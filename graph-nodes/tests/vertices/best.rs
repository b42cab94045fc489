//! The best of the rejected responses, in a whole stage.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_engine::testing::node_once;
use graph_engine::{MemoryStore, Move};
use graph_nodes::gate::{
    BestOf, Code, ExhaustedBy, Exhaustion, FeedbackMode, GateError, GatePolicy, ModelOutcome, Validators, Verdict,
};
use graph_nodes::message::Usage;
use graph_nodes::model::{Response, ScriptedModel, Turn};
use graph_nodes::stage::{Draft, GateBook, GateNode, Held, RoundEnd, StageError, StageEvent};
use tokio::time::sleep;

use crate::support::{Stage, Trip, attempts, call, counted, say, seat, stage_error, transcript};

fn policy(n: u32) -> GatePolicy {
    attempts(n).with_exhaustion(Exhaustion::AcceptBest)
}

/// Rejects every text but `good`; the score of a text is what it says.
fn scored() -> Validators<Trip> {
    Validators::new()
        .with_fn("only_good", |response, _: &Trip| match response.text.as_str() {
            "good" => Verdict::Accept,
            _ => Verdict::retry("not_good", "say `good`"),
        })
        .with_score(|response, _| response.text.parse().unwrap_or(f64::NAN))
}

fn stage(n: u32) -> Stage {
    Stage::policy(policy(n)).validators(scored())
}

#[tokio::test(start_paused = true)]
async fn g18_the_best_is_replied_stored_streamed_and_recorded() {
    let ran = stage(3).turn(["0.2", "0.7", "0.5"].map(Turn::text)).await;
    assert_eq!((ran.asked(), ran.reply(), ran.tokens()), (3, Some("0.7"), vec!["0.7"]));
    assert_eq!(transcript(ran.state()), ["user: hi", "assistant: 0.7"]);
    assert_eq!(ran.state().draft, None);

    let best = BestOf { attempt: 2, score: 0.7, by: ExhaustedBy::Attempts };
    let book = &ran.state().book;
    let round = book.last_round("explore").unwrap();
    assert_eq!((&round.end, &round.ledger.best), (&RoundEnd::AcceptedBest(best.clone()), &None));
    let totals = book.totals("explore");
    assert_eq!((totals.accepted, totals.rejected), (Usage::new(100, 10), Usage::new(200, 20)));
    assert_eq!((totals.rounds, totals.accepted_rounds, totals.accepted_attempts), (1, 1, 1));
    assert_eq!((totals.attempts, totals.counters[&Code::new("not_good")]), (3, 3));
    let events = ran.stage_events();
    assert_eq!(events.len(), 3);
    assert_eq!(events[2], StageEvent::AcceptedBest { stage: "explore".into(), best });
    let json = serde_json::to_string(book).unwrap();
    assert_eq!(&serde_json::from_str::<GateBook>(&json).unwrap(), book);
}

#[tokio::test(start_paused = true)]
async fn g18_calls_of_the_best_run_after_its_acceptance_and_are_answered() {
    let (tool, count) = counted("a");
    let best = Turn::text("0.9").with_call(call("1", "a")).with_call(call("2", "a"));
    let with_policy = Stage { policy: policy(2).with_feedback(FeedbackMode::Transcript), ..Stage::tools([tool]) }
        .validators(scored());
    let ran = with_policy.turn([best, Turn::text("0.1"), Turn::text("good")]).await;
    assert_eq!((ran.asked(), count.load(Ordering::Relaxed), ran.reply()), (3, 2, Some("good")));
    assert_eq!(
        transcript(ran.state()),
        ["user: hi", "assistant calls 1 2: 0.9", "tool 1: done", "tool 2: done", "assistant: good"],
    );
    // The third request holds what was accepted and nothing of what was rejected.
    assert_eq!(ran.model.requests()[2].messages.len(), 5);
    let ends: Vec<_> = ran.state().book.recent.iter().map(|round| round.end.clone()).collect();
    let best = BestOf { attempt: 1, score: 0.9, by: ExhaustedBy::Attempts };
    assert_eq!(ends, [RoundEnd::AcceptedBest(best), RoundEnd::Accepted]);
}

#[tokio::test(start_paused = true)]
async fn g18_without_a_tools_vertex_a_response_with_calls_is_never_the_best() {
    let judge = |response: Response| async {
        let outcome = ModelOutcome::new("m", Duration::ZERO, Ok(response));
        let held = Held::Outcome { outcome: Box::new(outcome), deadline: None, fallback: false };
        let state = Trip { draft: Some(Draft { stage: "explore".into(), held }), ..Trip::default() };
        node_once(GateNode::new("explore", seat(), policy(1), scored())).state(state).run().await
    };
    let mut with_call = Response::from_calls([call("1", "fly")]);
    with_call.text = "0.9".into();
    let error = judge(with_call).await.unwrap_err();
    assert!(matches!(error.source().downcast_ref(), Some(StageError::Exhausted { .. })), "{error}");
    let done = judge(Response::from_text("0.9")).await.unwrap();
    assert_eq!(done.to_move(), Move::Direct("0.9".into()));
}

#[tokio::test(start_paused = true)]
async fn g18_no_candidate_fails_as_ever_or_leads_to_the_node_for_exhaustion() {
    let turns = || [Turn::text("bad"), Turn::text("worse")];
    let failed = stage(2).turn(turns()).await;
    let StageError::Exhausted { failure, ledger, .. } = failed.stage_error() else { panic!("exhausted") };
    assert_eq!((&failure.by, failure.attempts.len()), (&ExhaustedBy::Attempts, 2));
    assert_eq!((ledger.accepted, ledger.rejected), (Usage::default(), Usage::new(200, 20)));

    let left = Stage { gate: |gate| gate.exhausted("handoff"), ..stage(2) }.turn(turns()).await;
    assert_eq!((left.state().notes.join(",").as_str(), transcript(left.state()).len()), ("handoff", 1));
    assert!(matches!(&left.state().book.last_round("explore").unwrap().end, RoundEnd::Escalated { .. }));
}

#[tokio::test(start_paused = true)]
async fn g18_the_candidate_outlives_the_process() {
    let store = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new([Turn::text("0.7"), Turn::text("0.3").with_delay(Duration::from_secs(9))]);
    let thread = stage(2).runner(&model).store_arc(store.clone()).thread("t");
    // The second call is cancelled, so it is not counted.
    say(&thread).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    let candidate = thread.state().await.unwrap().state.book.open["explore"].best.clone().unwrap();
    assert_eq!((candidate.response.text.as_str(), candidate.score, candidate.attempt), ("0.7", 0.7, 1));
    drop(thread);

    let model = ScriptedModel::new([Turn::text("0.2")]);
    let end = stage(2).runner(&model).store_arc(store).thread("t").proceed().await.unwrap();
    assert_eq!((end.reply_as::<String>().unwrap().as_deref(), model.requests().len()), (Some("0.7"), 1));
    let totals = end.state.book.totals("explore");
    assert_eq!((totals.accepted, totals.rejected), (Usage::new(100, 10), Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g18_without_a_score_the_mistake_is_found_before_or_in_the_first_turn() {
    let gate = GateNode::new("explore", seat(), policy(2), Validators::new());
    let Err(StageError::Gate { .. }) = gate.check() else { panic!("found") };
    let model = ScriptedModel::new([Turn::text("hi")]);
    let error = say(&Stage::policy(policy(2)).runner(&model).thread("t")).await.unwrap_err();
    let text = stage_error(&error).to_string();
    assert_eq!(text, format!("stage `explore`: {}", GateError::NoScore));
}
