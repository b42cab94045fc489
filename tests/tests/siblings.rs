//! E15: when a task has failed for good its siblings finish, or are cancelled; what finished is kept either way.

use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Alive, BoxNode, Runs, TestStore, Times, Trip, TripUpdate, after, note};
use futures_util::StreamExt;
use graph_engine::{
    Builder, Ctx, EventKind, FailedTask, FaultKind, Graph, In, MemoryStore, Node, NodeError, NodeExt, Outcome,
    Parallel, Retry, RunError, START, Siblings, Task, async_trait,
};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A node that fails for good after so many milliseconds, the first time.
fn fails(
    runs: &Runs,
    at: u64,
    name: &'static str,
) -> impl Fn() -> BoxNode<Result<TripUpdate, NodeError>> + Clone + use<> {
    let runs = runs.clone();
    move || {
        let first = runs.hit(name) == 0;
        Box::pin(async move {
            tokio::time::sleep(millis(at)).await;
            if first { Err(NodeError::fatal("broken")) } else { Ok(Trip::update().log([name.to_owned()])) }
        })
    }
}

/// `quick` ends at 5, `bad` fails at 10, `slow` ends at 50.
fn three(runs: &Runs, siblings: Siblings) -> Builder<Trip> {
    Graph::<Trip>::builder("g")
        .siblings(siblings)
        .node("bad", fails(runs, 10, "bad"))
        .node("quick", runs.slow(5, "quick"))
        .node("slow", runs.slow(50, "slow"))
        .node("then", note("then"))
        .edge(START, "bad")
        .edge(START, "quick")
        .edge(START, "slow")
        .join(["bad", "quick", "slow"], "then")
}

