//! E14: nodes that block their thread: others go on meanwhile, and what can't be stopped is named.

use std::future::IntoFuture;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use behaviour_tests::{Runs, Trip, TripUpdate, after, note};
use graph_engine::{
    BlockingWork, BoxFuture, Command, Ctx, FailedTask, FaultKind, Graph, In, MemoryStore, NodeError, NodeExt, NodeSpec,
    Parallel, Res, Retry, Route, START, Seams, Snap, Spawn, Status, blocking,
};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn one<M>(node: impl graph_engine::IntoNode<Trip, M>) -> Graph<Trip> {
    Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap()
}

/// Keeps threads blocked until it is opened, or dropped.
#[derive(Clone, Default)]
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn wait(&self) {
        let begin = Instant::now();
        while !self.0.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(20) {
            thread::sleep(millis(1));
        }
    }
}

#[derive(Route)]
enum Each {
    Work(u32),
}

#[tokio::test]
async fn it_takes_the_arguments_of_an_async_node_and_returns_the_same_results() {
    fn split(trip: Snap<Trip>, names: Res<Vec<&'static str>>, ctx: Ctx) -> Result<Command<Trip, Each>, NodeError> {
        assert_eq!((&**ctx.node(), ctx.attempt(), ctx.step()), ("split", 1, 0));
        let log = names.iter().map(|name| format!("{name} {}", trip.city));
        Ok(Command::fan_out([1, 2, 3].map(Each::Work)).with(Trip::update().log(log)))
    }
    fn work(In(n): In<u32>) -> TripUpdate {
        Trip::update().total((*n).into())
    }
    fn quiet() {}
    for parallel in BOTH {
        let graph = Graph::<Trip>::builder("g")
            .node("split", blocking(split))
            .node("work", blocking(work))
            .node("quiet", blocking(quiet))
            .edge(START, "split")
            .edge("work", "quiet")
            .compile()
            .unwrap();
        let runner = graph.runner().parallel(parallel).provide(vec!["Inn", "Palace"]);
        let end = runner.thread("t").run(Trip::update().city("Oslo")).await.unwrap();
        assert_eq!((&*end.state.log, end.state.total), (&["Inn Oslo", "Palace Oslo"].map(str::to_owned)[..], 6));
        assert_eq!((end.report.tasks, end.report.attempts, end.report.copies), (5, 5, 0), "no snapshot is left behind");
        assert_eq!(end.report.stuck, []);
    }
    // What it declares is checked like that of any node.
    let graph = Graph::<Trip>::builder("g").node("split", blocking(split)).edge(START, "split").compile();
    assert!(graph.unwrap_err().to_string().contains("`work`"));
}

#[tokio::test]
async fn it_runs_on_another_thread() {
    let here = thread::current().id();
    let node = move || assert_ne!(thread::current().id(), here);
    one(blocking(node)).runner().thread("t").run(Trip::update()).await.unwrap();
}

#[tokio::test]
async fn a_missing_payload_is_a_failure_before_anything_runs() {
    let graph = Graph::<Trip>::builder("g")
        .lint(graph_engine::Lint::PayloadMismatch, graph_engine::Level::Ignore)
        .node("n", blocking(|_: In<u32>| ()))
        .edge(START, "n")
        .compile()
        .unwrap();
    let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(failed.failures()[0].kind, FaultKind::Fatal);
}

#[tokio::test]
async fn errors_and_panics_are_failures_and_retried_like_others() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || match runs.hit("n") {
            0 => Err(NodeError::retryable("once")),
            _ => Ok(Trip::update().log(["n".to_owned()])),
        }
    };
    let end = one(blocking(node).retry(Retry::fixed(2, Duration::ZERO))).runner().thread("t").run(Trip::update()).await;
    assert_eq!(end.unwrap().report.attempts, 2);
    let panics = || -> TripUpdate { panic!("no more") };
    let failed =
        one(blocking(panics).retry(Retry::fixed(5, Duration::ZERO))).runner().thread("t").run(Trip::update()).await;
    let failed = failed.unwrap_err();
    assert_eq!(failed.failures()[0].to_string(), "`n` (task 0.0) failed after 1 attempt: it panicked: no more");
    assert_eq!((failed.failures()[0].kind, &*failed.report.stuck), (FaultKind::Panicked, &[][..]));
}

/// A blocking node behind a gate, with its policies.
fn gated(gate: &Gate) -> NodeSpec<Trip> {
    let gate = gate.clone();
    graph_engine::IntoNode::into_node(blocking(move || {
        gate.wait();
        Trip::update().log(["late".to_owned()])
    }))
}

