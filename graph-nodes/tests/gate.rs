//! The acceptance gate, driven by a small loop on tokio's paused clock.

mod gate_loop;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use gate_loop::{Run, ask, counters, poem, reject_all, run, run_with};
use graph_nodes::gate::{
    AsyncValidator, AttemptOutcome, Code, Decision, ExhaustedBy, Exhaustion, FeedbackMode, GateError, GateLedger,
    GatePolicy, Judgement, PanicPolicy, Validators, Verdict,
};
use graph_nodes::message::{FinishReason, Message, ToolCall, Usage};
use graph_nodes::model::{ModelError, ScriptedModel, Turn};
use tokio::time::Instant;

fn attempts(n: u32) -> GatePolicy {
    GatePolicy::new().with_max_attempts(NonZeroU32::new(n).unwrap())
}

fn exhausted_by(run: &Run) -> &ExhaustedBy {
    match run.decision() {
        Decision::Exhausted(failure) => &failure.by,
        other => panic!("expected exhaustion, got {other:?}"),
    }
}

fn accepted(run: &Run) -> &str {
    match run.decision() {
        Decision::Accept { response, .. } => &response.text,
        other => panic!("expected acceptance, got {other:?}"),
    }
}

/// Rejects every text but `good`.
fn only_good() -> Validators<()> {
    Validators::new().with_fn("only_good", |response, ()| match response.text.as_str() {
        "good" => Verdict::Accept,
        text => Verdict::retry("not_good", format!("`{text}` is not good")),
    })
}

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
async fn g04_a_rejected_response_runs_none_of_its_calls() {
    let calls = [ToolCall::from_text("a", "f", "{}"), ToolCall::from_text("b", "f", "{}")];
    let run = run(&attempts(1), &reject_all(), [Turn::calls(calls)]).await;
    assert_eq!(run.dispatched, 0);
    assert_eq!(run.history, [ask()]);
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
async fn g11_blind_requests_are_byte_identical() {
    let run = run(&attempts(3).with_feedback(FeedbackMode::Blind), &reject_all(), poem(3)).await;
    let texts: Vec<_> = run.requests.iter().map(|request| request.canonical_json()).collect();
    assert_eq!(texts, vec![texts[0].clone(); 3]);
}

#[tokio::test(start_paused = true)]
async fn g12_reason_adds_exactly_one_correction_the_latest() {
    let run = run(&attempts(3), &reject_all(), poem(3)).await;
    let correction = |line| Message::system(format!("Your previous answer was rejected: line {line}"));
    assert_eq!(run.requests[0].messages, [ask()]);
    assert_eq!(run.requests[1].messages, [ask(), correction(1)]);
    assert_eq!(run.requests[2].messages, [ask(), correction(2)]);
}

#[tokio::test(start_paused = true)]
async fn g13_a_correction_is_not_in_the_saved_memory() {
    let run = run(&attempts(3), &only_good(), [Turn::text("bad"), Turn::text("good")]).await;
    assert_eq!(run.requests[1].messages.len(), 2);
    assert_eq!(run.history.iter().map(Message::text).collect::<Vec<_>>(), ["hi", "good"]);
}

/// Counts how often it is asked, then answers with its verdict.
struct Judge(Arc<AtomicU32>, Verdict);

#[async_trait]
impl AsyncValidator<()> for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    async fn validate(&self, _: &graph_nodes::model::Response, (): &()) -> Judgement {
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
async fn g28_a_modified_response_is_what_is_stored() {
    let validators = Validators::new()
        .with_fn("trim", |response, ()| Verdict::accept_text(response.text.trim(), "trimmed"))
        .with_fn("sees_it", |response, ()| match response.text.as_str() {
            "hello" => Verdict::Accept,
            _ => Verdict::retry("not_trimmed", "no"),
        });
    let run = run(&attempts(3), &validators, [Turn::text(" hello ")]).await;
    let Decision::Accept { response, note, modified: Some(modified) } = run.decision() else { panic!("modified") };
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
    let reason = "the validator `broken` panicked (oops): correct it".to_owned();
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

    async fn validate(&self, _: &graph_nodes::model::Response, (): &()) -> Judgement {
        tokio::task::yield_now().await;
        panic!("oops")
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_panics_after_an_await_rejects_too() {
    let run = run(&attempts(1), &Validators::new().with_judge(BrokenJudge), poem(1)).await;
    assert_eq!(counters(&run), [("validator_failed", 1)]);
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
async fn transcript_shows_the_rejected_answer_and_keeps_the_protocol() {
    let policy = attempts(2).with_feedback(FeedbackMode::Transcript);
    let call = ToolCall::from_text("a", "f", "{}");
    let run = run(&policy, &reject_all(), [Turn::text("so").with_call(call.clone()), Turn::text("other")]).await;
    let messages = &run.requests[1].messages;
    assert_eq!(messages[1], Message::assistant("so").with_calls([call]));
    assert_eq!(messages[2].text(), "not executed, because the whole answer was rejected: so");
    assert_eq!(messages.len(), 3);
    assert_eq!(graph_nodes::message::check_history(messages), Ok(()));
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