#[tokio::test(start_paused = true)]
async fn siblings_finish_by_default_and_only_what_failed_runs_again() {
    assert_eq!(Siblings::default(), Siblings::Finish);
    for parallel in BOTH {
        for store in [TestStore::new(), TestStore::lasting()] {
            let (runs, times) = (Runs::new(), Times::new());
            let graph = three(&runs, Siblings::Finish).compile().unwrap();
            let thread = graph.runner().parallel(parallel).store(store).thread("t");
            let failed = thread.run(Trip::update()).await.unwrap_err();
            assert_eq!((times.now(), failed.report.attempts, failed.failures().len()), (50, 3, 1));
            assert_eq!(failed.report.pending, ["bad"]);
            let end = thread.proceed().await.unwrap();
            assert_eq!((times.now(), runs.take()), (60, ["bad", "quick", "slow", "bad"].map(str::to_owned).to_vec()));
            assert_eq!(end.state.log, ["bad", "quick", "slow", "then"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn siblings_are_cancelled_at_once_leave_nothing_and_run_again() {
    for parallel in BOTH {
        for store in [TestStore::new(), TestStore::lasting()] {
            let (runs, times) = (Runs::new(), Times::new());
            let graph = three(&runs, Siblings::Cancel).compile().unwrap();
            let thread = graph.runner().parallel(parallel).store(store).thread("t");
            let failed = thread.run(Trip::update()).await.unwrap_err();
            assert_eq!((times.now(), failed.report.attempts, failed.failures().len()), (10, 3, 1));
            assert_eq!(failed.report.pending, ["bad", "slow"]);
            assert_eq!(thread.state().await.unwrap().state.log, Vec::<String>::new(), "nothing is merged yet");
            let end = thread.proceed().await.unwrap();
            let ran = ["bad", "quick", "slow", "bad", "slow"].map(str::to_owned).to_vec();
            assert_eq!((times.now(), runs.take()), (60, ran));
            assert_eq!(end.state.log, ["bad", "quick", "slow", "then"]);
            assert_eq!((end.report.attempts, end.report.tasks), (3, 3));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_work_of_a_cancelled_sibling_is_dropped() {
    for parallel in BOTH {
        let alive = Alive::new();
        let slow = {
            let alive = alive.clone();
            move || {
                let guard = alive.guard();
                async move {
                    let _guard = guard;
                    std::future::pending::<()>().await;
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("slow", slow)
            .edge(START, "bad")
            .edge(START, "slow")
            .compile()
            .unwrap();
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(alive.count(), 0, "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retryable_failure_with_attempts_left_cancels_nobody() {
    for parallel in BOTH {
        let (runs, times) = (Runs::new(), Times::new());
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("flaky", runs.failing(2, "flaky").retry(Retry::fixed(3, millis(10))))
            .node("slow", after(50, "slow"))
            .edge(START, "flaky")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((&*end.state.log, times.now()), (&["flaky".to_owned(), "slow".to_owned()][..], 50));
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("flaky", runs.failing(99, "flaky").retry(Retry::fixed(3, millis(10))))
            .node("slow", after(50, "slow"))
            .edge(START, "flaky")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let failed = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!((times.now(), failed.failures()[0].attempts), (70, 3), "the last attempt cancels");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_fails_while_it_is_stopped_is_not_tried_again() {
    for parallel in BOTH {
        let (runs, times) = (Runs::new(), Times::new());
        // It fails at the very moment in which it is stopped.
        let flaky = {
            let runs = runs.clone();
            move || {
                runs.hit("flaky");
                async move {
                    tokio::time::sleep(millis(10)).await;
                    Err::<(), _>("again")
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("flaky", flaky.retry(Retry::fixed(9, millis(100))))
            .edge(START, "bad")
            .edge(START, "flaky")
            .compile()
            .unwrap();
        let failed = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!((times.now(), runs.count("flaky")), (10, 1), "{parallel:?}");
        assert_eq!(failed.failures()[0].task.node, "bad");
        assert_eq!(failed.report.pending, ["bad", "flaky"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_waits_for_its_retry_is_stopped_at_once() {
    for parallel in BOTH {
        let (runs, times) = (Runs::new(), Times::new());
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("flaky", runs.failing(1, "flaky").retry(Retry::fixed(2, Duration::from_secs(60))))
            .edge(START, "bad")
            .edge(START, "flaky")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let failed = thread.run(Trip::update()).await.unwrap_err();
        assert_eq!((times.now(), failed.failures().len(), failed.report.attempts), (10, 1, 2));
        assert_eq!(failed.report.pending, ["bad", "flaky"]);
    }
}

/// Every way to fail that is no error of the node itself.
#[tokio::test(start_paused = true)]
async fn every_failure_for_good_cancels_the_siblings() {
    struct Astray;
    #[async_trait]
    impl Node<Trip> for Astray {
        async fn run(&self, _: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
            tokio::time::sleep(millis(10)).await;
            Ok(Outcome::default().go("slow"))
        }
    }
    let undeclared = || async {
        tokio::time::sleep(millis(10)).await;
        Trip::update().city("Oslo")
    };
    let panics = || async {
        tokio::time::sleep(millis(10)).await;
        assert_eq!(1, 2);
    };
    for parallel in BOTH {
        let nodes = [
            ("undeclared write", undeclared.writes(Trip::LOG)),
            ("undeclared move", graph_engine::IntoNode::into_node(Astray)),
            ("panic", graph_engine::IntoNode::into_node(panics)),
            ("timeout", after(900, "n").timeout(millis(10))),
            ("silence", after(900, "n").idle_timeout(millis(10))),
        ];
        for (what, bad) in nodes {
            let times = Times::new();
            let graph = Graph::<Trip>::builder("g")
                .siblings(Siblings::Cancel)
                .node("bad", bad)
                .node("slow", after(50, "slow"))
                .edge(START, "bad")
                .edge(START, "slow")
                .compile()
                .unwrap();
            let failed = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
            assert_eq!((times.now(), failed.failures().len()), (10, 1), "{what} {parallel:?}");
            assert_eq!(failed.report.pending, ["bad", "slow"], "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_sign_of_the_cancellation_reaches_the_siblings() {
    for parallel in BOTH {
        let seen: Arc<Mutex<Vec<&'static str>>> = Arc::default();
        let watcher = {
            let seen = seen.clone();
            move |ctx: Ctx| {
                // Work beside the node sees the same.
                let (token, waits) = (ctx.cancellation(), ctx.cancelled());
                let (one, two, three) = (seen.clone(), seen.clone(), seen.clone());
                tokio::spawn(async move {
                    token.cancelled().await;
                    one.lock().unwrap().push("token");
                });
                tokio::spawn(async move {
                    waits.await;
                    two.lock().unwrap().push("future");
                });
                let beside = ctx.clone();
                tokio::spawn(async move {
                    assert!(!beside.is_cancelled());
                    tokio::time::sleep(millis(11)).await;
                    assert!(beside.is_cancelled());
                    three.lock().unwrap().push("flag");
                });
                let waits: BoxNode<()> = Box::pin(async move {
                    ctx.cancelled().await;
                    unreachable!("a stopped node is not asked again")
                });
                waits
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("watcher", watcher)
            .edge(START, "bad")
            .edge(START, "watcher")
            .compile()
            .unwrap();
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        tokio::time::sleep(millis(2)).await;
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort_unstable();
        assert_eq!(seen, ["flag", "future", "token"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_turn_is_not_cancelled_and_its_tokens_are_new() {
    for parallel in BOTH {
        let stopped = Arc::new(AtomicBool::new(false));
        let slow = {
            let stopped = stopped.clone();
            move |ctx: Ctx| {
                let stopped = stopped.clone();
                async move {
                    stopped.fetch_or(ctx.is_cancelled() || ctx.cancellation().is_cancelled(), Ordering::SeqCst);
                    tokio::time::sleep(millis(50)).await;
                    stopped.fetch_or(ctx.is_cancelled() || ctx.cancellation().is_cancelled(), Ordering::SeqCst);
                    Trip::update().log(["slow".to_owned()])
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("slow", slow.clone())
            .node("then", slow)
            .edge(START, "bad")
            .edge(START, "slow")
            .edge("slow", "then")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        thread.run(Trip::update()).await.unwrap_err();
        let end = thread.proceed().await.unwrap();
        assert_eq!(end.state.log, ["bad", "slow", "slow"]);
        assert!(!stopped.load(Ordering::SeqCst));
    }
}

#[tokio::test(start_paused = true)]
async fn with_a_route_nobody_is_stopped_in_this_step_or_the_next() {
    for parallel in BOTH {
        let cancelled = Arc::new(AtomicBool::new(false));
        let watch = |takes: u64, name: &'static str| {
            let cancelled = cancelled.clone();
            move |ctx: Ctx| {
                let cancelled = cancelled.clone();
                async move {
                    tokio::time::sleep(millis(takes)).await;
                    cancelled.fetch_or(ctx.is_cancelled(), Ordering::SeqCst);
                    Trip::update().log([name.to_owned()])
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", (|| ready(Err::<(), _>("broken"))).on_error("sorry"))
            .node("slow", watch(50, "slow"))
            .node("later", watch(50, "later"))
            .node("sorry", |failed: In<FailedTask>| ready(Trip::update().log([failed.0.message.clone()])))
            .edge(START, "bad")
            .edge(START, "slow")
            .edge("slow", "later")
            .compile()
            .unwrap();
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["slow", "later", "broken"]);
        assert!(!cancelled.load(Ordering::SeqCst));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_beats_the_cancellation_that_it_causes_and_events_say_what_is_discarded() {
    for parallel in BOTH {
        let chatty = |ctx: Ctx| async move {
            ctx.token("hel").await;
            tokio::time::sleep(millis(50)).await;
        };
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("bad", fails(&Runs::new(), 10, "bad"))
            .node("chatty", chatty)
            .edge(START, "bad")
            .edge(START, "chatty")
            .compile()
            .unwrap();
        let mut stream = graph.runner().parallel(parallel).thread("t").run(Trip::update()).stream();
        let mut told = Vec::new();
        while let Some(event) = stream.next().await {
            if event.node.as_deref() == Some("chatty") && !matches!(event.kind, EventKind::NodeStarted) {
                told.push(event.kind.to_string());
            }
        }
        assert_eq!(told, ["token \"hel\"", "discarded"]);
        let failed = stream.end().await.unwrap_err();
        assert!(matches!(&*failed, RunError::Step { failures, .. } if failures.len() == 1));
        assert_eq!(failed.failures()[0].kind, FaultKind::Fatal);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_alone_in_its_step_fails_as_ever() {
    let graph = Graph::<Trip>::builder("g")
        .siblings(Siblings::Cancel)
        .node("bad", fails(&Runs::new(), 10, "bad"))
        .edge(START, "bad")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    assert_eq!(thread.run(Trip::update()).await.unwrap_err().failures().len(), 1);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["bad"]);
}
