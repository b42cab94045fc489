//! Attempts, tokens, time and the other limits, and what the ledger says of them.

use crate::driver::{Run, accepted, ask, attempts, counters, exhausted_by, only_good, poem, reject_all, run, run_with};
use graph_nodes::gate::{Code, Decision, ExhaustedBy, Exhaustion, GateError, GateLedger, Validators};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ScriptedModel, Turn};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn g01_three_attempts_are_three_calls_and_the_error_lists_them() {
    let run = run(&attempts(3), &reject_all(), poem(3)).await;
    assert_eq!(run.requests.len(), 3);
    let Decision::Exhausted(failure) = run.decision() else { panic!("exhausted") };
    assert_eq!((&failure.by, failure.attempts.len()), (&ExhaustedBy::Attempts, 3));
    assert_eq!(
        failure.to_string(),
        "no response was accepted in 3 attempts (limit: attempts); \
         1: rejected `no` by `reject_all` (line 1); \
         2: rejected `no` by `reject_all` (line 2); \
         3: rejected `no` by `reject_all` (line 3)",
    );
}

#[tokio::test(start_paused = true)]
async fn g02_two_rejections_then_acceptance_are_all_paid_for() {
    let run = run(&attempts(3), &only_good(), [Turn::text("a"), Turn::text("b"), Turn::text("good")]).await;
    assert_eq!(accepted(&run), "good");
    assert_eq!(run.requests.len(), 3);
    assert_eq!(run.ledger.accepted + run.ledger.rejected, Usage::new(300, 30));
    assert_eq!(run.ledger.rejected, Usage::new(200, 20));
    assert_eq!(run.history, [ask(), Message::assistant("good").with_usage(Usage::new(100, 10))]);
    assert_eq!(run.ledger.acceptance_rate(), Some(1.0 / 3.0));
}

#[tokio::test(start_paused = true)]
async fn g03_one_attempt_is_one_call() {
    let run = run(&attempts(1), &reject_all(), poem(1)).await;
    assert_eq!((run.requests.len(), exhausted_by(&run)), (1, &ExhaustedBy::Attempts));
}

#[tokio::test(start_paused = true)]
async fn g05_an_empty_response_is_counted_and_asked_again() {
    let run = run(&attempts(3), &Validators::new(), [Turn::text("  "), Turn::text("good")]).await;
    assert_eq!(accepted(&run), "good");
    assert_eq!((run.requests.len(), counters(&run)), (2, vec![("empty", 1)]));
}

#[tokio::test(start_paused = true)]
async fn g06_parse_empty_and_reject_each_go_to_their_counter() {
    let turns = [Turn::text("no json"), Turn::text(""), Turn::text("{}")];
    let run = run_with(&attempts(3), &reject_all(), turns, GateLedger::default(), |request| {
        request.with_response_schema(serde_json::json!({"type": "object"}))
    })
    .await;
    assert_eq!((run.requests.len(), exhausted_by(&run)), (3, &ExhaustedBy::Attempts));
    assert_eq!(counters(&run), [("empty", 1), ("no", 1), ("parse", 1)]);
}

#[tokio::test(start_paused = true)]
async fn g07_a_cap_of_one_code_ends_it_and_is_named() {
    let turns = [Turn::text("no json"), Turn::text("again none")];
    let policy = attempts(5).with_code_cap(Code::PARSE, 1);
    let run = run_with(&policy, &Validators::new(), turns, GateLedger::default(), |request| {
        request.with_response_schema(serde_json::json!({"type": "object"}))
    })
    .await;
    assert_eq!((run.requests.len(), exhausted_by(&run).to_string().as_str()), (2, "code:parse"));
}

#[tokio::test(start_paused = true)]
async fn g08_a_token_budget_stops_after_the_attempt_that_used_it_up() {
    let run = run(&attempts(5).with_token_budget(250), &reject_all(), poem(3)).await;
    assert_eq!((run.requests.len(), exhausted_by(&run)), (3, &ExhaustedBy::Tokens));
    assert_eq!(run.ledger.tokens(), 330);
}

#[tokio::test(start_paused = true)]
async fn g09_the_deadline_cuts_the_running_call() {
    let start = Instant::now();
    let policy = attempts(5).with_deadline(Duration::from_millis(1200));
    let turns = poem(2).map(|turn| turn.with_delay(Duration::from_millis(400)));
    let run = run(&policy, &reject_all(), turns).await;
    assert_eq!(start.elapsed(), Duration::from_millis(1200));
    assert_eq!((run.requests.len(), exhausted_by(&run)), (2, &ExhaustedBy::Deadline));
    assert_eq!(run.ledger.count(&Code::DEADLINE), 1);
    assert_eq!((run.ledger.started(), run.ledger.finished()), (2, 1));
    assert_eq!(run.ledger.elapsed, Duration::from_millis(1200));
}

