//! What each verdict leads to, and in which order checks run.

use crate::driver::{accepted, ask, attempts, counters, exhausted_by, poem, reject_all, run};
use async_trait::async_trait;
use graph_nodes::gate::{
    AsyncValidator, AttemptOutcome, Code, Decision, ExhaustedBy, GateLedger, GatePolicy, Judgement, ModelOutcome,
    PanicPolicy, Validators, Verdict, decide,
};
use graph_nodes::message::{FinishReason, ToolCall, Usage};
use graph_nodes::model::{Response, Turn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn g04_a_rejected_response_runs_none_of_its_calls() {
    let calls = [ToolCall::from_text("a", "f", "{}"), ToolCall::from_text("b", "f", "{}")];
    let run = run(&attempts(1), &reject_all(), [Turn::calls(calls)]).await;
    assert_eq!(run.dispatched, 0);
    assert_eq!(run.history, [ask()]);
}

/// Counts how often it is asked, then answers with its verdict.
struct Judge(Arc<AtomicU32>, Verdict);

#[async_trait]
impl AsyncValidator<()> for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    async fn validate(&self, _: &Response, (): &()) -> Judgement {
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Judgement::from(self.1.clone()).with_usage(Usage::new(30, 1)).with_latency(Duration::from_millis(50))
    }
}

