//! E15: siblings of a failed task finish, all failures are listed, and `proceed` runs only what failed.

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate, after};
use expect_test::expect;
use graph_engine::testing::run_logged;
use graph_engine::{FaultKind, Graph, MemoryStore, NodeError, NodeExt, Parallel, RunError, START};

/// `a` and `d` fail once, `b` is slow, `c` is fast; `z` joins them.
fn graph(runs: &Runs) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", runs.failing(1, "a"))
        .node("b", runs.slow(500, "b"))
        .node("c", runs.node("c"))
        .node("d", runs.failing(1, "d"))
        .node("z", runs.node("z"))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .edge(START, "d")
        .join(["a", "b", "c", "d"], "z")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn all_failures_of_a_step_are_listed_in_task_order() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let runs = Runs::new();
        let thread = graph(&runs).runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let (end, log) = run_logged(thread.run(Trip::update())).await;
        let error = end.unwrap_err();
        assert_eq!(
            error.to_string(),
            "thread `t`, super-step 0: `a` (task 0.0) failed after 1 attempt: no luck at run 0, and `d` (task 0.3) \
             failed after 1 attempt: no luck at run 0; `proceed` runs only what failed, `abandon` drops it"
        );
        let kinds: Vec<_> = error.failures().iter().map(|failure| (failure.kind, failure.attempts)).collect();
        assert_eq!(kinds, [(FaultKind::Retryable, 1), (FaultKind::Retryable, 1)]);
        assert_eq!((error.report.steps, error.report.tasks, error.report.attempts), (0, 4, 4));
        expect![[r#"
            0 started
            0 checkpoint
            0 checkpoint
            0.0 a#1 start
            0.0 a#1 fail (Retryable): no luck at run 0
            0.1 b#1 start
            0.1 b#1 finish, wrote `log`
            0.2 c#1 start
            0.2 c#1 finish, wrote `log`
            0.3 d#1 start
            0.3 d#1 fail (Retryable): no luck at run 0
            0 ended: thread `t`, super-step 0: `a` (task 0.0) failed after 1 attempt: no luck at run 0, and `d` (task 0.3) failed after 1 attempt: no luck at run 0; `proceed` runs only what failed, `abandon` drops it
        "#]]
        .assert_eq(&log);
    }
}

#[tokio::test(start_paused = true)]
async fn siblings_finish_and_are_not_run_again() {
    let runs = Runs::new();
    let thread = graph(&runs).runner().store(MemoryStore::new()).thread("t");
    let begin = tokio::time::Instant::now();
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(begin.elapsed().as_millis(), 500, "the slow sibling finishes");
    let state = thread.state().await.unwrap();
    assert_eq!((state.state.log.len(), state.step), (0, 0), "nothing of an unfinished step is in the state");
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "d", "z"]);
    assert_eq!((end.report.steps, end.report.tasks), (2, 3));
    assert_eq!(["a", "b", "c", "d", "z"].map(|name| runs.count(name)), [2, 1, 1, 2, 1]);
    assert_eq!(begin.elapsed().as_millis(), 500, "the slow sibling isn't run again");
}

#[tokio::test(start_paused = true)]
async fn what_is_unfinished_is_only_what_failed() {
    let thread = graph(&Runs::new()).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(thread.state().await.unwrap().next, ["a", "d"]);
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t` has unfinished tasks: `a`, `d`; `proceed` runs them, `abandon` drops them, then send the input again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_may_fail_and_proceed_many_times() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("a", runs.failing(5, "a"))
        .node("b", runs.failing(2, "b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let mut turn = thread.run(Trip::update());
    for round in 0..5 {
        let error = turn.await.unwrap_err();
        assert_eq!(error.failures().len(), if round < 2 { 2 } else { 1 });
        turn = thread.proceed();
    }
    assert_eq!(turn.await.unwrap().state.log, ["a", "b", "c"]);
    assert_eq!(["a", "b", "c"].map(|name| runs.count(name)), [6, 3, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_step_is_committed_once_as_pending() {
    let store = TestStore::lasting();
    let thread = graph(&Runs::new()).runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(store.commits(), 2, "one for the input, one for the unfinished step");
}

#[tokio::test(start_paused = true)]
async fn results_of_siblings_are_saved_when_the_store_outlives_the_process() {
    let store = TestStore::lasting();
    let runs = Runs::new();
    let thread = graph(&runs).runner().store(store.clone()).thread("t");
    // The process "dies" while `b` still runs.
    let turn = tokio::time::timeout(std::time::Duration::from_millis(100), thread.run(Trip::update()));
    turn.await.unwrap_err();
    assert_eq!(store.saves().len(), 1, "c alone has a result");
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "d", "z"]);
    assert_eq!(["a", "b", "c", "d"].map(|name| runs.count(name)), [2, 2, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_store_in_memory_saves_no_single_results() {
    let store = TestStore::new();
    let thread = graph(&Runs::new()).runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(store.saves(), []);
}

async fn greedy() -> TripUpdate {
    Trip::update().log(["greedy".to_owned()]).city("Oslo")
}

#[tokio::test]
async fn a_write_beyond_what_is_declared_fails_the_task() {
    let graph = Graph::<Trip>::builder("g").node("n", greedy.writes(Trip::LOG)).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: it wrote field `city`, which it doesn't declare; add it to `.writes(..)`"
    );
    assert_eq!(error.failures()[0].kind, FaultKind::Fatal);
}

#[tokio::test(start_paused = true)]
async fn a_saved_result_is_checked_like_any_other() {
    let graph = Graph::<Trip>::builder("g")
        .node("b", after(500, "b"))
        .node("n", greedy.writes(Trip::LOG))
        .edge(START, "b")
        .edge(START, "n")
        .compile()
        .unwrap();
    let thread = graph.runner().store(TestStore::lasting()).thread("t");
    let turn = tokio::time::timeout(std::time::Duration::from_millis(100), thread.run(Trip::update()));
    turn.await.unwrap_err();
    let error = thread.proceed().await.expect_err("the undeclared write must not slip through a crash");
    assert_eq!(error.failures().len(), 1);
    assert_eq!(thread.state().await.unwrap().state.city, "");
}

#[tokio::test]
async fn a_failure_keeps_its_source() {
    async fn parse() -> Result<(), NodeError> {
        let _: u32 = "x".parse()?;
        Ok(())
    }
    let graph = Graph::<Trip>::builder("g").node("n", parse).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    let RunError::Step { failures, .. } = &*error else { panic!("{error}") };
    assert!(failures[0].source.downcast_ref::<std::num::ParseIntError>().is_some());
}
