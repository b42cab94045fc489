//! What the simulation has shown, each with the smallest graph in which it is seen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use behaviour_tests::{Trip, TripUpdate, note};
use graph_engine::testing::run_logged;
use graph_engine::{
    Cache, END, Graph, In, MemoryStore, Next, NodeError, NodeExt, Parallel, Retry, Route, Runner, START, Status,
};
use tokio::time::sleep;

#[derive(Route)]
enum FromPlan {
    Work(u64),
}

async fn plan() -> Next<FromPlan> {
    Next::fan_out((0..3).map(FromPlan::Work))
}

/// Three tasks with one cache key and one place, of which the first fails at once.
fn cached(parallel: Parallel) -> Runner<Trip> {
    let failed = Arc::new(AtomicUsize::new(0));
    let work = move |In(n): In<u64>| {
        let first = *n == 0 && failed.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                return Err(NodeError::retryable("no luck"));
            }
            Ok(Trip::update().log(["worked"]))
        }
    };
    let graph = Graph::<Trip>::builder("cached")
        .node("plan", plan)
        .node("work", work.cache(Cache::by(|_: &Trip| 0)).limit(1).retry(Retry::fixed(2, Duration::from_millis(1))))
        .edge(START, "plan")
        .edge("work", END)
        .compile()
        .expect("compiles");
    graph.runner().parallel(parallel)
}

/// Seed 116: no task finds what another one of its super-step made, so that nothing depends on who is polled first.
#[tokio::test(start_paused = true)]
async fn tasks_of_one_cache_key_in_one_super_step_all_run_in_both_modes() {
    let mut logs = Vec::new();
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let (end, log) = run_logged(cached(parallel).thread("t").run(Trip::update())).await;
        let end = end.expect("ends");
        assert_eq!(end.state.log, ["worked", "worked", "worked"], "{parallel:?}");
        let report = (end.report.tasks, end.report.attempts, end.report.cached);
        assert_eq!(report, (4, 5, 0), "{parallel:?}");
        logs.push(log);
    }
    assert_eq!(logs[0], logs[1]);
}

async fn slow() -> TripUpdate {
    sleep(Duration::from_millis(4)).await;
    Trip::update().log(["slow"])
}

/// Seed 20: a drain that is asked for in the last super-step that the limit allows.
#[tokio::test(start_paused = true)]
async fn a_drain_at_the_step_limit_is_a_drain() {
    let graph = Graph::<Trip>::builder("drained")
        .node("slow", slow)
        .node("next", note("next"))
        .edge(START, "slow")
        .edge("slow", "next")
        .edge("next", END)
        .compile()
        .expect("compiles");
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let drained = thread.run(Trip::update()).drain_on(sleep(Duration::from_millis(2))).await.expect("drains");
    assert_eq!((drained.status, drained.report.steps), (Status::Drained, 1));
    let end = thread.proceed().await.expect("goes on with a new count");
    assert_eq!((end.status, end.state.log.clone()), (Status::Done, vec!["slow".to_owned(), "next".to_owned()]));
}

async fn drafts() -> TripUpdate {
    Trip::update().draft("half of it").log(["drafts"])
}

/// Seed 29: what a finished task wrote to a transient field, when its step is finished by a later turn.
#[tokio::test(start_paused = true)]
async fn a_transient_write_of_an_unfinished_step_is_lost_and_the_report_says_so() {
    let failed = Arc::new(AtomicUsize::new(0));
    let fails = move || {
        let first = failed.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if first { Err(NodeError::fatal("no luck")) } else { Ok(Trip::update().log(["fails"])) } }
    };
    let graph = Graph::<Trip>::builder("drafted")
        .node("drafts", drafts)
        .node("fails", fails)
        .edge(START, "drafts")
        .edge(START, "fails")
        .compile()
        .expect("compiles");
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let failed = thread.run(Trip::update()).await.expect_err("one node fails");
    let warned = failed.report.warnings.iter().any(|warning| warning.contains("transient field `draft`"));
    assert!(warned, "{:?}", failed.report.warnings);
    let end = thread.proceed().await.expect("ends");
    assert_eq!((end.state.draft.as_str(), &*end.state.log), ("", &["drafts".to_owned(), "fails".to_owned()][..]));
}