#[tokio::test(start_paused = true)]
async fn g14_a_cheap_rejection_spares_the_judge() {
    let asked = Arc::new(AtomicU32::new(0));
    let validators = Validators::new().with_judge(Judge(Arc::clone(&asked), Verdict::Accept));
    let cheap = validators.clone().with_fn("reject_all", |_, ()| Verdict::retry("no", "no"));
    run(&attempts(1), &cheap, poem(1)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 0);

    let run = run(&attempts(1), &validators, poem(1)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!((run.ledger.judge, run.ledger.judge_calls), (Usage::new(30, 1), 1));
    assert_eq!((run.ledger.started(), run.ledger.accepted), (1, Usage::new(100, 10)));
    assert_eq!(run.ledger.elapsed, Duration::from_millis(50));
}

#[tokio::test(start_paused = true)]
async fn judges_have_a_budget_of_their_own() {
    let validators = Validators::new().with_judge(Judge(Arc::default(), Verdict::retry("dull", "livelier")));
    let run = run(&attempts(5).with_judge_token_budget(60), &validators, poem(2)).await;
    assert_eq!((run.requests.len(), exhausted_by(&run)), (2, &ExhaustedBy::JudgeTokens));
}

#[tokio::test(start_paused = true)]
async fn g15_two_cheap_rejections_are_told_at_once_and_are_one_attempt() {
    let validators = Validators::new()
        .with_fn("first", |_, ()| Verdict::retry("one", "first reason"))
        .with_fn("second", |_, ()| Verdict::retry("two", "second reason"));
    let run = run(&attempts(2), &validators, poem(2)).await;
    assert_eq!(counters(&run), [("one", 2), ("two", 2)]);
    assert_eq!(run.ledger.started(), 2);
    let correction = run.requests[1].messages[1].text();
    assert_eq!(correction, "Your previous answer was rejected: first reason\nsecond reason");
}

#[tokio::test(start_paused = true)]
async fn g16_fatal_ends_it_at_once() {
    let validators = Validators::new()
        .with_fn("fatal", |_, ()| Verdict::fatal("illegal", "this must not be said"))
        .with_fn("never", |_, ()| unreachable!("fatal stops the chain"));
    let run = run(&attempts(3), &validators, poem(1)).await;
    assert_eq!(run.requests.len(), 1);
    assert_eq!(run.decision(), &Decision::Fatal { code: Code::new("illegal"), reason: "this must not be said".into() },);
    assert_eq!(run.ledger.attempts[0].outcome, AttemptOutcome::Fatal);
}

#[tokio::test(start_paused = true)]
async fn g17_escalate_names_its_edge() {
    let validators = Validators::new()
        .with_fn("retry", |_, ()| Verdict::retry("no", "no"))
        .with_fn("escalate", |_, ()| Verdict::escalate("human", "delicate", "a person should look"));
    let run = run(&attempts(3), &validators, poem(1)).await;
    let expected = Decision::Escalate {
        edge: "human".into(),
        code: Code::new("delicate"),
        reason: "a person should look".into(),
        exhausted: None,
    };
    assert_eq!(run.decision(), &expected);
    assert_eq!((run.history, run.ledger.rejected), (vec![ask()], Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g20_shadow_records_the_rejection_and_accepts() {
    let run = run(&attempts(3).in_shadow(), &reject_all(), poem(1)).await;
    assert_eq!((run.requests.len(), accepted(&run)), (1, "line 1"));
    assert_eq!((run.ledger.shadow, counters(&run)), (1, vec![("shadow:no", 1)]));
    assert_eq!((run.ledger.accepted, run.ledger.rejected), (Usage::new(100, 10), Usage::default()));
    assert_eq!(run.history.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn shadow_does_not_let_through_what_the_gate_itself_rejects() {
    let cut = Turn::calls([ToolCall::from_text("a", "f", "{")]).with_finish(FinishReason::Length);
    let run = run(&attempts(3).in_shadow(), &Validators::new(), [cut, Turn::text("good")]).await;
    assert_eq!((accepted(&run), counters(&run)), ("good", vec![("truncated", 1)]));
    assert_eq!(run.dispatched, 0);
}

#[tokio::test(start_paused = true)]
async fn a_text_without_a_finish_reason_may_be_half_of_one_and_is_rejected() {
    let run = run(&attempts(3), &Validators::new(), [Turn::text("half").without_finish(), Turn::text("whole")]).await;
    assert_eq!((accepted(&run), counters(&run)), ("whole", vec![("truncated", 1)]));
    assert_eq!(run.history.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn g28_a_modified_response_is_what_is_stored() {
    let validators = Validators::new()
        .with_fn("trim", |response, ()| Verdict::accept_text(response.text.trim(), "trimmed"))
        .with_fn("sees_it", |response, ()| match response.text.as_str() {
            "hello" => Verdict::Accept,
            _ => Verdict::retry("not_trimmed", "no"),
        });
    let run = run(&attempts(3), &validators, [Turn::text(" hello ")]).await;
    let Decision::Accept { response, note, modified: Some(modified), .. } = run.decision() else { panic!("modified") };
    assert_eq!((response.text.as_str(), note.as_deref()), ("hello", Some("trimmed")));
    assert_ne!(modified.before, modified.after);
    assert_eq!(run.ledger.attempts[0].modified.as_ref(), Some(modified));
    assert_eq!(run.history[1].text(), "hello");
}

#[tokio::test(start_paused = true)]
async fn g29_a_validator_that_panics_rejects_unless_the_policy_says_otherwise() {
    let panics = || Validators::new().with_fn("broken", |_, ()| panic!("oops"));
    let closed = run(&attempts(1), &panics(), poem(1)).await;
    assert_eq!((exhausted_by(&closed), counters(&closed)), (&ExhaustedBy::Attempts, vec![("validator_failed", 1)]));
    assert_eq!(closed.ledger.attempts[0].reasons[0].validator.as_deref(), Some("broken"));

    let fatal = run(&attempts(3).with_validator_panic(PanicPolicy::Fatal), &panics(), poem(1)).await;
    let reason = "the validator `broken` panicked (oops); correct it".to_owned();
    assert_eq!(fatal.decision(), &Decision::Fatal { code: Code::VALIDATOR_FAILED, reason });

    let open = run(&attempts(1).with_validator_panic(PanicPolicy::Accept), &panics(), poem(1)).await;
    assert_eq!((accepted(&open), counters(&open)), ("line 1", vec![("validator_failed", 1)]));
}

struct BrokenJudge;

#[async_trait]
impl AsyncValidator<()> for BrokenJudge {
    fn name(&self) -> &str {
        "broken_judge"
    }

    async fn validate(&self, _: &Response, (): &()) -> Judgement {
        tokio::task::yield_now().await;
        panic!("oops")
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_panics_after_an_await_rejects_too() {
    let run = run(&attempts(1), &Validators::new().with_judge(BrokenJudge), poem(1)).await;
    assert_eq!(counters(&run), [("validator_failed", 1)]);
}

#[tokio::test]
async fn the_decision_can_be_awaited_on_any_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (policy, validators, mut ledger) = (GatePolicy::new(), reject_all(), GateLedger::default());
    let outcome = ModelOutcome::cancelled("m", Duration::ZERO);
    let decision = is_send(decide(&policy, &validators, &mut ledger, outcome, &())).await;
    assert_eq!(decision, Ok(Decision::Cancelled));
}
