//! Agent and gate in one vertex: routes, the book, what is kept, what goes on.

use std::time::Duration;

use graph_engine::{Graph, MemoryStore, NodeExt, Retry, START};
use graph_nodes::gate::{Code, ExhaustedBy, Exhaustion, FeedbackMode, GatePolicy, Validators, Verdict};
use graph_nodes::message::{Usage, check_history};
use graph_nodes::model::{ModelError, ScriptedModel, Turn};
use graph_nodes::stage::{GatedNode, RoundEnd, StageError, StageEvent};
use tokio::time::{Instant, sleep};

use crate::support::{Trip, Turned, agent, attempts, call, gate, only_good, poem, runner, seat, turn};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn ran(
    policy: GatePolicy,
    validators: Validators<Trip>,
    turns: impl IntoIterator<Item = Turn>,
) -> (Turned, ScriptedModel) {
    let model = ScriptedModel::new(turns);
    let node = GatedNode::new(agent(&model), gate(policy, validators).escalate("blocked", "handoff"));
    (turn(node).await, model)
}

fn exhausted_by(ran: &Turned) -> (&ExhaustedBy, usize) {
    let StageError::Exhausted { failure, .. } = ran.stage_error() else { panic!("{}", ran.stage_error()) };
    (&failure.by, failure.attempts.len())
}

fn counters(trip: &Trip) -> Vec<(String, u32)> {
    trip.book.totals("explore").counters.iter().map(|(code, count)| (code.to_string(), *count)).collect()
}

#[tokio::test(start_paused = true)]
async fn g1_three_attempts_are_three_calls_and_g3_one_is_one() {
    let (end, model) = ran(attempts(3), only_good(), poem(3)).await;
    assert_eq!((exhausted_by(&end), model.requests().len()), ((&ExhaustedBy::Attempts, 3), 3));
    let (end, model) = ran(attempts(1), only_good(), poem(1)).await;
    assert_eq!((exhausted_by(&end), model.requests().len()), ((&ExhaustedBy::Attempts, 1), 1));
}

#[tokio::test(start_paused = true)]
async fn g2_two_rejections_then_acceptance_are_all_paid_for() {
    let (end, model) = ran(attempts(3), only_good(), ["a", "b", "good"].map(Turn::text)).await;
    assert_eq!((end.reply(), model.requests().len(), end.state().history.len()), (Some("good"), 3, 2));
    let totals = end.state().book.totals("explore");
    assert_eq!((totals.accepted + totals.rejected, totals.rejected), (Usage::new(300, 30), Usage::new(200, 20)));
    assert_eq!((end.state().book.open.len(), &end.state().draft), (0, &None));
    assert_eq!(end.end.as_ref().unwrap().report.stays, 2);
}

#[tokio::test(start_paused = true)]
async fn g4_a_rejected_response_leads_to_no_tools() {
    let model = ScriptedModel::new([Turn::calls([call("a", "f", "{}"), call("b", "f", "{}")]), Turn::text("good")]);
    let end = turn(GatedNode::new(agent(&model), gate(attempts(3), only_good()).calls("handoff"))).await;
    assert_eq!((end.reply(), end.state().notes.len()), (Some("good"), 0));
    // Without a node for them calls are rejected.
    let (end, _) = ran(attempts(1), Validators::new(), [Turn::calls([call("a", "f", "{}")])]).await;
    assert_eq!(exhausted_by(&end).1, 1);
}

