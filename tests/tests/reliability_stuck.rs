//! Nodes that never end: a future that waits for ever, work that blocks its thread, work that never yields for long.
//! They stop at their timeout or are reported as stuck, and other turns go on.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use behaviour_tests::{Alive, Trip, TripUpdate, note};
use graph_engine::{
    Builder, Ctx, FaultKind, Graph, MemoryStore, NodeExt, Parallel, START, StuckTask, TaskId, blocking,
};

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

/// Threads that stay blocked until this is dropped or told to let them go.
#[derive(Clone)]
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Blocks this thread until the gate is open; at most a minute, so that a failed test ends.
    fn wait(&self) {
        let begin = Instant::now();
        while !self.0.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_future_that_is_never_ready_stops_at_its_timeout_in_every_mode() {
    for (sibling, parallel) in [(false, Parallel::Spawned), (true, Parallel::Joined), (true, Parallel::Spawned)] {
        let alive = Alive::new();
        let node = {
            let alive = alive.clone();
            move || {
                let guard = alive.guard();
                async move {
                    pending::<()>().await;
                    drop(guard);
                }
            }
        };
        let builder = graph().node("n", node.timeout(Duration::from_secs(3))).edge(START, "n");
        let builder = if sibling { builder.node("s", note("s")).edge(START, "s") } else { builder };
        let thread = builder.compile().unwrap().runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let begin = tokio::time::Instant::now();
        let error = thread.run(Trip::update()).await.unwrap_err();
        assert_eq!(begin.elapsed(), Duration::from_secs(3));
        assert_eq!((error.failures()[0].kind, alive.count()), (FaultKind::TimedOut, 0));
        assert!(error.report.stuck.is_empty(), "it was stopped");
    }
}

/// `n` blocks its thread behind a gate.
fn blocked(gate: &Gate, timeout: Option<Duration>) -> Builder<Trip> {
    let gate = gate.clone();
    let node = blocking(move || -> TripUpdate {
        gate.wait();
        Trip::update().log(["late".to_owned()])
    });
    let node = match timeout {
        Some(after) => node.timeout(after),
        None => node.kind(graph_engine::NodeKind::Plain),
    };
    graph().node("n", node).edge(START, "n")
}

#[tokio::test]
async fn blocking_work_that_outlives_its_timeout_is_reported_as_stuck_and_its_result_is_dropped() {
    let gate = Gate::new();
    let graph = blocked(&gate, Some(Duration::from_millis(50))).compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].kind, FaultKind::TimedOut);
    assert_eq!(
        error.failures()[0].source.to_string(),
        "it ran longer than its timeout of 50ms; raise `.timeout(..)` or add `.retry(..)`; its blocking work is stuck \
         and still runs, because a thread can't be stopped"
    );
    let stuck = StuckTask { node: "n".into(), task: TaskId { step: 0, rank: 0 }, attempt: 1 };
    assert_eq!(error.report.stuck, [stuck]);
    assert!(error.report.to_string().ends_with("; blocking work of `n` (task 0.0, attempt 1) still runs"));
    gate.open();
    assert_eq!(thread.state().await.unwrap().state.log, [""; 0]);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["late"], "the gate is open now");
}

#[tokio::test]
async fn a_cancelled_turn_ends_at_once_although_its_work_is_stuck() {
    let gate = Gate::new();
    let graph = blocked(&gate, None).compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let begin = Instant::now();
    let end = thread.run(Trip::update()).cancel_on(tokio::time::sleep(Duration::from_millis(20))).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "it didn't wait for the blocked thread");
    assert_eq!(end.status, graph_engine::Status::Cancelled);
    assert_eq!(end.report.stuck.len(), 1);
    gate.open();
}

#[tokio::test]
async fn a_turn_that_is_dropped_leaves_its_blocked_thread_behind_and_the_thread_free() {
    let gate = Gate::new();
    let graph = blocked(&gate, None).compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let turn = tokio::time::timeout(Duration::from_millis(20), thread.run(Trip::update()).into_future());
    assert!(turn.await.is_err());
    gate.open();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["late"]);
}

#[tokio::test]
async fn stuck_work_can_see_that_it_was_given_up() {
    let (seen, told) = mpsc::channel();
    let node = blocking(move |ctx: Ctx| {
        let begin = Instant::now();
        while !ctx.is_cancelled() && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        seen.send(ctx.is_cancelled()).unwrap();
    });
    let graph = graph().node("n", node).edge(START, "n").compile().unwrap();
    let turn = graph.runner().thread("t").run(Trip::update());
    turn.cancel_on(tokio::time::sleep(Duration::from_millis(20))).await.unwrap();
    assert!(told.recv_timeout(Duration::from_secs(60)).unwrap());
}

/// Two hundred turns of three steps each, and how long the slowest took.
async fn other_turns() -> Duration {
    let graph = graph()
        .node("a", note("a"))
        .node("b", note("b"))
        .node("c", note("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap();
    let runner = graph.runner().store(MemoryStore::new());
    let mut slowest = Duration::ZERO;
    for at in 0..200 {
        let begin = Instant::now();
        let end = runner.thread(at.to_string()).run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["a", "b", "c"]);
        slowest = slowest.max(begin.elapsed());
    }
    slowest
}

#[tokio::test]
async fn other_turns_on_the_same_thread_go_on_beside_stuck_work() {
    // One worker thread: work that blocked it would stop everything.
    let gate = Gate::new();
    let runner = blocked(&gate, None).compile().unwrap().runner();
    let stuck: Vec<_> =
        (0..8).map(|at| tokio::spawn(runner.thread(at.to_string()).run(Trip::update()).into_future())).collect();
    tokio::task::yield_now().await;
    let slowest = other_turns().await;
    assert!(slowest < Duration::from_secs(10), "the slowest took {slowest:?}");
    assert!(stuck.iter().all(|turn| !turn.is_finished()), "the blocked ones are still there");
    gate.open();
    for turn in stuck {
        assert_eq!(turn.await.unwrap().unwrap().state.log, ["late"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_blocks_its_worker_is_told_to_be_made_blocking_and_stops_no_other_turn() {
    let gate = Gate::new();
    let node = {
        let gate = gate.clone();
        // Without an await nothing can stop it.
        move || {
            gate.wait();
            std::future::ready(())
        }
    };
    let graph = graph().node("n", node.timeout(Duration::from_millis(1))).edge(START, "n").compile().unwrap();
    let turn = tokio::spawn(graph.runner().thread("t").run(Trip::update()).into_future());
    let slowest = tokio::spawn(other_turns()).await.unwrap();
    assert!(slowest < Duration::from_secs(10), "the slowest took {slowest:?}");
    assert!(!turn.is_finished());
    gate.open();
    let error = turn.await.unwrap().unwrap_err();
    assert_eq!(
        error.failures()[0].source.to_string(),
        "it blocked its thread past its timeout of 1ms, so nobody could stop it; make it a node with `blocking(..)`, or \
         raise `.timeout(..)`"
    );
    assert_eq!(error.failures()[0].kind, FaultKind::TimedOut);
}
