//! The best of the rejected responses is accepted when a limit is reached.

use crate::driver::{Run, accepted, ask, attempts, counters, exhausted_by, run, run_with};
use graph_nodes::gate::{
    AttemptOutcome, BestOf, Code, Decision, ExhaustedBy, Exhaustion, FeedbackMode, GateError, GateLedger, GatePolicy,
    Validators, Verdict,
};
use graph_nodes::message::{FinishReason, Message, ToolCall, Usage};
use graph_nodes::model::{ModelError, ScriptedModel, Turn};
use std::time::Duration;

fn policy(n: u32) -> GatePolicy {
    attempts(n).with_exhaustion(Exhaustion::AcceptBest)
}

/// Rejects every response; its score is its text.
fn scored() -> Validators<()> {
    Validators::new()
        .with_fn("reject_all", |response, ()| Verdict::retry("no", response.text.clone()))
        .with_score(|response, ()| response.text.parse().unwrap_or(f64::NAN))
}

fn texts<const N: usize>(texts: [&str; N]) -> [Turn; N] {
    texts.map(Turn::text)
}

fn best(run: &Run) -> &BestOf {
    match run.decision() {
        Decision::Accept { best: Some(best), .. } => best,
        other => panic!("expected the best, got {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn g18_the_best_of_three_is_accepted_and_moves_to_the_accepted_tokens_once() {
    let turns = [
        Turn::text("0.2").with_usage(100, 10),
        Turn::text("0.7").with_usage(200, 20),
        Turn::text("0.5").with_usage(300, 30),
    ];
    let run = run(&policy(3), &scored(), turns).await;
    assert_eq!((run.requests.len(), accepted(&run)), (3, "0.7"));
    assert_eq!(best(&run), &BestOf { attempt: 2, score: 0.7, by: ExhaustedBy::Attempts });
    let Decision::Accept { note, modified, .. } = run.decision() else { panic!("accepted") };
    let said = "the best rejected response was accepted (attempt: 2, score: 0.7, limit: attempts)";
    assert_eq!((note.as_deref(), modified), (Some(said), &None));

    assert_eq!((run.ledger.accepted, run.ledger.rejected), (Usage::new(200, 20), Usage::new(400, 40)));
    assert_eq!((run.ledger.tokens(), run.ledger.acceptance_rate()), (660, Some(1.0 / 3.0)));
    let outcomes: Vec<_> = run.ledger.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Rejected, AttemptOutcome::Accepted, AttemptOutcome::Rejected]);
    // It was rejected, so its code stays counted; it is no shadow acceptance.
    assert_eq!((counters(&run), run.ledger.shadow, &run.ledger.best), (vec![("no", 3)], 0, &None));
    assert_eq!(run.history, [ask(), Message::assistant("0.7").with_usage(Usage::new(200, 20))]);
}

#[tokio::test(start_paused = true)]
async fn g18_of_equals_the_earlier_is_accepted() {
    let run = run(&policy(3), &scored(), texts(["0.50", "0.5", "0.500"])).await;
    assert_eq!((accepted(&run), best(&run).attempt), ("0.50", 1));
}

#[tokio::test(start_paused = true)]
async fn g18_what_is_no_number_or_infinite_is_never_accepted() {
    let some = run(&policy(4), &scored(), texts(["inf", "x", "-3", "-inf"])).await;
    assert_eq!((accepted(&some), best(&some).score), ("-3", -3.0));
    let none = run(&policy(3), &scored(), texts(["inf", "NaN", "-inf"])).await;
    assert_eq!((exhausted_by(&none), none.history.len()), (&ExhaustedBy::Attempts, 1));
    assert_eq!((none.ledger.accepted, none.ledger.rejected), (Usage::default(), Usage::new(300, 30)));
}