#[tokio::test(start_paused = true)]
async fn g5_g6_g7_every_kind_of_rejection_has_its_counter_and_its_cap() {
    let (end, _) = ran(attempts(3), Validators::new(), [Turn::text(" "), Turn::text("good")]).await;
    assert_eq!(counters(end.state()), [("empty".to_owned(), 1)]);
    let structured = |policy: GatePolicy, turns: Vec<Turn>| async move {
        let model = ScriptedModel::new(turns);
        let schema = serde_json::json!({"type": "object"});
        let agent = agent(&model).request(move |_, request| request.with_response_schema(schema.clone()));
        turn(GatedNode::new(agent, gate(policy, only_good()).exhausted("handoff"))).await
    };
    let end = structured(attempts(3), vec![Turn::text("no json"), Turn::text(""), Turn::text("{}")]).await;
    assert_eq!(counters(end.state()), [("empty", 1), ("not_good", 1), ("parse", 1)].map(|(code, n)| (code.into(), n)));
    let end = structured(attempts(5).with_code_cap(Code::PARSE, 1), poem(2)).await;
    let RoundEnd::Escalated { exhausted, .. } = &end.state().book.last_round("explore").unwrap().end else { panic!() };
    assert_eq!(exhausted, &Some(ExhaustedBy::Code(Code::PARSE)));
}

#[tokio::test(start_paused = true)]
async fn g8_a_token_budget_and_g30_a_model_without_usage() {
    let (end, model) = ran(attempts(5).with_token_budget(250), only_good(), poem(3)).await;
    assert_eq!((exhausted_by(&end), model.requests().len()), ((&ExhaustedBy::Tokens, 3), 3));
    let (end, _) = ran(attempts(5).with_token_budget(250), only_good(), [Turn::text("good").without_usage()]).await;
    assert!(matches!(end.stage_error(), StageError::Gate { .. }));
}

