//! E14: a timeout limits each attempt, is retryable, and stops the node at its next await.

use std::time::Duration;

use behaviour_tests::{Alive, Runs, Trip, TripUpdate, after};
use graph_engine::{FaultKind, Graph, MemoryStore, NodeExt, Parallel, Retry, START};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_timeout_is_a_failure_at_exactly_its_time() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", after(60_000, "n").timeout(Duration::from_millis(1_500)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let begin = Instant::now();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(begin.elapsed().as_millis(), 1_500);
    let failure = &error.failures()[0];
    assert_eq!(
        failure.to_string(),
        "`n` (task 0.0) failed after 1 attempt: it ran longer than its timeout of 1.5s; \
                                     raise `.timeout(..)` or add `.retry(..)`"
    );
    assert_eq!(failure.kind, FaultKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_ready_in_time_is_not_timed_out() {
    for (millis, passes) in [(999, true), (1_000, true), (1_001, false)] {
        let graph = Graph::<Trip>::builder("g")
            .node("n", after(millis, "n").timeout(SECOND))
            .edge(START, "n")
            .compile()
            .unwrap();
        let ended = graph.runner().thread("t").run(Trip::update()).await;
        assert_eq!(ended.is_ok(), passes, "{millis} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_never_waits_passes_a_timeout_of_zero() {
    let node = behaviour_tests::note("n").timeout(Duration::ZERO);
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_its_own_timeout() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            let millis = if runs.hit("n") < 2 { 5_000 } else { 900 };
            after(millis, "n")()
        }
    };
    let node = node.timeout(SECOND).retry(Retry::fixed(3, 2 * SECOND));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let begin = Instant::now();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(begin.elapsed().as_millis(), 1_000 + 2_000 + 1_000 + 2_000 + 900);
    assert_eq!((end.report.attempts, end.state.log.len()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_attempt_is_dropped_before_the_next_begins_and_writes_nothing() {
    let (alive, runs) = (Alive::new(), Runs::new());
    let node = {
        let (alive, runs) = (alive.clone(), runs.clone());
        move || {
            assert_eq!(alive.count(), 0, "the attempt before is gone");
            let guard = alive.guard();
            let late = runs.hit("n") == 0;
            async move {
                tokio::time::sleep(if late { 5 * SECOND } else { Duration::ZERO }).await;
                drop(guard);
                Trip::update().log([format!("late: {late}")])
            }
        }
    };
    let node = node.timeout(SECOND).retry(Retry::fixed(2, Duration::ZERO));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["late: false"]);
    assert_eq!((alive.count(), end.report.copies), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_does_not_touch_the_siblings() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let runs = Runs::new();
        let graph = Graph::<Trip>::builder("g")
            .node("late", after(60_000, "late").timeout(SECOND))
            .node("slow", runs.slow(5_000, "slow"))
            .edge(START, "late")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let begin = Instant::now();
        let error = thread.run(Trip::update()).await.unwrap_err();
        assert_eq!(error.failures().len(), 1);
        assert_eq!(begin.elapsed().as_millis(), 5_000);
        thread.proceed().await.unwrap_err();
        assert_eq!(runs.count("slow"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_timed_out_node_is_dropped_stays_inside() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("boom");
            }
        }
    }
    async fn node() -> TripUpdate {
        let _bomb = Bomb;
        tokio::time::sleep(60 * SECOND).await;
        std::process::abort()
    }
    let graph = Graph::<Trip>::builder("g").node("n", node.timeout(SECOND)).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].to_string(), "`n` (task 0.0) failed after 1 attempt: it panicked: boom");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_never_comes_is_no_problem() {
    let node = after(60_000, "n").timeout(Duration::MAX);
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
}
