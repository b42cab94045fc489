//! Attempts, time and tokens of a stage.

use std::time::Duration;

use graph_nodes::gate::{Code, ExhaustedBy, Validators, Verdict};
use graph_nodes::model::Turn;
use graph_nodes::stage::StageError;
use tokio::time::Instant;

use crate::support::{Ran, Stage, Trip, attempts, only_good, transcript};

fn failure(ran: &Ran) -> (&ExhaustedBy, usize) {
    match ran.stage_error() {
        StageError::Exhausted { failure, .. } => (&failure.by, failure.attempts.len()),
        other => panic!("{other}"),
    }
}

fn poem(lines: usize) -> impl Iterator<Item = Turn> {
    (1..=lines).map(|line| Turn::text(format!("line {line}")))
}

#[tokio::test(start_paused = true)]
async fn g1_three_attempts_are_three_calls_and_the_error_lists_them() {
    let ran = Stage::policy(attempts(3)).validators(only_good()).turn(poem(9)).await;
    assert_eq!((ran.asked(), failure(&ran)), (3, (&ExhaustedBy::Attempts, 3)));
    assert_eq!(
        ran.error().failures()[0].to_string(),
        "`gate` (task 5.0) failed after 1 attempt: stage `explore`: \
         no response was accepted in 3 attempts (limit: attempts); \
         1: rejected `not_good` by `only_good` (say `good`); \
         2: rejected `not_good` by `only_good` (say `good`); \
         3: rejected `not_good` by `only_good` (say `good`); tokens: 330 rejected, 0 for judges; \
         abandon the turn and ask again, or give the gate a way out with `GateNode::exhausted`",
    );
}

#[tokio::test(start_paused = true)]
async fn g3_one_attempt_is_one_call() {
    let ran = Stage::policy(attempts(1)).validators(only_good()).turn(poem(9)).await;
    assert_eq!((ran.asked(), failure(&ran)), (1, (&ExhaustedBy::Attempts, 1)));
}

#[tokio::test(start_paused = true)]
async fn g5_an_empty_response_is_counted_and_asked_again() {
    let ran = Stage::default().turn([Turn::text("  "), Turn::text("good")]).await;
    let totals = ran.state().book.totals("explore");
    assert_eq!((ran.asked(), totals.counters[&Code::EMPTY], ran.reply()), (2, 1, Some("good")));
}

fn structured() -> Stage {
    Stage {
        agent: |agent| agent.request(|_, request| request.with_response_schema(serde_json::json!({}))),
        ..Stage::default()
    }
}

#[tokio::test(start_paused = true)]
async fn g6_parse_empty_and_reject_each_go_to_their_counter() {
    let turns = [Turn::text("no json"), Turn::text(""), Turn::text("{}")];
    let ran = structured().validators(only_good()).turn(turns).await;
    let StageError::Exhausted { ledger, .. } = ran.stage_error() else { panic!("exhausted") };
    let counters: Vec<_> = ledger.counters.iter().map(|(code, count)| (code.as_str(), *count)).collect();
    assert_eq!((ran.asked(), counters), (3, vec![("empty", 1), ("not_good", 1), ("parse", 1)]));
}

#[tokio::test(start_paused = true)]
async fn g7_a_cap_of_one_code_ends_it() {
    let stage = Stage { policy: attempts(5).with_code_cap(Code::PARSE, 1), ..structured() };
    let ran = stage.turn([Turn::text("no json"), Turn::text("none"), Turn::text("{}")]).await;
    assert_eq!((ran.asked(), failure(&ran)), (2, (&ExhaustedBy::Code(Code::PARSE), 2)));
}

#[tokio::test(start_paused = true)]
async fn g8_a_token_budget_stops_after_the_attempt_that_used_it_up() {
    let ran = Stage::policy(attempts(5).with_token_budget(250)).validators(only_good()).turn(poem(9)).await;
    assert_eq!((ran.asked(), failure(&ran)), (3, (&ExhaustedBy::Tokens, 3)));
}