#[tokio::test(start_paused = true)]
async fn g9_the_deadline_cuts_the_second_call() {
    let start = Instant::now();
    let turns = poem(3).into_iter().map(|turn| turn.with_delay(ms(400)));
    let (end, model) = ran(attempts(5).with_deadline(ms(1200)), only_good(), turns).await;
    assert_eq!(
        (start.elapsed(), exhausted_by(&end), model.requests().len()),
        (ms(1200), (&ExhaustedBy::Deadline, 2), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn g10_g12_g13_the_next_attempt_is_announced_corrected_once_and_nothing_of_it_is_kept() {
    let (end, model) = ran(attempts(3), only_good(), ["a", "b", "good"].map(Turn::text)).await;
    let rejected =
        |attempt| StageEvent::Rejected { stage: "explore".into(), codes: vec![Code::new("not_good")], attempt, max: 3 };
    assert_eq!(end.stage_events(), [rejected(2), rejected(3)]);
    for later in &model.requests()[1..] {
        let said: Vec<_> = later.messages.iter().map(|message| message.text()).collect();
        assert_eq!(said, ["hi", "Your previous answer was rejected: say `good`"]);
    }
    assert_eq!(check_history(end.state().history.iter()), Ok(()));
    assert_eq!(end.state().history.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn g11_blind_requests_are_byte_identical_and_transcript_shows_the_rejected_text() {
    let (_, model) = ran(attempts(3).with_feedback(FeedbackMode::Blind), only_good(), poem(3)).await;
    let sent: Vec<_> = model.requests().iter().map(|request| request.canonical_json()).collect();
    assert_eq!(sent, vec![sent[0].clone(); 3]);
    let (_, model) = ran(attempts(3).with_feedback(FeedbackMode::Transcript), only_good(), poem(3)).await;
    assert_eq!(model.requests()[2].messages[1].text(), "line 2");
}

#[tokio::test(start_paused = true)]
async fn g16_fatal_fails_the_turn_and_g17_escalate_takes_its_edge() {
    let fatal = Validators::new().with_fn("f", |_, _: &Trip| Verdict::fatal("illegal", "must not be said"));
    let (end, model) = ran(attempts(3), fatal, poem(2)).await;
    assert!(matches!(end.stage_error(), StageError::Fatal { .. }));
    assert_eq!(model.requests().len(), 1);

    let odd = Validators::new().with_fn("p", |_, _: &Trip| Verdict::escalate("blocked", "delicate", "look at it"));
    let (end, _) = ran(attempts(3), odd, poem(1)).await;
    assert_eq!((end.state().notes.join(",").as_str(), end.state().history.len()), ("handoff", 1));
    let round = end.state().book.last_round("explore").unwrap();
    assert!(matches!(&round.end, RoundEnd::Escalated { edge, .. } if edge == "blocked"));
}

#[tokio::test(start_paused = true)]
async fn g18_the_best_is_replied_and_g19_the_fallback_model_is_asked_once() {
    let scored = only_good().with_score(|response, _: &Trip| if response.text == "b" { 0.7 } else { 0.2 });
    let policy = attempts(3).with_exhaustion(Exhaustion::AcceptBest);
    let (end, _) = ran(policy, scored, ["a", "b", "c"].map(Turn::text)).await;
    assert_eq!((end.reply(), end.tokens()), (Some("b"), vec!["b"]));
    assert!(matches!(&end.stage_events()[2], StageEvent::AcceptedBest { best, .. } if best.attempt == 2));

    let (small, large) = (ScriptedModel::new(poem(3)), ScriptedModel::new([Turn::text("good")]).with_name("large"));
    let policy = attempts(3).with_exhaustion(Exhaustion::FallbackModel);
    let node = |agent| GatedNode::new(agent, gate(policy.clone(), only_good()));
    let end = turn(node(agent(&small).fallback_model(large.clone()))).await;
    assert_eq!((end.reply(), small.requests().len(), large.requests().len()), (Some("good"), 3, 1));
    assert!(matches!(node(agent(&small)).check(), Err(StageError::NoFallback { .. })));
}

#[tokio::test(start_paused = true)]
async fn g20_g24_g25_g26_g28_g29_behave_as_in_two_vertices() {
    let (end, _) = ran(attempts(3).in_shadow(), only_good(), poem(1)).await;
    assert_eq!((end.reply(), end.state().book.totals("explore").shadow), (Some("line 1"), 1));
    let (end, model) = ran(attempts(3), only_good(), [Turn::refusal("I won't.")]).await;
    assert_eq!((end.state().notes.join(",").as_str(), model.requests().len()), ("handoff", 1));
    let (end, model) =
        ran(attempts(3), only_good(), [Turn::error(ModelError::transport("reset")), Turn::text("good")]).await;
    assert_eq!((end.reply(), counters(end.state())), (Some("good"), vec![("invocation".to_owned(), 1)]));
    assert_eq!(model.requests()[0], model.requests()[1]);
    let (end, model) = ran(attempts(3), only_good(), [Turn::text("bad"), Turn::text("bad")]).await;
    assert_eq!((exhausted_by(&end), model.requests().len()), ((&ExhaustedBy::NoProgress, 2), 2));
    let trim =
        Validators::new().with_fn("t", |response, _: &Trip| Verdict::accept_text(response.text.trim(), "trimmed"));
    let (end, _) = ran(attempts(3), trim, [Turn::text(" hello ")]).await;
    assert_eq!((end.reply(), end.tokens()), (Some("hello"), vec!["hello"]));
    assert!(matches!(&end.stage_events()[0], StageEvent::Modified { .. }));
    let broken = Validators::new().with_fn("b", |_, _: &Trip| panic!("oops"));
    let (end, _) = ran(attempts(1), broken, poem(1)).await;
    assert_eq!(exhausted_by(&end).1, 1);
}

#[tokio::test(start_paused = true)]
async fn g23_a_turn_cancelled_in_the_wait_asks_no_more_and_its_attempt_is_in_the_book() {
    let model = ScriptedModel::new(poem(1).into_iter().chain([Turn::text("good")]));
    let runner = runner(GatedNode::new(agent(&model), gate(attempts(3), only_good()))).store(MemoryStore::new());
    let thread = runner.thread("t");
    let start = Instant::now();
    tokio::select! {
        _ = thread.run(seat().user("hi")) => panic!("it waits"),
        () = sleep(ms(200)) => {}
    }
    assert_eq!((start.elapsed(), model.requests().len()), (ms(200), 1));
    let state = thread.state().await.unwrap().state;
    assert_eq!((state.book.open["explore"].started(), state.book.tokens()), (1, 110));
    // It goes on with the second attempt.
    let end = thread.proceed().await.unwrap();
    assert_eq!((model.requests().len(), end.state.book.totals("explore").attempts), (2, 2));
    assert_eq!(model.requests()[1].messages.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn g27_a_turn_that_goes_on_does_not_reset_the_budget() {
    let model = ScriptedModel::new(poem(9));
    let runner = runner(GatedNode::new(agent(&model), gate(attempts(3), only_good()).exhausted("handoff")))
        .store(MemoryStore::new());
    let thread = runner.thread("t");
    tokio::select! {
        _ = thread.run(seat().user("hi")) => panic!("it waits"),
        () = sleep(ms(200)) => {}
    }
    let end = thread.proceed().await.unwrap();
    assert_eq!((model.requests().len(), end.state.book.totals("explore").attempts), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn a_round_that_nobody_goes_on_with_is_counted_as_abandoned() {
    let model = ScriptedModel::new(poem(1).into_iter().chain([Turn::text("good")]));
    let runner = runner(GatedNode::new(agent(&model), gate(attempts(3), only_good()))).store(MemoryStore::new());
    let thread = runner.thread("t");
    tokio::select! {
        _ = thread.run(seat().user("hi")) => panic!("it waits"),
        () = sleep(ms(200)) => {}
    }
    thread.abandon().await.unwrap();
    let end = thread.run(seat().user("again")).await.unwrap();
    let totals = end.state.book.totals("explore");
    assert_eq!((totals.rounds, totals.attempts, totals.rejected), (2, 2, Usage::new(100, 10)));
    assert_eq!(end.state.book.recent[0].end, RoundEnd::Abandoned);
}

#[tokio::test(start_paused = true)]
async fn what_would_fail_the_first_turn_is_found_when_the_graph_compiles() {
    let model = ScriptedModel::new([]);
    let compile = |node: GatedNode<Trip>| {
        let built = Graph::<Trip>::builder("trip").node("talk", node).edge(START, "talk").compile();
        built.unwrap_err().to_string()
    };
    let best = attempts(1).with_exhaustion(Exhaustion::AcceptBest);
    assert!(compile(GatedNode::new(agent(&model), gate(best, only_good()))).contains("Validators::with_score"));
    let fallback = attempts(1).with_exhaustion(Exhaustion::FallbackModel);
    assert!(compile(GatedNode::new(agent(&model), gate(fallback, only_good()))).contains("has none"));
    let other = graph_nodes::stage::AgentNode::new("present", seat()).with_model(model.clone());
    let differ = GatedNode::new(other, gate(attempts(1), only_good()));
    assert!(matches!(differ.check(), Err(StageError::StagesDiffer { .. })));
    let retried = GatedNode::new(agent(&model), gate(attempts(1), only_good())).retry(Retry::fixed(2, ms(10)));
    let built = Graph::<Trip>::builder("trip").node("talk", retried).edge(START, "talk").compile();
    assert!(built.unwrap_err().to_string().contains("it counts the attempts and asks again itself"));
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_a_line_of_the_books_table() {
    let model = ScriptedModel::new([
        Turn::text("a").with_delay(ms(1234)),
        Turn::text("good").without_usage(),
        Turn::text("no").with_delay(ms(7)),
    ]);
    let runner = runner(GatedNode::new(agent(&model), gate(attempts(3), only_good()))).store(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(seat().user("hi")).await.unwrap();
    tokio::select! {
        _ = thread.run(seat().user("and?")) => panic!("it waits"),
        () = sleep(ms(200)) => {}
    }
    let expected = "\
stage    round     n  outcome   codes     input  output    ms  model
explore  accepted  1  rejected  not_good    100      10  1234  scripted
explore  accepted  2  accepted  -             ?       ?     0  scripted
explore  open      1  rejected  not_good    100      10     7  scripted
";
    assert_eq!(thread.state().await.unwrap().state.book.to_attempts_table(), expected);
}
