//! E21: one turn of a thread at a time: a second one is refused, or waits its turn.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use graph_engine::{Graph, MemoryStore, NodeError, RunError, Runner, START, State, WhenBusy};

#[derive(State, Clone, Default)]
struct Talk {
    #[state(append)]
    said: Vec<u32>,
}

fn runner(when_busy: WhenBusy) -> Runner<Talk> {
    let slow = || async { tokio::time::sleep(Duration::from_millis(10)).await };
    let graph = Graph::<Talk>::builder("talk").node("slow", slow).edge(START, "slow").compile().unwrap();
    graph.runner().store(MemoryStore::new()).when_busy(when_busy)
}

#[tokio::test(start_paused = true)]
async fn a_second_turn_is_refused_by_default_and_the_first_is_not_disturbed() {
    let thread = runner(WhenBusy::default()).thread("t");
    let (first, second) =
        join(thread.run(Talk::update().said([1])).into_future(), thread.run(Talk::update().said([2])).into_future())
            .await;
    assert_eq!(first.unwrap().state.said, [1]);
    assert!(matches!(&*second.unwrap_err().error, RunError::Busy { .. }));
}

#[tokio::test(start_paused = true)]
async fn turns_that_wait_run_one_after_the_other_in_the_order_in_which_they_came() {
    let runner = runner(WhenBusy::Queue);
    let turns = (0..20).map(|n| runner.thread("t").run(Talk::update().said([n])).into_future());
    let ends = join_all(turns).await;
    for (n, end) in (0_u32..).zip(ends) {
        assert_eq!(end.unwrap().state.said, (0..=n).collect::<Vec<_>>());
    }
    let began = tokio::time::Instant::now();
    let others = (0..20).map(|n| runner.thread(format!("t{n}")).run(Talk::update().said([n])).into_future());
    join_all(others).await.into_iter().for_each(|end| drop(end.unwrap()));
    assert_eq!(began.elapsed(), Duration::from_millis(10), "other threads don't wait");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_while_it_waits_is_skipped() {
    let runner = Arc::new(runner(WhenBusy::Queue));
    let first = tokio::spawn(runner.thread("t").run(Talk::update().said([1])).into_future());
    tokio::task::yield_now().await;
    let dropped = runner.thread("t").run(Talk::update().said([2])).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(1), dropped).await.is_err());
    let last = runner.thread("t").run(Talk::update().said([3])).into_future();
    assert_eq!(last.await.unwrap().state.said, [1, 3]);
    first.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_lets_the_next_one_run() {
    let odd = |state: graph_engine::Snap<Talk>| async move {
        match state.said.len() {
            1 => Err(NodeError::fatal("no")),
            _ => Ok(()),
        }
    };
    let graph = Graph::<Talk>::builder("talk").node("odd", odd).edge(START, "odd").compile().unwrap();
    let runner = graph.runner().store(MemoryStore::new()).when_busy(WhenBusy::Queue);
    let (first, second) =
        join(runner.thread("t").run(Talk::update().said([1])).into_future(), runner.thread("t").abandon()).await;
    first.unwrap_err();
    second.unwrap();
    assert_eq!(runner.thread("t").run(Talk::update().said([2])).await.unwrap().state.said, [1, 2]);
}
