//! Errors of the model, refusals, cancellation.

use crate::driver::{Run, accepted, attempts, counters, exhausted_by, poem, reject_all, run};
use graph_nodes::gate::{Code, Decision, ExhaustedBy, GateLedger, Validators};
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{ModelError, ScriptedModel, Turn};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn g23_cancelled_while_waiting_asks_no_more() {
    let model = ScriptedModel::new(poem(1));
    let mut run = Run::new(model.clone(), GateLedger::default());
    let policy = attempts(3);
    assert!(run.step(&policy, &reject_all()).await.is_ok());
    let Decision::Retry { backoff, .. } = run.decision().clone() else { panic!("retry") };
    let cancel = Duration::from_millis(200);
    assert!(tokio::time::timeout(cancel, tokio::time::sleep(backoff)).await.is_err());
    run.ledger.cancelled_while_waiting(backoff - cancel);
    assert_eq!(model.requests().len(), 1);
    assert_eq!(counters(&run), [("cancelled", 1), ("no", 1)]);
    assert_eq!((run.ledger.started(), run.ledger.elapsed), (1, cancel));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_started_and_not_finished() {
    let run = run(&attempts(3), &Validators::new(), [Turn::error(ModelError::Cancelled)]).await;
    assert_eq!(run.decision(), &Decision::Cancelled);
    assert_eq!((run.ledger.started(), run.ledger.finished()), (1, 0));
    assert_eq!(counters(&run), [("cancelled", 1)]);
}

#[tokio::test(start_paused = true)]
async fn g24_a_refusal_takes_the_blocked_edge_and_is_not_retried() {
    let filtered = Turn::text("half").with_finish(FinishReason::ContentFilter);
    for (turn, reason) in [(Turn::refusal("I won't."), "I won't."), (filtered, "a content filter stopped the answer")] {
        let run = run(&attempts(3), &Validators::new(), [turn]).await;
        let expected =
            Decision::Escalate { edge: "blocked".into(), code: Code::BLOCKED, reason: reason.into(), exhausted: None };
        assert_eq!(run.decision(), &expected);
        assert_eq!((run.requests.len(), counters(&run)), (1, vec![("blocked", 1)]));
        assert_eq!(run.ledger.rejected, Usage::new(100, 10));
    }
}

#[tokio::test(start_paused = true)]
async fn g25_a_transport_error_is_an_attempt() {
    let run =
        run(&attempts(3), &Validators::new(), [Turn::error(ModelError::transport("reset")), Turn::text("good")]).await;
    assert_eq!(accepted(&run), "good");
    assert_eq!((run.ledger.started(), counters(&run)), (2, vec![("invocation", 1)]));
    assert_eq!(run.ledger.usage_unknown, 0);
    assert_eq!(run.requests[0], run.requests[1]);
}

#[tokio::test(start_paused = true)]
async fn an_error_that_will_come_again_is_fatal() {
    let run = run(&attempts(3), &Validators::new(), [Turn::error(ModelError::rejected("bad schema"))]).await;
    assert!(matches!(run.decision(), Decision::Fatal { code, .. } if *code == Code::INVOCATION));
    assert_eq!((run.requests.len(), counters(&run)), (1, vec![("invocation", 1)]));
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_for() {
    let start = Instant::now();
    let limited = ModelError::RateLimited { message: "slow down".into(), retry_after: Some(Duration::from_secs(7)) };
    let run = run(&attempts(3), &Validators::new(), [Turn::error(limited), Turn::text("good")]).await;
    assert_eq!((accepted(&run), start.elapsed()), ("good", Duration::from_secs(7)));
}

#[tokio::test(start_paused = true)]
async fn tokens_of_a_stream_that_broke_are_paid_for() {
    // Chunks: text, finish, usage, then the error.
    let broken = Turn::text("half").broken_after(3, ModelError::transport("reset"));
    let run = run(&attempts(3), &Validators::new(), [broken, Turn::text("good")]).await;
    assert_eq!((run.ledger.rejected, run.ledger.accepted), (Usage::new(100, 10), Usage::new(100, 10)));
    // Also when it is the provider that says so.
    let broken = Turn::text("half").broken_after(3, ModelError::provider("out of memory"));
    let run = self::run(&attempts(3), &Validators::new(), [broken, Turn::text("good")]).await;
    assert_eq!((run.ledger.rejected, run.ledger.accepted), (Usage::new(100, 10), Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn keys_quotas_and_rates_have_codes_of_their_own() {
    let message = || "no".to_owned();
    for (error, code, asked) in [
        (ModelError::Authentication { message: message() }, "authentication", 1),
        (ModelError::Quota { message: message() }, "quota", 1),
        (ModelError::ContextTooLong { message: message() }, "context_too_long", 1),
        (ModelError::unsendable("no"), "invocation", 1),
        (ModelError::RateLimited { message: message(), retry_after: None }, "rate", 2),
        (ModelError::provider("no"), "invocation", 2),
        (ModelError::truncated("no"), "invocation", 2),
    ] {
        let run = run(&attempts(3), &Validators::new(), [Turn::error(error), Turn::text("good")]).await;
        assert_eq!((run.requests.len(), counters(&run)), (asked, vec![(code, 1)]));
    }
}

#[tokio::test(start_paused = true)]
async fn s46_finish_tool_calls_without_calls_is_the_empty_code() {
    let run = run(&attempts(1), &Validators::new(), [Turn::calls([])]).await;
    assert_eq!((exhausted_by(&run), counters(&run)), (&ExhaustedBy::Attempts, vec![("empty", 1)]));
}