#[tokio::test]
async fn a_timeout_gives_up_the_work_names_it_and_drops_its_result() {
    for parallel in BOTH {
        for idle in [false, true] {
            let gate = Gate::default();
            let node = if idle { gated(&gate).idle_timeout(millis(30)) } else { gated(&gate).timeout(millis(30)) };
            let graph = Graph::<Trip>::builder("g")
                .node("n", node.on_error("sorry"))
                .node("beside", note("beside"))
                .node("sorry", |failed: In<FailedTask>| {
                    std::future::ready(Trip::update().log([failed.0.message.clone()]))
                })
                .edge(START, "n")
                .edge(START, "beside")
                .compile()
                .unwrap();
            let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
            assert_eq!(
                end.report.stuck.iter().map(ToString::to_string).collect::<Vec<_>>(),
                ["`n` (task 0.1, attempt 1)"]
            );
            assert_eq!(end.state.log.len(), 2, "{:?}", end.state.log);
            assert!(
                end.state.log[1]
                    .ends_with("; its blocking work is stuck and still runs, because a thread can't be stopped"),
                "{:?}",
                end.state.log
            );
            assert!(end.report.to_string().contains("blocking work of `n` (task 0.1, attempt 1) still runs"));
            gate.open();
        }
    }
}

#[tokio::test]
async fn work_that_ends_before_the_turn_is_not_stuck_in_the_report() {
    let gate = Gate::default();
    let over = Arc::new(AtomicBool::new(false));
    let node = {
        let (gate, over) = (gate.clone(), over.clone());
        blocking(move || {
            gate.wait();
            over.store(true, Ordering::SeqCst);
        })
    };
    let wait = {
        let (gate, over) = (gate.clone(), over.clone());
        move |_: In<FailedTask>| {
            gate.open();
            let over = over.clone();
            async move {
                while !over.load(Ordering::SeqCst) {
                    tokio::time::sleep(millis(1)).await;
                }
                tokio::time::sleep(millis(50)).await;
            }
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("n", node.timeout(millis(20)).on_error("wait"))
        .node("wait", wait)
        .edge(START, "n")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.report.stuck, []);
}

#[tokio::test]
async fn every_stuck_attempt_is_named_once() {
    let gate = Gate::default();
    let node = gated(&gate).timeout(millis(20)).retry(Retry::fixed(3, Duration::ZERO));
    let failed = one(node).runner().thread("t").run(Trip::update()).await.unwrap_err();
    let stuck: Vec<_> = failed.report.stuck.iter().map(|stuck| stuck.attempt).collect();
    assert_eq!((stuck, failed.failures()[0].attempts), (vec![1, 2, 3], 3));
    gate.open();
}

#[tokio::test]
async fn other_tasks_and_other_turns_go_on_meanwhile() {
    for parallel in BOTH {
        let gate = Gate::default();
        let opens = {
            let gate = gate.clone();
            move || {
                gate.open();
                std::future::ready(Trip::update().log(["opens".to_owned()]))
            }
        };
        // The blocked node can only end because its sibling runs beside it, on one thread of the runtime.
        let graph = Graph::<Trip>::builder("g")
            .node("blocked", gated(&gate))
            .node("opens", opens)
            .edge(START, "blocked")
            .edge(START, "opens")
            .compile()
            .unwrap();
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["late", "opens"]);
        let gate = Gate::default();
        let (blocked, other) = (one(gated(&gate)).runner(), one(after(5, "n")).runner());
        let first = tokio::spawn(blocked.parallel(parallel).thread("a").run(Trip::update()).into_future());
        tokio::time::sleep(millis(10)).await;
        other.thread("b").run(Trip::update()).await.unwrap();
        assert!(!first.is_finished());
        gate.open();
        assert_eq!(first.await.unwrap().unwrap().state.log, ["late"]);
    }
}

#[tokio::test]
async fn a_cancelled_turn_ends_at_once_and_names_what_still_runs() {
    for parallel in BOTH {
        for siblings in [false, true] {
            let gate = Gate::default();
            let mut builder = Graph::<Trip>::builder("g").node("n", gated(&gate)).edge(START, "n");
            if siblings {
                builder = builder.node("o", after(60_000, "o")).edge(START, "o");
            }
            let thread = builder.compile().unwrap().runner().parallel(parallel).store(MemoryStore::new()).thread("t");
            let begin = Instant::now();
            let end = thread.run(Trip::update()).cancel_on(tokio::time::sleep(millis(20))).await.unwrap();
            assert!(begin.elapsed() < Duration::from_secs(5));
            assert_eq!((end.status, end.report.stuck.len(), end.state.log.len()), (Status::Cancelled, 1, 0));
            gate.open();
            if !siblings {
                assert_eq!(thread.proceed().await.unwrap().state.log, ["late"]);
            }
        }
    }
}