#[tokio::test(start_paused = true)]
async fn g9_the_deadline_cuts_the_second_call() {
    let start = Instant::now();
    let policy = attempts(5).with_deadline(Duration::from_millis(1200));
    let turns = poem(9).map(|turn| turn.with_delay(Duration::from_millis(400)));
    let ran = Stage::policy(policy).validators(only_good()).turn(turns).await;
    assert_eq!((ran.asked(), failure(&ran)), (2, (&ExhaustedBy::Deadline, 2)));
    assert_eq!(start.elapsed(), Duration::from_millis(1200));
    let StageError::Exhausted { ledger, .. } = ran.stage_error() else { panic!("exhausted") };
    assert_eq!((ledger.count(&Code::DEADLINE), ledger.elapsed), (1, Duration::from_millis(1200)));
}

#[tokio::test(start_paused = true)]
async fn g10_only_the_last_attempt_is_told_to_be_the_last() {
    let ran = Stage::policy(attempts(3)).validators(only_good()).turn(poem(3)).await;
    let stays: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            graph_engine::EventKind::NodeFinished { next: graph_engine::Move::Stay(Some(value)), .. } => {
                Some((value["attempt"].as_u64(), value["is_last"].as_bool()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(stays, [(Some(2), Some(false)), (Some(3), Some(true))]);
}

#[tokio::test(start_paused = true)]
async fn g20_shadow_accepts_and_records() {
    let ran = Stage::policy(attempts(3).in_shadow()).validators(only_good()).turn(poem(1)).await;
    let totals = ran.state().book.totals("explore");
    assert_eq!((ran.reply(), totals.shadow, totals.counters[&Code::new("shadow:not_good")]), (Some("line 1"), 1, 1));
}

#[tokio::test(start_paused = true)]
async fn g26_the_same_rejected_response_twice_is_no_progress() {
    let turns = [Turn::text("same"), Turn::text("same"), Turn::text("good")];
    let ran = Stage::default().validators(only_good()).turn(turns).await;
    assert_eq!((ran.asked(), failure(&ran)), (2, (&ExhaustedBy::NoProgress, 2)));
}

#[tokio::test(start_paused = true)]
async fn every_wait_is_waited_for() {
    let start = Instant::now();
    let turns = [Turn::text("a"), Turn::text("b"), Turn::text("good")];
    let ran = Stage::default().validators(only_good()).turn(turns).await;
    assert_eq!(
        (start.elapsed(), ran.state().book.totals("explore").elapsed),
        (Duration::from_secs(1), Duration::from_secs(1))
    );
}

#[tokio::test(start_paused = true)]
async fn a_validator_sees_the_state_and_each_round_begins_a_new_count() {
    let validators = Validators::new().with_fn("after_tools", |response, trip: &Trip| {
        let rejected = response.text.starts_with("bad");
        match rejected {
            true => Verdict::retry("bad", format!("{} messages", trip.history.len())),
            false => Verdict::Accept,
        }
    });
    let tool = crate::support::fixed("a", || Ok("A".into()));
    let turns = [
        Turn::text("bad 1"),
        crate::support::calls([("1", "a")]),
        Turn::text("bad 2"),
        Turn::text("bad 3"),
        Turn::text("done"),
    ];
    let ran = Stage { policy: attempts(3), ..Stage::tools([tool]) }.validators(validators).turn(turns).await;
    assert_eq!((ran.reply(), ran.asked()), (Some("done"), 5));
    assert_eq!(
        ran.model.requests()[3].messages.last().unwrap().text(),
        "Your previous answer was rejected: 3 messages"
    );
    let rounds: Vec<_> = ran.state().book.recent.iter().map(|round| round.ledger.started()).collect();
    assert_eq!(rounds, [2, 3]);
    assert_eq!(transcript(ran.state()).len(), 4);
}
