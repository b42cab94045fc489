//! Attempts, feedback and verdicts of the plain function.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use graph_nodes::gate::{
    AttemptOutcome, Code, Cost, ExhaustedBy, Exhaustion, FeedbackMode, GateError, GatedError, GatedEvent, PanicPolicy,
    Validators, Verdict, shown,
};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ModelError, Response, ScriptedModel, Turn};

use crate::support::{Ran, ask, attempts, call, only_good, poem, run, run_with};

fn exhausted_by(ran: &Ran) -> &ExhaustedBy {
    let GatedError::Exhausted(failure) = ran.error() else { panic!("{}", ran.error()) };
    &failure.by
}

#[tokio::test(start_paused = true)]
async fn g1_three_attempts_are_three_calls_and_the_error_lists_them() {
    let ran = run(attempts(3), only_good(), poem(3)).await;
    assert_eq!(ran.asked(), 3);
    assert_eq!(
        ran.end.unwrap_err().to_string(),
        "no response was accepted in 3 attempts (limit: attempts); 1: rejected `not_good` by `only_good` (say `good`); \
         2: rejected `not_good` by `only_good` (say `good`); 3: rejected `not_good` by `only_good` (say `good`); \
         ask in another way, or raise the limit",
    );
}

#[tokio::test(start_paused = true)]
async fn g2_two_rejections_then_acceptance_are_all_paid_for() {
    let ran = run(attempts(3), only_good(), [Turn::text("a"), Turn::text("b"), Turn::text("good")]).await;
    assert_eq!((ran.text(), ran.asked()), ("good", 3));
    let ledger = ran.ledger();
    assert_eq!((ledger.accepted + ledger.rejected, ledger.rejected), (Usage::new(300, 30), Usage::new(200, 20)));
    let message = ran.end.unwrap().response.to_message();
    assert_eq!(message, Message::assistant("good").with_usage(Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g3_one_attempt_is_one_call() {
    let ran = run(attempts(1), only_good(), poem(1)).await;
    assert_eq!((ran.asked(), exhausted_by(&ran)), (1, &ExhaustedBy::Attempts));
}

#[tokio::test(start_paused = true)]
async fn g4_calls_of_a_rejected_response_are_never_handed_out() {
    let two = || Turn::calls([call("a", "f", "{}"), call("b", "f", "{}")]);
    let ran = run(attempts(2), only_good(), [two(), Turn::text("good")]).await;
    assert!(ran.end.as_ref().unwrap().response.calls.is_empty());
    let ran = run(attempts(1), only_good(), [two()]).await;
    assert_eq!(ran.end.unwrap_err().last.unwrap().calls.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn g5_an_empty_response_is_counted_and_asked_again() {
    let ran = run(attempts(3), Validators::new(), [Turn::text("  "), Turn::text("good")]).await;
    assert_eq!((ran.text(), ran.asked(), ran.counters()), ("good", 2, vec![("empty", 1)]));
}

#[tokio::test(start_paused = true)]
async fn g11_blind_requests_are_byte_identical() {
    let ran = run(attempts(3).with_feedback(FeedbackMode::Blind), only_good(), poem(3)).await;
    let sent: Vec<_> = ran.model.requests().iter().map(|request| request.canonical_json()).collect();
    assert_eq!(sent, vec![ask().canonical_json(); 3]);
}

#[tokio::test(start_paused = true)]
async fn g12_reason_adds_exactly_one_correction_the_latest_and_g13_keeps_none() {
    let quotes = Validators::new().with_fn("no", |response, ()| Verdict::retry("no", response.text.clone()));
    let ran = run(attempts(3), quotes, poem(3)).await;
    let sent: Vec<Vec<String>> =
        ran.model.requests().iter().map(|request| request.messages.iter().map(Message::text).collect()).collect();
    let correction = |line: &str| vec!["hi".to_owned(), format!("Your previous answer was rejected: {line}")];
    assert_eq!(sent, [vec!["hi".to_owned()], correction("line 1"), correction("line 2")]);
}

#[tokio::test(start_paused = true)]
async fn g14_a_cheap_rejection_spares_the_judge_and_g15_both_codes_are_told() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let validators = Validators::<()>::new()
        .with_async_fn("judge", Cost::Judge, move |_: &Response, (): &()| {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Verdict::Accept)
        })
        .with_fn("first", |_, ()| Verdict::retry("one", "first reason"))
        .with_async_fn("second", Cost::Cheap, async |_: &Response, (): &()| Verdict::retry("two", "second reason"));
    let ran = run(attempts(2), validators, poem(2)).await;
    assert_eq!((asked.load(Ordering::Relaxed), ran.counters()), (0, vec![("one", 2), ("two", 2)]));
    let told = ran.model.requests()[1].messages[1].text();
    assert_eq!(told, "Your previous answer was rejected: first reason\nsecond reason");
    assert_eq!((ran.ledger().started(), ran.ledger().judge_calls), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn g16_fatal_ends_it_at_once_and_g17_escalate_names_its_edge() {
    let fatal = Validators::new().with_fn("f", |_, ()| Verdict::fatal("illegal", "must not be said"));
    let ran = run(attempts(3), fatal, poem(1)).await;
    let expected = GatedError::Fatal { code: "illegal".into(), reason: "must not be said".into() };
    assert_eq!((ran.asked(), ran.error()), (1, &expected));

    let person = Validators::new().with_fn("p", |_, ()| Verdict::escalate("person", "delicate", "look at it"));
    let ran = run(attempts(3), person, poem(1)).await;
    let expected = GatedError::Escalated {
        edge: "person".into(),
        code: "delicate".into(),
        reason: "look at it".into(),
        exhausted: None,
    };
    assert_eq!((ran.asked(), ran.error(), ran.ledger().rejected), (1, &expected, Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g18_the_best_of_three_is_accepted_and_shown() {
    let scored = || {
        only_good().with_score(|response: &Response, ()| match response.text.as_str() {
            "b" => 0.7,
            "c" => 0.5,
            _ => 0.2,
        })
    };
    let turns = || ["a", "b", "c"].map(Turn::text);
    let policy = attempts(3).with_exhaustion(Exhaustion::AcceptBest);
    let ran = run(policy.clone(), scored(), turns()).await;
    assert_eq!((ran.text(), shown(&ran.events).as_str()), ("b", "b"));
    assert_eq!(ran.end.as_ref().unwrap().best.as_ref().unwrap().attempt, 2);
    assert_eq!((ran.ledger().accepted, ran.ledger().rejected), (Usage::new(100, 10), Usage::new(200, 20)));

    let ran = run(policy, only_good(), turns()).await;
    assert_eq!((ran.asked(), ran.error()), (0, &GatedError::Gate(GateError::NoScore)));
}

#[tokio::test(start_paused = true)]
async fn g19_three_attempts_and_one_with_the_fallback_model() {
    let policy = || attempts(3).with_exhaustion(Exhaustion::FallbackModel);
    for (last, accepted) in [("good", true), ("bad", false)] {
        let large = ScriptedModel::new([Turn::text(last)]).with_name("large");
        let given = large.clone();
        let ran = run_with(policy(), only_good(), poem(3), |gated| gated.with_fallback(given), ask()).await;
        assert_eq!((ran.asked(), large.requests().len(), ran.end.is_ok()), (3, 1, accepted));
        assert_eq!(ran.ledger().attempts[3].model, "large");
        assert!(ran.events.contains(&GatedEvent::Fallback { by: ExhaustedBy::Attempts }));
        assert_eq!(large.requests()[0].messages[1].text(), "Your previous answer was rejected: say `good`");
    }
    let ran = run(policy(), only_good(), poem(3)).await;
    assert_eq!((ran.asked(), ran.error()), (0, &GatedError::NoFallback));
}

#[tokio::test(start_paused = true)]
async fn g20_shadow_records_the_rejection_and_accepts() {
    let ran = run(attempts(3).in_shadow(), only_good(), poem(1)).await;
    assert_eq!((ran.asked(), ran.text(), ran.counters()), (1, "line 1", vec![("shadow:not_good", 1)]));
    assert_eq!((ran.ledger().shadow, ran.ledger().accepted), (1, Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g24_a_refusal_is_one_call_and_g25_a_transport_error_is_an_attempt() {
    let ran = run(attempts(3), Validators::new(), [Turn::refusal("I won't.")]).await;
    let GatedError::Escalated { edge, code, reason, .. } = ran.error() else { panic!("{}", ran.error()) };
    assert_eq!((ran.asked(), edge.as_str(), code, reason.as_str()), (1, "blocked", &Code::BLOCKED, "I won't."));

    let ran = run(attempts(3), only_good(), [Turn::error(ModelError::transport("reset")), Turn::text("good")]).await;
    assert_eq!((ran.text(), ran.ledger().started(), ran.counters()), ("good", 2, vec![("invocation", 1)]));
    assert_eq!(ran.model.requests()[0], ran.model.requests()[1]);
}

#[tokio::test(start_paused = true)]
async fn g26_the_same_rejected_response_twice_is_no_progress() {
    let same = || [Turn::text("bad"), Turn::text("bad"), Turn::text("good")];
    let ran = run(attempts(3), only_good(), same()).await;
    assert_eq!((ran.asked(), exhausted_by(&ran)), (2, &ExhaustedBy::NoProgress));
    let ran = run(attempts(3).despite_no_progress(), only_good(), same()).await;
    assert_eq!((ran.asked(), ran.text()), (3, "good"));
}

#[tokio::test(start_paused = true)]
async fn g28_a_modified_response_is_what_is_given_and_told() {
    let trim = Validators::new().with_fn("trim", |response, ()| Verdict::accept_text(response.text.trim(), "trimmed"));
    let ran = run(attempts(3), trim, [Turn::text(" hello ")]).await;
    let modified = ran.end.as_ref().unwrap().modified.clone().unwrap();
    assert_ne!(modified.before, modified.after);
    assert_eq!(ran.events, [GatedEvent::Modified(modified), GatedEvent::Text("hello".into())]);
}

#[tokio::test(start_paused = true)]
async fn g29_a_validator_that_panics_rejects_unless_the_policy_says_otherwise() {
    let panics = || {
        Validators::<()>::new().with_async_fn("broken", Cost::Cheap, async |response: &Response, (): &()| {
            tokio::task::yield_now().await;
            assert!(response.text.is_empty(), "oops");
            Verdict::Accept
        })
    };
    let closed = run(attempts(1), panics(), poem(1)).await;
    assert_eq!((exhausted_by(&closed), closed.counters()), (&ExhaustedBy::Attempts, vec![("validator_failed", 1)]));
    let fatal = run(attempts(3).with_validator_panic(PanicPolicy::Fatal), panics(), poem(1)).await;
    assert_eq!(fatal.ledger().attempts[0].outcome, AttemptOutcome::Fatal);
    let open = run(attempts(1).with_validator_panic(PanicPolicy::Accept), panics(), poem(1)).await;
    assert_eq!((open.text(), open.counters()), ("line 1", vec![("validator_failed", 1)]));
}