#[tokio::test(start_paused = true)]
async fn no_wait_begins_that_would_end_at_the_deadline() {
    let start = Instant::now();
    let policy = attempts(5).with_deadline(Duration::from_millis(900));
    let turns = poem(1).map(|turn| turn.with_delay(Duration::from_millis(400)));
    let run = run(&policy, &reject_all(), turns).await;
    assert_eq!(start.elapsed(), Duration::from_millis(400));
    assert_eq!(exhausted_by(&run), &ExhaustedBy::Deadline);
}

#[tokio::test(start_paused = true)]
async fn g10_only_the_last_attempt_is_told_to_be_the_last() {
    let run = run(&attempts(3), &reject_all(), poem(3)).await;
    assert_eq!(run.infos.iter().map(|info| info.is_last).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(run.infos.iter().map(|info| info.attempt).collect::<Vec<_>>(), [1, 2, 3]);
    // What a retry says of the next attempt is what the next attempt is told.
    assert_eq!(run.promised, run.infos[1..]);
}

#[tokio::test(start_paused = true)]
async fn exhaustion_can_take_an_edge_and_still_names_the_limit() {
    let policy = attempts(2).with_exhaustion(Exhaustion::Escalate("human".into()));
    let run = run(&policy, &reject_all(), poem(2)).await;
    let expected = Decision::Escalate {
        edge: "human".into(),
        code: Code::new("no"),
        reason: "line 2".into(),
        exhausted: Some(ExhaustedBy::Attempts),
    };
    assert_eq!(run.decision(), &expected);
}

#[tokio::test(start_paused = true)]
async fn g26_the_same_rejected_response_twice_is_no_progress() {
    let same = || [Turn::text("bad"), Turn::text("bad"), Turn::text("good")];
    let stopped = run(&attempts(3), &only_good(), same()).await;
    assert_eq!((stopped.requests.len(), exhausted_by(&stopped)), (2, &ExhaustedBy::NoProgress));
    let goes_on = run(&attempts(3).despite_no_progress(), &only_good(), same()).await;
    assert_eq!(accepted(&goes_on), "good");
}

#[tokio::test(start_paused = true)]
async fn g27_a_resume_does_not_reset_the_budget() {
    let mut first = Run::new(ScriptedModel::new(poem(1)), GateLedger::default());
    first.step(&attempts(3), &reject_all()).await.unwrap();
    let saved = serde_json::to_string(&first.ledger).unwrap();
    let ledger: GateLedger = serde_json::from_str(&saved).unwrap();
    assert_eq!(ledger, first.ledger);
    let turns = [Turn::text("other"), Turn::text("another"), Turn::text("one too many")];
    let run = run_with(&attempts(3), &reject_all(), turns, ledger, |request| request).await;
    assert_eq!((run.requests.len(), exhausted_by(&run)), (2, &ExhaustedBy::Attempts));
    assert_eq!(run.ledger.started(), 3);
}

#[tokio::test(start_paused = true)]
async fn g30_unknown_usage_counts_as_zero_but_not_against_a_token_budget() {
    let turns = || [Turn::text("good").without_usage()];
    let run_free = run(&attempts(3), &Validators::new(), turns()).await;
    assert_eq!((run_free.ledger.usage_unknown, run_free.ledger.tokens()), (1, 0));

    let mut budgeted = Run::new(ScriptedModel::new(turns()).with_name("local"), GateLedger::default());
    let error = budgeted.step(&attempts(3).with_token_budget(500), &Validators::new()).await.unwrap_err();
    assert_eq!(error, GateError::UsageUnavailable { model: "local".into(), budget: 500 });
    assert_eq!((budgeted.ledger.started(), budgeted.ledger.usage_unknown), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_table_is_aligned() {
    let turns = [Turn::text("a").with_delay(Duration::from_millis(1234)), Turn::text("good").without_usage()];
    let run = run(&attempts(3), &only_good(), turns).await;
    let expected = "\
n  outcome   codes     input  output    ms  model
1  rejected  not_good    100      10  1234  scripted
2  accepted  -             ?       ?     0  scripted
accepted: 0 input, 0 output
rejected: 100 input, 10 output
judge: 0 input, 0 output
usage unknown: 1
counters: not_good 1
elapsed: 1734 ms
";
    assert_eq!(run.ledger.to_table(), expected);
}
