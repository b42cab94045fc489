//! One attempt with another model when a limit is reached.

use crate::driver::{Run, accepted, ask, attempts, counters, exhausted_by, only_good, poem, run_fallback};
use graph_nodes::gate::{
    AttemptOutcome, Code, Decision, ExhaustedBy, Exhaustion, FallbackUse, FeedbackMode, GateError, GateLedger,
    GatePolicy, ModelOutcome, Validators, Verdict, decide,
};
use graph_nodes::message::{Message, Usage};
use graph_nodes::model::{ModelError, Response, ScriptedModel, Turn};
use std::time::Duration;
use tokio::time::Instant;

fn policy(n: u32) -> GatePolicy {
    attempts(n).with_exhaustion(Exhaustion::FallbackModel)
}

fn asked(run: &Run) -> (usize, usize) {
    (run.requests.len(), run.fallback.requests().len())
}

fn models(run: &Run) -> Vec<(&str, AttemptOutcome)> {
    run.ledger.attempts.iter().map(|attempt| (attempt.model.as_str(), attempt.outcome)).collect()
}

#[tokio::test(start_paused = true)]
async fn g19_three_attempts_and_one_with_the_fallback_model_that_is_accepted() {
    let start = Instant::now();
    let run = run_fallback(&policy(3), &only_good(), poem(3), [Turn::text("good").with_usage(500, 50)]).await;
    assert_eq!((asked(&run), accepted(&run)), ((3, 1), "good"));
    let rejected = AttemptOutcome::Rejected;
    assert_eq!(
        models(&run),
        [
            ("scripted", rejected),
            ("scripted", rejected),
            ("scripted", rejected),
            ("fallback", AttemptOutcome::Accepted)
        ],
    );
    assert_eq!((run.ledger.accepted, run.ledger.rejected), (Usage::new(500, 50), Usage::new(300, 30)));
    assert_eq!(run.ledger.fallback, Some(FallbackUse { by: ExhaustedBy::Attempts, attempt: Some(4) }));
    assert_eq!((counters(&run), run.ledger.acceptance_rate()), (vec![("not_good", 3)], Some(0.25)));
    assert_eq!(run.history, [ask(), Message::assistant("good").with_usage(Usage::new(500, 50))]);
    // Another model need not be waited for: two waits, not three.
    assert_eq!((start.elapsed(), run.ledger.elapsed), (Duration::from_secs(1), Duration::from_secs(1)));
    assert_eq!(run.infos.iter().map(|info| info.is_last).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(
        run.infos.iter().map(|info| (info.attempt, info.max)).collect::<Vec<_>>(),
        [(1, 4), (2, 4), (3, 4), (4, 4)]
    );
    assert_eq!(run.promised, run.infos[1..]);
}

#[tokio::test(start_paused = true)]
async fn g19_a_rejection_of_the_fallback_model_is_final() {
    let turns = [Turn::text("bad"), Turn::text("never asked for")];
    let run = run_fallback(&policy(3), &only_good(), poem(3), turns).await;
    assert_eq!((asked(&run), exhausted_by(&run)), ((3, 1), &ExhaustedBy::Attempts));
    let Decision::Exhausted(failure) = run.decision() else { panic!("exhausted") };
    assert_eq!((failure.attempts.len(), failure.attempts[3].model.as_str()), (4, "fallback"));
    assert_eq!((run.ledger.rejected, run.history.len()), (Usage::new(400, 40), 1));
    // Nor is it asked again after an error that another attempt could mend, or an empty response.
    for turn in [Turn::error(ModelError::transport("reset")), Turn::text(" ")] {
        let run = run_fallback(&policy(3), &only_good(), poem(3), [turn]).await;
        assert_eq!((asked(&run), exhausted_by(&run)), ((3, 1), &ExhaustedBy::Attempts));
    }
}

#[tokio::test(start_paused = true)]
async fn g19_a_second_fallback_is_refused_and_its_tokens_are_counted() {
    let mut run = run_fallback(&policy(1), &only_good(), poem(1), [Turn::text("bad")]).await;
    let third = Response::from_text("good").with_usage(Usage::new(100, 10));
    let outcome = ModelOutcome::new("third", Duration::ZERO, Ok(third));
    let refused = decide(&policy(1), &only_good(), &mut run.ledger, outcome, &()).await;
    let error = GateError::SecondFallback { attempt: 2, model: "third".into() };
    assert_eq!(
        error.to_string(),
        "attempt 2 was the fallback model's and is final, but `third` was asked after it; \
         end the round there, and begin a new ledger for the next one",
    );
    assert_eq!(refused, Err(error));
    assert_eq!((run.ledger.started(), run.ledger.finished(), run.ledger.tokens()), (3, 2, 330));
    assert_eq!(run.ledger.fallback.as_ref().and_then(|fallback| fallback.attempt), Some(2));
}

#[tokio::test(start_paused = true)]
async fn g19_the_same_gate_judges_the_fallback_model() {
    let refused = run_fallback(&policy(1), &only_good(), poem(1), [Turn::refusal("I won't.")]).await;
    assert!(matches!(refused.decision(), Decision::Escalate { edge, .. } if edge == "blocked"));
    let fatal = Validators::new().with_fn("fatal", |response, ()| match response.text.as_str() {
        "worse" => Verdict::fatal("illegal", "must not be said"),
        _ => Verdict::retry("no", "no"),
    });
    let fatal = run_fallback(&policy(1), &fatal, poem(1), [Turn::text("worse")]).await;
    assert!(matches!(fatal.decision(), Decision::Fatal { .. }));
}

#[tokio::test(start_paused = true)]
async fn g19_the_fallback_model_is_told_as_any_other_attempt() {
    for (mode, expected) in [(FeedbackMode::Reason, 2), (FeedbackMode::Transcript, 3), (FeedbackMode::Blind, 1)] {
        let run = run_fallback(&policy(2).with_feedback(mode), &only_good(), poem(2), [Turn::text("good")]).await;
        let messages = &run.fallback.requests()[0].messages;
        assert_eq!((messages.len(), &messages[0]), (expected, &ask()));
        if mode != FeedbackMode::Blind {
            let last = Message::system("Your previous answer was rejected: `line 2` is not good");
            assert_eq!(messages.last(), Some(&last));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn g19_every_limit_leads_to_the_fallback_model() {
    let good = || [Turn::text("good")];
    let by = |run: &Run| run.ledger.fallback.clone().unwrap().by;
    let tokens = run_fallback(&policy(9).with_token_budget(220), &only_good(), poem(2), good()).await;
    assert_eq!((accepted(&tokens), by(&tokens), tokens.ledger.tokens()), ("good", ExhaustedBy::Tokens, 330));
    let capped = run_fallback(&policy(9).with_code_cap("not_good", 1), &only_good(), poem(2), good()).await;
    assert_eq!((accepted(&capped), by(&capped)), ("good", ExhaustedBy::Code(Code::new("not_good"))));
    let same = [Turn::text("bad"), Turn::text("bad")];
    let stuck = run_fallback(&policy(9), &only_good(), same, good()).await;
    assert_eq!((accepted(&stuck), by(&stuck)), ("good", ExhaustedBy::NoProgress));
    let broken = [Turn::error(ModelError::transport("reset"))];
    assert_eq!(accepted(&run_fallback(&policy(1), &only_good(), broken, good()).await), "good");
    // Trying again is pointless: that is no limit.
    let wrong = [Turn::error(ModelError::rejected("bad schema"))];
    let wrong = run_fallback(&policy(3), &only_good(), wrong, good()).await;
    assert!(matches!(wrong.decision(), Decision::Fatal { .. }));
    assert_eq!(asked(&wrong), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn g19_the_deadline_holds() {
    let ms = Duration::from_millis;
    let slow = |text: &str, delay| Turn::text(text).with_delay(ms(delay));

    // There is no time for a wait and one more attempt, but for one that begins at once.
    let start = Instant::now();
    let limit = policy(9).with_deadline(ms(900));
    let run = run_fallback(&limit, &only_good(), [slow("bad", 400)], [slow("good", 400)]).await;
    assert_eq!((accepted(&run), start.elapsed()), ("good", ms(800)));
    assert_eq!(run.ledger.fallback.as_ref().unwrap().by, ExhaustedBy::Deadline);

    // The fallback model's call is cut too.
    let start = Instant::now();
    let run = run_fallback(&limit, &only_good(), [slow("bad", 400)], [slow("good", 600)]).await;
    assert_eq!((exhausted_by(&run), start.elapsed()), (&ExhaustedBy::Deadline, ms(900)));
    assert_eq!(models(&run)[1], ("fallback", AttemptOutcome::Deadline));
    assert_eq!(run.ledger.elapsed, ms(900));

    // No time is left at all.
    let run = run_fallback(&limit, &only_good(), [slow("bad", 950)], [slow("good", 1)]).await;
    assert_eq!((exhausted_by(&run), asked(&run)), (&ExhaustedBy::Deadline, (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn g23_after_a_cancellation_there_is_no_fallback() {
    let cancelled = || Turn::error(ModelError::Cancelled);
    let run = run_fallback(&policy(1), &only_good(), [cancelled()], [Turn::text("good")]).await;
    assert_eq!((run.decision(), asked(&run), &run.ledger.fallback), (&Decision::Cancelled, (1, 0), &None));
    let run = run_fallback(&policy(1), &only_good(), poem(1), [cancelled(), Turn::text("good")]).await;
    assert_eq!((run.decision(), asked(&run)), (&Decision::Cancelled, (1, 1)));
    assert_eq!((run.ledger.started(), run.ledger.finished()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn g19_the_fallback_survives_a_store_and_is_used_once() {
    let mut first = Run::new(ScriptedModel::new(poem(1)), GateLedger::default());
    first.step(&policy(1), &only_good()).await.unwrap();
    let saved = serde_json::to_string(&first.ledger).unwrap();
    let mut ledger: GateLedger = serde_json::from_str(&saved).unwrap();
    assert_eq!(ledger, first.ledger);
    assert_eq!(ledger.fallback, Some(FallbackUse { by: ExhaustedBy::Attempts, attempt: None }));
    assert!(policy(1).next_attempt(&ledger).is_last);
    let outcome = ModelOutcome::new("fallback", Duration::ZERO, Ok(Response::from_text("bad")));
    let decision = decide(&policy(1), &only_good(), &mut ledger, outcome, &()).await.unwrap();
    assert!(matches!(decision, Decision::Exhausted(_)));
}
