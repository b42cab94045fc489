//! What the gate does with each decision.

use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_engine::Move;
use graph_engine::testing::node_once;
use graph_nodes::gate::{Code, ExhaustedBy, Exhaustion, FeedbackMode, GatePolicy, ModelOutcome, Validators, Verdict};
use graph_nodes::message::{Usage, check_history};
use graph_nodes::model::{ModelError, Response, Turn};
use graph_nodes::stage::{Accepted, Draft, GateNode, Held, RoundEnd, StageError, StageEvent};

use crate::support::{Stage, Trip, attempts, calls, counted, only_good, seat, transcript};

#[tokio::test(start_paused = true)]
async fn g2_two_rejections_then_acceptance_are_all_paid_for() {
    let ran =
        Stage::default().validators(only_good()).turn([Turn::text("a"), Turn::text("b"), Turn::text("good")]).await;
    assert_eq!((ran.reply(), ran.asked()), (Some("good"), 3));
    assert_eq!(transcript(ran.state()), ["user: hi", "assistant: good"]);
    let totals = ran.state().book.totals("explore");
    assert_eq!((totals.accepted + totals.rejected, totals.rejected), (Usage::new(300, 30), Usage::new(200, 20)));
    assert_eq!((totals.rounds, totals.attempts, totals.counters[&Code::new("not_good")]), (1, 3, 2));
    assert_eq!((ran.end().report.stays, ran.state().book.open.len()), (2, 0));
    assert_eq!(ran.state().draft, None);
}