#[tokio::test(start_paused = true)]
async fn g18_what_the_gate_itself_rejects_is_never_a_candidate() {
    let call = |arguments: &str| ToolCall::from_text("a", "f", arguments);
    let always = || scored().with_score(|_, ()| 1.0);
    let cut = Turn::text("9").with_call(call("{}")).with_finish(FinishReason::Length);
    let faulty = Turn::text("9").with_call(call("[]"));
    for (turn, code) in [(Turn::text(" "), "empty"), (cut, "truncated"), (faulty, "no")] {
        let run = run(&policy(1), &always(), [turn]).await;
        assert_eq!((exhausted_by(&run), counters(&run)), (&ExhaustedBy::Attempts, vec![(code, 1)]));
        assert_eq!((run.dispatched, run.history.len()), (0, 1));
    }
    let no_json = run_with(&policy(1), &always(), [Turn::text("no")], GateLedger::default(), |request| {
        request.with_response_schema(serde_json::json!({}))
    })
    .await;
    assert_eq!((exhausted_by(&no_json), counters(&no_json)), (&ExhaustedBy::Attempts, vec![("parse", 1)]));
}

#[tokio::test(start_paused = true)]
async fn g18_a_refusal_takes_its_edge_and_a_fatal_verdict_ends_it_whatever_came_before() {
    let run_refused = run(&policy(3), &scored(), [Turn::text("0.9"), Turn::refusal("I won't.")]).await;
    assert!(matches!(run_refused.decision(), Decision::Escalate { edge, .. } if edge == "blocked"));
    let fatal = scored().with_fn("fatal", |response, ()| match response.text.as_str() {
        "0.1" => Verdict::fatal("illegal", "must not be said"),
        _ => Verdict::Accept,
    });
    let run_fatal = run(&policy(3), &fatal, texts(["0.9", "0.1"])).await;
    assert!(matches!(run_fatal.decision(), Decision::Fatal { .. }));
    assert_eq!(run_fatal.ledger.accepted, Usage::default());
}

#[tokio::test(start_paused = true)]
async fn g18_calls_of_the_best_run_once_it_is_accepted_and_not_before() {
    let calls = || [ToolCall::from_text("a", "f", "{}"), ToolCall::from_text("b", "f", "{}")];
    let with_calls = calls().into_iter().fold(Turn::text("0.7"), Turn::with_call);
    let policy = policy(2).with_feedback(FeedbackMode::Transcript);
    let run = run(&policy, &scored(), [with_calls, Turn::text("0.1")]).await;
    assert_eq!((accepted(&run), run.dispatched), ("0.7", 2));
    let told = &run.requests[1].messages[2];
    assert_eq!(told.text(), "not executed, because the whole answer was rejected: 0.7");
    assert_eq!(run.history[1].calls(), calls());
}

#[tokio::test(start_paused = true)]
async fn g18_every_limit_leads_to_the_best() {
    let tokens = run(&policy(9).with_token_budget(220), &scored(), texts(["0.2", "0.1"])).await;
    assert_eq!(best(&tokens), &BestOf { attempt: 1, score: 0.2, by: ExhaustedBy::Tokens });
    let capped = run(&policy(9).with_code_cap("no", 1), &scored(), texts(["0.2", "0.3"])).await;
    assert_eq!(best(&capped), &BestOf { attempt: 2, score: 0.3, by: ExhaustedBy::Code(Code::new("no")) });
    let stuck = run(&policy(9), &scored(), texts(["0.2", "0.2"])).await;
    assert_eq!(best(&stuck), &BestOf { attempt: 1, score: 0.2, by: ExhaustedBy::NoProgress });
    let turns = [Turn::text("0.2"), Turn::text("0.9").with_delay(Duration::from_secs(9))];
    let late = run(&policy(9).with_deadline(Duration::from_secs(2)), &scored(), turns).await;
    assert_eq!(best(&late), &BestOf { attempt: 1, score: 0.2, by: ExhaustedBy::Deadline });
    assert_eq!(late.ledger.elapsed, Duration::from_secs(2));
    let broken = [Turn::text("0.2"), Turn::error(ModelError::transport("reset"))];
    assert_eq!(best(&run(&policy(2), &scored(), broken).await).attempt, 1);
}

