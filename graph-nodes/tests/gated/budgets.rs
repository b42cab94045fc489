//! Limits of the plain function: codes, tokens, time, cancellation, and rounds that go on.

use std::time::Duration;

use graph_nodes::gate::{
    Code, Cost, GateError, GateLedger, Gated, GatedError, GatedEvent, Judgement, Validators, Verdict,
};
use graph_nodes::message::Usage;
use graph_nodes::model::{Chunk, Response, ScriptedModel, Turn};
use tokio::time::{Instant, sleep};

use crate::support::{Ran, ask, attempts, only_good, poem, run, run_with};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn exhausted_by(ran: &Ran) -> String {
    let GatedError::Exhausted(failure) = ran.error() else { panic!("{}", ran.error()) };
    failure.by.to_string()
}

fn structured() -> graph_nodes::model::Request {
    ask().with_response_schema(serde_json::json!({"type": "object"}))
}

#[tokio::test(start_paused = true)]
async fn g6_parse_empty_and_reject_each_go_to_their_counter() {
    let turns = [Turn::text("no json"), Turn::text(""), Turn::text("{}")];
    let ran = run_with(attempts(3), only_good(), turns, |gated| gated, structured()).await;
    assert_eq!((ran.asked(), exhausted_by(&ran).as_str()), (3, "attempts"));
    assert_eq!(ran.counters(), [("empty", 1), ("not_good", 1), ("parse", 1)]);
}

#[tokio::test(start_paused = true)]
async fn g7_a_cap_of_one_code_ends_it_and_is_named() {
    let policy = attempts(5).with_code_cap(Code::PARSE, 1);
    let ran = run_with(policy, only_good(), poem(2), |gated| gated, structured()).await;
    assert_eq!((ran.asked(), exhausted_by(&ran).as_str()), (2, "code:parse"));
}

#[tokio::test(start_paused = true)]
async fn g8_a_token_budget_stops_after_the_attempt_that_used_it_up() {
    let ran = run(attempts(5).with_token_budget(250), only_good(), poem(3)).await;
    assert_eq!((ran.asked(), exhausted_by(&ran).as_str(), ran.ledger().tokens()), (3, "tokens", 330));
}