#[tokio::test(start_paused = true)]
async fn a_correction_is_the_only_change_of_the_next_request_and_is_not_kept() {
    let ran =
        Stage::default().validators(only_good()).turn([Turn::text("a"), Turn::text("b"), Turn::text("good")]).await;
    let requests = ran.model.requests();
    for later in &requests[1..] {
        assert_eq!(later.messages[..2], requests[0].messages);
        assert_eq!(later.messages[2].text(), "Your previous answer was rejected: say `good`");
        assert_eq!(later.messages.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn g11_blind_requests_are_byte_identical() {
    let policy = attempts(3).with_feedback(FeedbackMode::Blind);
    let turns = [Turn::text("a"), Turn::text("b"), Turn::text("good")];
    let ran = Stage::policy(policy).validators(only_good()).turn(turns).await;
    let sent: Vec<_> = ran.model.requests().iter().map(|request| request.canonical_json()).collect();
    assert_eq!(sent, vec![sent[0].clone(); 3]);
}

#[tokio::test(start_paused = true)]
async fn transcript_mode_shows_the_rejected_calls_and_their_refusal() {
    let (tool, count) = counted("a");
    let policy = attempts(3).with_feedback(FeedbackMode::Transcript);
    let stage = Stage { policy, ..Stage::tools([tool]) }.validators(only_good());
    let ran = stage.turn([calls([("1", "a"), ("2", "a")]), Turn::text("bad"), Turn::text("good")]).await;
    let requests = ran.model.requests();
    assert_eq!(requests[1].messages.len(), 5);
    assert_eq!(check_history(&requests[1].messages), Ok(()));
    assert_eq!(requests[1].messages[4].call_id(), Some("2"));
    // Only the latest rejected response is shown.
    assert_eq!((requests[2].messages.len(), requests[2].messages[2].text()), (4, "bad".into()));
    assert_eq!((count.load(Ordering::Relaxed), ran.reply()), (0, Some("good")));
    assert_eq!(transcript(ran.state()), ["user: hi", "assistant: good"]);
}

#[tokio::test(start_paused = true)]
async fn g4_a_rejected_response_runs_none_of_its_calls() {
    let (tool, count) = counted("a");
    let ran =
        Stage::tools([tool]).validators(only_good()).turn([calls([("1", "a"), ("2", "a")]), Turn::text("good")]).await;
    assert_eq!((ran.reply(), count.load(Ordering::Relaxed)), (Some("good"), 0));
    assert_eq!(transcript(ran.state()), ["user: hi", "assistant: good"]);
}

#[tokio::test(start_paused = true)]
async fn g16_fatal_ends_the_turn_at_once() {
    let validators = Validators::new().with_fn("never", |_, _: &Trip| Verdict::fatal("illegal", "must not be said"));
    let ran = Stage::default().validators(validators).turn([Turn::text("a"), Turn::text("b")]).await;
    assert_eq!(ran.asked(), 1);
    assert_eq!(
        ran.stage_error().to_string(),
        "stage `explore`: trying again is pointless: `illegal` by `never` (must not be said); 1 attempt, 110 tokens; \
         remove the cause, abandon the turn and ask again",
    );
}

#[tokio::test(start_paused = true)]
async fn g17_escalate_takes_its_edge_and_is_recorded() {
    let validators =
        Validators::new().with_fn("delicate", |_, _: &Trip| Verdict::escalate("person", "delicate", "look at it"));
    let stage = Stage { gate: |gate| gate.escalate("person", "handoff"), ..Stage::default() };
    let ran = stage.validators(validators).turn([Turn::text("a")]).await;
    assert_eq!((ran.asked(), ran.state().notes.join(",").as_str()), (1, "handoff"));
    assert_eq!(transcript(ran.state()), ["user: hi"]);
    let end = RoundEnd::Escalated {
        edge: "person".into(),
        to: "handoff".into(),
        code: Code::new("delicate"),
        reason: "look at it".into(),
        exhausted: None,
    };
    let round = ran.state().book.last_round("explore").unwrap();
    assert_eq!((&round.end, round.ledger.rejected), (&end, Usage::new(100, 10)));
    assert_eq!((&ran.state().draft, ran.tokens().len()), (&None, 0));
}

#[tokio::test(start_paused = true)]
async fn an_edge_that_leads_nowhere_fails_the_turn_with_the_edges_there_are() {
    let validators = Validators::new().with_fn("v", |_, _: &Trip| Verdict::escalate("boss", "odd", "look"));
    let ran = Stage::default().validators(validators).turn([Turn::text("a")]).await;
    assert_eq!(
        ran.stage_error().to_string(),
        "stage `explore`: the gate chose the edge `boss` (`odd`: look), which leads nowhere; \
         the edges are `blocked`; add it with `GateNode::escalate`",
    );
}

#[tokio::test(start_paused = true)]
async fn g24_a_refusal_takes_the_blocked_edge() {
    let ran = Stage::default().turn([Turn::refusal("I won't.")]).await;
    assert_eq!((ran.asked(), ran.state().notes.join(",").as_str()), (1, "handoff"));
    let RoundEnd::Escalated { edge, reason, .. } = &ran.state().book.last_round("explore").unwrap().end else {
        panic!("escalated")
    };
    assert_eq!((edge.as_str(), reason.as_str()), ("blocked", "I won't."));
}

#[tokio::test(start_paused = true)]
async fn g25_a_transport_error_is_an_attempt_and_the_model_is_told_nothing() {
    let ran = Stage::default().turn([Turn::error(ModelError::transport("reset")), Turn::text("good")]).await;
    assert_eq!(ran.reply(), Some("good"));
    let round = ran.state().book.last_round("explore").unwrap();
    assert_eq!((round.ledger.started(), round.ledger.count(&Code::INVOCATION)), (2, 1));
    assert_eq!(ran.model.requests()[0], ran.model.requests()[1]);
    assert_eq!(ran.end().report.attempts, 4);
}

#[tokio::test(start_paused = true)]
async fn g21_no_byte_of_a_rejected_text_is_streamed_and_the_accepted_text_is_whole() {
    let rejected = Turn::text("rejected words").cut_at([3, 7]);
    let ran = Stage::default().validators(only_good()).turn([rejected, Turn::text("good").cut_at([1, 2])]).await;
    assert_eq!(ran.tokens(), ["good"]);
    let told = format!("{:?}", ran.events);
    assert!(!told.contains("rejected words") && !told.contains("words"), "{told}");
    let rejected =
        StageEvent::Rejected { stage: "explore".into(), codes: vec![Code::new("not_good")], attempt: 2, max: 3 };
    assert_eq!(ran.stage_events(), [rejected]);
}

#[tokio::test(start_paused = true)]
async fn g28_a_modified_response_is_what_is_stored_streamed_and_replied() {
    let validators =
        Validators::new().with_fn("trim", |response, _: &Trip| Verdict::accept_text(response.text.trim(), "trimmed"));
    let ran = Stage::default().validators(validators).turn([Turn::text(" hello ")]).await;
    assert_eq!((ran.reply(), ran.tokens()), (Some("hello"), vec!["hello"]));
    assert_eq!(transcript(ran.state())[1], "assistant: hello");
    assert!(
        matches!(&ran.stage_events()[0], StageEvent::Modified { modification, .. } if modification.note == "trimmed")
    );
}

#[tokio::test(start_paused = true)]
async fn an_accepted_text_can_lead_to_a_node() {
    let stage = Stage { gate: |gate| gate.accepted("present"), ..Stage::default() };
    let ran = stage.turn([Turn::text("good")]).await;
    assert_eq!((ran.end().reply(), ran.state().notes.join(",").as_str()), (None, "present"));
    assert_eq!(transcript(ran.state())[1], "assistant: good");
}

fn judged(outcome: ModelOutcome) -> Trip {
    let held = Held::Outcome { outcome: Box::new(outcome), deadline: None, fallback: false };
    Trip { draft: Some(Draft { stage: "explore".into(), held }), ..Trip::default() }
}

fn response(response: Response) -> Trip {
    judged(ModelOutcome::new("m", Duration::ZERO, Ok(response)))
}

fn alone(policy: GatePolicy) -> GateNode<Trip> {
    GateNode::new("explore", seat(), policy, Validators::new())
}

#[tokio::test(start_paused = true)]
async fn alone_it_replies_stays_or_fails() {
    let done = node_once(alone(attempts(3))).state(response(Response::from_text("hi"))).run().await.unwrap();
    assert_eq!(done.to_move(), Move::Direct("hi".into()));

    let done = node_once(alone(attempts(3))).state(response(Response::from_text(" "))).run().await.unwrap();
    let expected = serde_json::json!({
        "stage": "explore",
        "feedback": "the answer was empty; write a text or call a tool",
        "mode": "reason",
        "attempt": 2,
        "max": 3,
        "is_last": false,
    });
    assert_eq!(done.to_move(), Move::Stay(Some(expected)));
    assert_eq!((done.update.draft, done.update.book.unwrap().open["explore"].started()), (Some(None), 1));

    let error = node_once(alone(attempts(3))).state(judged(ModelOutcome::cancelled("m", Duration::ZERO))).run().await;
    assert!(!error.unwrap_err().is_retryable());
}

#[tokio::test(start_paused = true)]
async fn without_a_tools_vertex_calls_are_rejected() {
    let state = response(Response::from_calls([crate::support::call("1", "fly")]));
    let done = node_once(alone(attempts(3))).state(state.clone()).run().await.unwrap();
    let Move::Stay(Some(feedback)) = done.to_move() else { panic!("{:?}", done.to_move()) };
    assert_eq!(feedback["feedback"], "there is no tool `fly`; no tools are offered");

    let error = node_once(alone(attempts(3).in_shadow())).state(state).run().await.unwrap_err();
    assert!(matches!(error.source().downcast_ref(), Some(StageError::NobodyRunsCalls { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_is_not_its_own_is_refused() {
    let error = node_once(alone(attempts(3))).state(Trip::default()).run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `explore`: the gate found no draft; put agent, gate and tools into one cluster whose entry is the agent, \
         go to the agent first, and don't make the draft transient",
    );
    let mut other = response(Response::from_text("hi"));
    other.draft.as_mut().unwrap().stage = "present".into();
    let error = node_once(alone(attempts(3))).state(other).run().await.unwrap_err();
    assert!(error.to_string().contains("found a draft of stage `present`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_the_agent_does_not_know_is_refused() {
    let policy = attempts(3).with_deadline(Duration::from_secs(9));
    let error = node_once(alone(policy)).state(response(Response::from_text("hi"))).run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `explore`: the gate has a deadline of 9s, but the agent knows of none; \
         give both the same policy with `AgentNode::policy`",
    );
}

#[tokio::test(start_paused = true)]
async fn exhaustion_leads_to_its_node_or_along_the_policys_edge() {
    let turns = || [Turn::text("a"), Turn::text("b")];
    let stage = Stage { gate: |gate| gate.exhausted("handoff"), ..Stage::policy(attempts(2)) };
    let ran = stage.validators(only_good()).turn(turns()).await;
    assert_eq!((ran.asked(), ran.state().notes.join(",").as_str()), (2, "handoff"));
    let end = |edge: &str| RoundEnd::Escalated {
        edge: edge.into(),
        to: "handoff".into(),
        code: Code::new("not_good"),
        reason: "say `good`".into(),
        exhausted: Some(ExhaustedBy::Attempts),
    };
    assert_eq!(ran.state().book.last_round("explore").unwrap().end, end("exhausted"));

    let policy = attempts(2).with_exhaustion(Exhaustion::Escalate("blocked".into()));
    let ran = Stage::policy(policy).validators(only_good()).turn(turns()).await;
    assert_eq!(ran.state().book.last_round("explore").unwrap().end, end("blocked"));
    assert_eq!(Accepted::default(), Accepted::Direct);
}