#[tokio::test(start_paused = true)]
async fn g18_a_cancelled_call_accepts_nothing() {
    let run = run(&policy(2), &scored(), [Turn::text("0.2"), Turn::error(ModelError::Cancelled)]).await;
    assert_eq!((run.decision(), run.history.len()), (&Decision::Cancelled, 1));
}

#[tokio::test(start_paused = true)]
async fn g18_a_good_response_is_accepted_as_ever_and_the_candidate_is_forgotten() {
    let good = Validators::new().with_fn("good", |response, ()| match response.text.as_str() {
        "good" => Verdict::Accept,
        _ => Verdict::retry("no", "no"),
    });
    let run = run(&policy(3), &good.with_score(|_, ()| 1.0), texts(["bad", "good"])).await;
    assert!(matches!(run.decision(), Decision::Accept { best: None, note: None, .. }));
    assert_eq!((accepted(&run), &run.ledger.best), ("good", &None));
}

#[tokio::test(start_paused = true)]
async fn g18_a_changed_candidate_is_accepted_as_changed() {
    let validators = Validators::new()
        .with_fn("trim", |response, ()| Verdict::accept_text(response.text.trim(), "trimmed"))
        .with_fn("reject_all", |_, ()| Verdict::retry("no", "no"))
        .with_score(|response, ()| response.text.len() as f64);
    let run = run(&policy(1), &validators, texts([" hello "])).await;
    let Decision::Accept { response, note, modified: Some(modified), best: Some(best) } = run.decision() else {
        panic!("{:?}", run.decision())
    };
    assert_eq!((response.text.as_str(), best.score), ("hello", 5.0));
    assert_eq!(note.as_deref(), Some(format!("trimmed\n{best}").as_str()));
    assert_eq!(run.ledger.attempts[0].modified.as_ref(), Some(modified));
}

#[tokio::test(start_paused = true)]
async fn g18_the_candidate_survives_a_store() {
    let score = "0.30000000000000004";
    let mut first = Run::new(ScriptedModel::new(texts([score])), GateLedger::default());
    first.step(&policy(3), &scored()).await.unwrap();
    let saved = serde_json::to_string(&first.ledger).unwrap();
    let ledger: GateLedger = serde_json::from_str(&saved).unwrap();
    assert_eq!(ledger, first.ledger);
    let run = run_with(&policy(3), &scored(), texts(["0.3", "0.1"]), ledger, |request| request).await;
    assert_eq!((accepted(&run), best(&run).attempt), (score, 1));
    assert_eq!((run.requests.len(), run.ledger.accepted), (2, Usage::new(100, 10)));
}

#[tokio::test(start_paused = true)]
async fn g18_a_score_that_panics_is_no_score() {
    let panics = scored().with_score(|_, ()| panic!("oops"));
    let run = run(&policy(1), &panics, texts(["0.2"])).await;
    assert_eq!(
        (exhausted_by(&run), counters(&run)),
        (&ExhaustedBy::Attempts, vec![("no", 1), ("validator_failed", 1)])
    );
}

#[tokio::test(start_paused = true)]
async fn g18_without_a_score_the_mistake_shows_in_the_first_call() {
    let mut run = Run::new(ScriptedModel::new(texts(["0.2"])), GateLedger::default());
    assert_eq!(run.step(&policy(3), &Validators::new()).await, Err(GateError::NoScore));
    assert_eq!((run.ledger.started(), run.ledger.finished(), run.ledger.tokens()), (1, 0, 110));
    assert_eq!(
        GateError::NoScore.to_string(),
        "the policy accepts the best response when a limit is reached, but nothing scores responses; \
         add a score with `Validators::with_score`, or choose another `Exhaustion`",
    );
}