#[tokio::test(start_paused = true)]
async fn g9_the_deadline_cuts_the_second_call() {
    let start = Instant::now();
    let turns = poem(3).into_iter().map(|turn| turn.with_delay(ms(400)));
    let ran = run(attempts(5).with_deadline(ms(1200)), only_good(), turns).await;
    assert_eq!((start.elapsed(), ran.asked(), exhausted_by(&ran).as_str()), (ms(1200), 2, "deadline"));
    assert_eq!((ran.ledger().count(&Code::DEADLINE), ran.ledger().finished()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn tokens_that_were_reported_before_the_deadline_are_paid_for() {
    let chunks = [Chunk::text("half").with_usage_so_far(), Chunk::text("never")];
    let slow = Turn::chunks(chunks).with_chunk_delay(ms(100));
    let ran = run(attempts(1).with_deadline(ms(150)), Validators::new(), [slow]).await;
    assert_eq!((exhausted_by(&ran).as_str(), ran.ledger().rejected), ("deadline", Usage::new(80, 1)));
}

trait SoFar {
    fn with_usage_so_far(self) -> Self;
}

impl SoFar for Chunk {
    fn with_usage_so_far(self) -> Self {
        self.with_usage(Usage::new(80, 1))
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_a_judge_and_its_attempt() {
    let start = Instant::now();
    let slow = Validators::<()>::new().with_async_fn("slow", Cost::Judge, async |_: &Response, (): &()| {
        sleep(ms(9_000)).await;
        Verdict::Accept
    });
    let turn = Turn::text("good").with_delay(ms(200));
    let ran = run(attempts(5).with_deadline(ms(1_000)), slow, [turn]).await;
    assert_eq!((start.elapsed(), exhausted_by(&ran).as_str(), ran.asked()), (ms(1_000), "deadline", 1));
    assert_eq!((ran.ledger().rejected, ran.ledger().elapsed), (Usage::new(100, 10), ms(1_000)));
    assert_eq!(ran.ledger().started(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_an_async_check_counts() {
    let slow = only_good().with_async_fn("slow", Cost::Cheap, async |_: &Response, (): &()| {
        sleep(ms(30)).await;
        Verdict::Accept
    });
    let ran = run(attempts(1), slow, [Turn::text("good").with_delay(ms(200))]).await;
    assert_eq!(ran.ledger().elapsed, ms(230));
}

#[tokio::test(start_paused = true)]
async fn g10_only_the_last_attempt_is_the_last() {
    let ran = run(attempts(3), only_good(), poem(3)).await;
    let codes = || vec![Code::new("not_good")];
    let rejected = |attempt, is_last| GatedEvent::Rejected { codes: codes(), attempt, max: 3, is_last };
    assert_eq!(ran.events, [rejected(2, false), rejected(3, true)]);
}

#[tokio::test(start_paused = true)]
async fn g23_stopped_in_the_wait_there_is_no_more_call_and_no_fallback() {
    let model = ScriptedModel::new(poem(3).into_iter().map(|turn| turn.with_delay(ms(400))));
    let large = ScriptedModel::new([Turn::text("good")]);
    let policy = attempts(3).with_exhaustion(graph_nodes::gate::Exhaustion::FallbackModel);
    let gated = Gated::new(model.clone(), policy, only_good::<()>()).with_fallback(large.clone());
    let start = Instant::now();
    let failure = gated.round(ask(), &()).until(sleep(ms(600))).run(()).await.unwrap_err();
    assert_eq!((start.elapsed(), *failure.error), (ms(600), GatedError::Cancelled));
    assert_eq!((model.requests().len(), large.requests().len()), (1, 0));
    let ledger = failure.ledger;
    assert_eq!((ledger.started(), ledger.count(&Code::CANCELLED), ledger.elapsed), (1, 1, ms(600)));
}

#[tokio::test(start_paused = true)]
async fn g23_stopped_in_a_call_its_reported_tokens_are_paid_for() {
    let chunks = [Chunk::text("half").with_usage_so_far(), Chunk::text("never")];
    let model = ScriptedModel::new([Turn::chunks(chunks).with_chunk_delay(ms(100))]);
    let gated = Gated::new(model, attempts(3), only_good::<()>());
    let failure = gated.round(ask(), &()).until(sleep(ms(150))).run(()).await.unwrap_err();
    assert_eq!((*failure.error, failure.ledger.rejected), (GatedError::Cancelled, Usage::new(80, 1)));
    assert_eq!((failure.ledger.started(), failure.ledger.finished()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn g23_stopped_while_a_judge_thinks_the_response_is_paid_for() {
    let slow = Validators::<()>::new().with_async_fn("slow", Cost::Judge, async |_: &Response, (): &()| {
        sleep(ms(9_000)).await;
        Verdict::Accept
    });
    let gated = Gated::new(ScriptedModel::new(poem(1)), attempts(3), slow);
    let failure = gated.round(ask(), &()).until(sleep(ms(150))).run(()).await.unwrap_err();
    assert_eq!((*failure.error, failure.ledger.tokens()), (GatedError::Cancelled, 110));
}

#[tokio::test(start_paused = true)]
async fn g27_a_round_that_goes_on_has_at_most_two_more_calls_and_is_told_why() {
    let first = run(attempts(1), only_good(), poem(1)).await.end.unwrap_err();
    let saved = serde_json::to_string(&first.ledger).unwrap();
    let ledger: GateLedger = serde_json::from_str(&saved).unwrap();
    let model = ScriptedModel::new(["a", "b", "c"].map(Turn::text));
    let gated = Gated::new(model.clone(), attempts(3), only_good::<()>());
    let failure = gated.round(ask(), &()).resuming(ledger).run(()).await.unwrap_err();
    assert_eq!((model.requests().len(), failure.ledger.started()), (2, 3));
    assert_eq!(model.requests()[0].messages[1].text(), "Your previous answer was rejected: say `good`");
}

#[tokio::test(start_paused = true)]
async fn g27_a_round_that_is_used_up_is_not_asked_for_once_more() {
    let over = run(attempts(2), only_good(), poem(2)).await.end.unwrap_err();
    let model = ScriptedModel::new(poem(1));
    let gated = Gated::new(model.clone(), attempts(2), only_good::<()>());
    let failure = gated.round(ask(), &()).resuming(*over.ledger).run(()).await.unwrap_err();
    assert_eq!((model.requests().len(), failure.error), (0, over.error));

    // Nor is the fallback model, whose attempt is final.
    let policy = || attempts(1).with_exhaustion(graph_nodes::gate::Exhaustion::FallbackModel);
    let large = ScriptedModel::new(poem(1)).with_name("large");
    let change = |gated: Gated<()>| gated.with_fallback(large);
    let over = run_with(policy(), only_good(), [Turn::text("bad")], change, ask()).await.end.unwrap_err();
    let gated = Gated::new(model.clone(), policy(), only_good::<()>()).with_fallback(model.clone());
    let failure = gated.round(ask(), &()).resuming(*over.ledger).run(()).await.unwrap_err();
    let expected = GateError::SecondFallback { attempt: 2, model: "scripted".into() };
    assert_eq!((model.requests().len(), *failure.error), (0, GatedError::Gate(expected)));
}

#[tokio::test(start_paused = true)]
async fn g30_unknown_usage_counts_as_zero_but_not_against_a_token_budget() {
    let ran = run(attempts(3), only_good(), [Turn::text("good").without_usage()]).await;
    assert_eq!((ran.ledger().usage_unknown, ran.ledger().tokens()), (1, 0));
    let ran = run(attempts(3).with_token_budget(500), only_good(), [Turn::text("good").without_usage()]).await;
    let expected = GateError::UsageUnavailable { model: "scripted".into(), budget: 500 };
    assert_eq!(ran.error(), &GatedError::Gate(expected));
}

#[tokio::test(start_paused = true)]
async fn g30_a_judge_without_usage_is_unknown_too() {
    let judged = || {
        Validators::<()>::new().with_async_fn("judge", Cost::Judge, async |_: &Response, (): &()| {
            Judgement::from(Verdict::Accept).with_unknown_usage("small")
        })
    };
    let ran = run(attempts(1), judged(), poem(1)).await;
    assert_eq!((ran.text(), ran.ledger().usage_unknown), ("line 1", 1));
    let ran = run(attempts(1).with_judge_token_budget(50), judged(), poem(1)).await;
    let expected = GateError::UsageUnavailable { model: "small".into(), budget: 50 };
    assert_eq!((ran.error(), ran.ledger().rejected), (&GatedError::Gate(expected), Usage::new(100, 10)));
}