#[tokio::test]
async fn work_may_look_at_the_cancellation_and_beat() {
    let (told, said) = mpsc::channel();
    let told = Mutex::new(told);
    let node = move |ctx: Ctx| {
        let begin = Instant::now();
        while !ctx.is_cancelled() && begin.elapsed() < Duration::from_secs(20) {
            // It is never silent for so long.
            ctx.heartbeat();
            thread::sleep(millis(5));
        }
        told.lock().unwrap().send(ctx.is_cancelled()).unwrap();
    };
    let graph = one(blocking(node).idle_timeout(millis(1_000)));
    let end =
        graph.runner().thread("t").run(Trip::update()).cancel_on(tokio::time::sleep(millis(1_500))).await.unwrap();
    assert_eq!(end.status, Status::Cancelled, "its beats kept it alive for longer than its idle timeout");
    assert!(tokio::task::spawn_blocking(move || said.recv_timeout(Duration::from_secs(5)).unwrap()).await.unwrap());
}

/// Runs everything on threads of its own, and counts.
#[derive(Clone, Default)]
struct Threads {
    blocking: Arc<AtomicUsize>,
    refuse: bool,
    forget: bool,
    inline: bool,
}

impl Spawn for Threads {
    fn spawn(&self, future: BoxFuture) {
        tokio::spawn(future);
    }

    fn spawn_blocking(&self, work: BlockingWork) -> Result<(), &'static str> {
        self.blocking.fetch_add(1, Ordering::SeqCst);
        match (self.refuse, self.forget, self.inline) {
            (true, ..) => return Err("no thread is left"),
            (_, true, _) => drop(work),
            (.., true) => work(),
            _ => drop(thread::spawn(work)),
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_seam_says_where_the_work_runs() {
    let graph = one(blocking(|| Trip::update().log(["n".to_owned()])));
    let run = async |threads: Threads| {
        let runner = graph.runner().seams(Seams::default().spawn(threads.clone()));
        let ended = runner.thread("t").run(Trip::update()).await;
        assert_eq!(threads.blocking.load(Ordering::SeqCst), 1);
        ended
    };
    assert_eq!(run(Threads::default()).await.unwrap().state.log, ["n"]);
    assert_eq!(run(Threads { inline: true, ..Threads::default() }).await.unwrap().state.log, ["n"]);
    let refused = run(Threads { refuse: true, ..Threads::default() }).await.unwrap_err();
    assert_eq!(refused.failures()[0].to_string(), "`n` (task 0.0) failed after 1 attempt: no thread is left");
    let forgotten = run(Threads { forget: true, ..Threads::default() }).await.unwrap_err();
    assert_eq!(
        forgotten.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: the runtime dropped its blocking work before it began"
    );
    assert_eq!((refused.report.stuck.len(), forgotten.report.stuck.len()), (0, 0));
}

#[test]
fn without_a_runtime_the_node_fails_with_what_to_do() {
    let graph = one(blocking(|| Trip::update().log(["n".to_owned()])));
    let failed = futures_util::FutureExt::now_or_never(graph.runner().thread("t").run(Trip::update()).into_future());
    let failed = failed.expect("it never waits").unwrap_err();
    assert_eq!(
        failed.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: blocking work needs a tokio runtime; run the turn on one, or use \
         `Seams::spawn`"
    );
    // With a seam it needs none.
    let threads = Threads { inline: true, ..Threads::default() };
    let runner = graph.runner().seams(Seams::default().spawn(threads));
    let end = futures_util::FutureExt::now_or_never(runner.thread("t").run(Trip::update()).into_future());
    assert_eq!(end.expect("it never waits").unwrap().state.log, ["n"]);
}

#[tokio::test]
async fn limits_and_caches_hold_for_blocking_nodes_too() {
    let (now, most, runs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Runs::new());
    let work = {
        let (now, most, runs) = (now.clone(), most.clone(), runs.clone());
        move |In(n): In<u32>| {
            runs.hit("work");
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(millis(3));
            now.fetch_sub(1, Ordering::SeqCst);
            Trip::update().total((*n).into())
        }
    };
    let split = || std::future::ready(Command::<Trip, Each>::fan_out((0..8).map(Each::Work)));
    let graph = Graph::<Trip>::builder("g")
        .node("split", split)
        .node("work", blocking(work).limit(2).cache(graph_engine::Cache::by_payload::<u32>()))
        .edge(START, "split")
        .compile()
        .unwrap();
    let runner = graph.runner();
    for cached in [0, 8] {
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.state.total, end.report.cached), (28, cached));
    }
    assert_eq!((most.load(Ordering::SeqCst), runs.count("work")), (2, 8));
}
