//! Turns that are cancelled or fail, and go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use graph_engine::{MemoryStore, Status};
use graph_nodes::gate::{AttemptOutcome, Code, Validators, Verdict};
use graph_nodes::message::Usage;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{Held, RoundEnd, StageError};
use tokio::time::{Instant, sleep};

use crate::support::{Stage, Trip, attempts, only_good, say, stage_error, transcript};

fn poem(lines: usize) -> impl Iterator<Item = Turn> {
    (1..=lines).map(|line| Turn::text(format!("line {line}")))
}

#[tokio::test(start_paused = true)]
async fn g23_cancelled_while_waiting_asks_no_more_and_loses_nothing() {
    let model = ScriptedModel::new([Turn::text("bad"), Turn::text("good")]);
    let thread = Stage::default().validators(only_good()).runner(&model).store(MemoryStore::new()).thread("t");
    let start = Instant::now();
    let end = say(&thread).cancel_on(sleep(Duration::from_millis(200))).await.unwrap();
    assert_eq!((end.status, start.elapsed()), (Status::Cancelled, Duration::from_millis(200)));
    assert_eq!(model.requests().len(), 1);
    // The response waits for its judgement.
    assert!(matches!(&end.state.draft.as_ref().unwrap().held, Held::Outcome { .. }));
    assert_eq!(end.state.book.open.len(), 0);

    let end = thread.proceed().await.unwrap();
    assert_eq!((end.reply_as::<String>().unwrap().as_deref(), model.requests().len()), (Some("good"), 2));
    assert_eq!((end.state.book.totals("explore").attempts, end.state.book.tokens()), (2, 220));
}

#[tokio::test(start_paused = true)]
async fn a_draft_of_a_cancelled_turn_does_not_poison_the_next_one() {
    let model = ScriptedModel::new([Turn::text("bad"), Turn::text("good")]);
    let thread = Stage::default().validators(only_good()).runner(&model).store(MemoryStore::new()).thread("t");
    say(&thread).cancel_on(sleep(Duration::from_millis(200))).await.unwrap();
    thread.abandon().await.unwrap();

    let end = say(&thread).await.unwrap();
    assert_eq!(transcript(&end.state), ["user: hi", "user: hi", "assistant: good"]);
    let book = &end.state.book;
    let ends: Vec<_> = book.recent.iter().map(|round| round.end.clone()).collect();
    assert_eq!(ends, [RoundEnd::Abandoned, RoundEnd::Accepted]);
    assert_eq!(book.recent[0].ledger.attempts[0].outcome, AttemptOutcome::Cancelled);
    let totals = book.totals("explore");
    assert_eq!((totals.accepted, totals.rejected), (Usage::new(100, 10), Usage::new(100, 10)));
    assert_eq!((totals.attempts, totals.finished, totals.counters[&Code::CANCELLED]), (2, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_leaves_nothing_behind() {
    let slow = Turn::text("late").with_delay(Duration::from_secs(60));
    let model = ScriptedModel::new([slow, Turn::text("good")]);
    let thread = Stage::default().runner(&model).store(MemoryStore::new()).thread("t");
    let end = say(&thread).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!((end.status, &end.state.draft), (Status::Cancelled, &None));
    let end = thread.proceed().await.unwrap();
    assert_eq!(transcript(&end.state), ["user: hi", "assistant: good"]);
}

/// Rejects everything; panics while the switch is on, which the policy makes fatal.
fn breakable(broken: &Arc<AtomicBool>) -> Validators<Trip> {
    let broken = broken.clone();
    Validators::new().with_fn("breakable", move |response, _: &Trip| {
        if response.text == "line 2" && broken.load(Ordering::Relaxed) {
            return Verdict::fatal("broken", "the checker is down");
        }
        Verdict::retry("no", "no")
    })
}

#[tokio::test(start_paused = true)]
async fn g27_a_turn_that_goes_on_does_not_reset_the_budget() {
    let broken = Arc::new(AtomicBool::new(true));
    let model = ScriptedModel::new(poem(9));
    let store = Arc::new(MemoryStore::new());
    let stage = || Stage::policy(attempts(3)).validators(breakable(&broken));
    let runner = stage().runner(&model).store_arc(store.clone());
    let error = say(&runner.thread("t")).await.unwrap_err();
    assert!(matches!(stage_error(&error), StageError::Fatal { code, .. } if code.as_str() == "broken"));
    assert_eq!(model.requests().len(), 2);

    // Another process: only the store is left.
    broken.store(false, Ordering::Relaxed);
    drop(runner);
    let runner = stage().runner(&model).store_arc(store);
    let thread = runner.thread("t");
    let before = thread.state().await.unwrap();
    assert_eq!(before.state.book.open["explore"].started(), 1);
    let error = thread.proceed().await.unwrap_err();
    let StageError::Exhausted { failure, ledger, .. } = stage_error(&error) else { panic!("{error}") };
    // Attempt 2 was judged again from its draft, so one more call was made.
    assert_eq!((failure.attempts.len(), model.requests().len()), (3, 3));
    assert_eq!((ledger.rejected, ledger.count(&Code::new("no"))), (Usage::new(300, 30), 3));
    // The correction of attempt 2 was stored too.
    assert_eq!(model.requests()[2].messages.last().unwrap().text(), "Your previous answer was rejected: no");
}

#[tokio::test(start_paused = true)]
async fn a_failed_gate_is_paid_for_when_the_stage_is_entered_anew() {
    let model = ScriptedModel::new([Turn::text("bad"), Turn::text("good")]);
    let thread =
        Stage::policy(attempts(1)).validators(only_good()).runner(&model).store(MemoryStore::new()).thread("t");
    let error = say(&thread).await.unwrap_err();
    assert!(matches!(stage_error(&error), StageError::Exhausted { .. }));
    // Judging the same response again changes nothing and asks nobody.
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(stage_error(&error), StageError::Exhausted { .. }));
    assert_eq!(model.requests().len(), 1);

    thread.abandon().await.unwrap();
    let end = say(&thread).await.unwrap();
    assert_eq!((end.state.book.tokens(), end.state.book.totals("explore").rounds), (220, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stage_goes_on_over_several_turns_and_a_store() {
    let tool = || crate::support::fixed("a", || Ok("A".into()));
    let model = ScriptedModel::new([
        crate::support::calls([("c", "a")]),
        Turn::text("one"),
        crate::support::calls([("c", "a")]),
        Turn::text("two"),
    ]);
    let store = Arc::new(MemoryStore::new());
    for reply in ["one", "two"] {
        let thread = Stage::tools([tool()]).runner(&model).store_arc(store.clone()).thread("t");
        let end = say(&thread).await.unwrap();
        assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some(reply));
    }
    let state = Stage::tools([tool()]).runner(&model).store_arc(store).thread("t").state().await.unwrap().state;
    assert_eq!(
        transcript(&state),
        [
            "user: hi",
            "assistant calls c: ",
            "tool c: A",
            "assistant: one",
            "user: hi",
            "assistant calls c_2: ",
            "tool c_2: A",
            "assistant: two",
        ],
    );
    assert_eq!((state.book.tokens(), state.book.totals("explore").accepted_rounds), (440, 4));
}
