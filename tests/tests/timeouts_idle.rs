//! E14: the timeout of a silent attempt begins anew with every sign of life; a task that was sent may have its own.

use std::future::{IntoFuture, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, Times, Trip, TripUpdate, after};
use futures_util::StreamExt;
use graph_engine::{
    Command, Ctx, FaultKind, Graph, In, MemoryStore, Mode, NodeDefaults, NodeError, NodeExt, NodeSpec, Parallel, Retry,
    Route, RunError, Runner, START, Slow, Snap, StreamOptions,
};

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn one(node: NodeSpec<Trip>) -> Graph<Trip> {
    Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap()
}

async fn kind_of_failure(runner: Runner<Trip>) -> FaultKind {
    runner.thread("t").run(Trip::update()).await.unwrap_err().failures()[0].kind
}

#[tokio::test(start_paused = true)]
async fn a_silent_attempt_ends_at_exactly_its_idle_timeout() {
    for (takes, passes) in [(999, true), (1_000, true), (1_001, false)] {
        let times = Times::new();
        let ended = one(after(takes, "n").idle_timeout(millis(1_000))).runner().thread("t").run(Trip::update()).await;
        assert_eq!((ended.is_ok(), times.now()), (passes, takes.min(1_000)), "{takes}");
        if let Err(failed) = ended {
            assert_eq!(failed.failures()[0].kind, FaultKind::Idle);
            assert_eq!(
                failed.failures()[0].to_string(),
                "`n` (task 0.0) failed after 1 attempt: it was silent for 1s; emit, call `Ctx::heartbeat`, or raise \
                 `.idle_timeout(..)`"
            );
        }
    }
}

/// How a node says that it is alive.
#[derive(Clone, Copy, Debug)]
enum Sign {
    Emit,
    Token,
    Heartbeat,
}

const SIGNS: [Sign; 3] = [Sign::Emit, Sign::Token, Sign::Heartbeat];

async fn give(ctx: &Ctx, sign: Sign) {
    match sign {
        Sign::Emit => ctx.emit("alive").await.unwrap(),
        Sign::Token => ctx.token("alive").await,
        Sign::Heartbeat => ctx.heartbeat(),
    }
}

/// Gives signs at 90, 180 and 270 ms, and is silent then.
fn signing(sign: Sign) -> impl Fn(Ctx) -> BoxNode<()> + Clone {
    move |ctx: Ctx| {
        Box::pin(async move {
            for _ in 0..3 {
                tokio::time::sleep(millis(90)).await;
                give(&ctx, sign).await;
            }
            std::future::pending().await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn every_sign_of_life_begins_the_time_anew_with_and_without_a_reader() {
    for sign in SIGNS {
        for readers in 0..3 {
            let times = Times::new();
            let mut turn = one(signing(sign).idle_timeout(millis(100))).runner().thread("t").run(Trip::update());
            let modes = [vec![Mode::Nodes], vec![Mode::Custom, Mode::Tokens]];
            let readers: Vec<_> =
                modes.into_iter().take(readers).map(|m| turn.reader(StreamOptions::default().modes(m))).collect();
            let failed = turn.await.unwrap_err();
            assert_eq!((times.now(), failed.failures()[0].kind), (370, FaultKind::Idle), "{sign:?} {}", readers.len());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sign_at_the_very_end_of_the_time_counts() {
    for sign in SIGNS {
        let node = move |ctx: Ctx| async move {
            tokio::time::sleep(millis(100)).await;
            give(&ctx, sign).await;
            tokio::time::sleep(millis(100)).await;
        };
        assert!(one(node.idle_timeout(millis(100))).runner().thread("t").run(Trip::update()).await.is_ok(), "{sign:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sign_before_the_first_await_counts_from_then() {
    let node = |ctx: Ctx| async move {
        ctx.heartbeat();
        std::future::pending::<()>().await;
    };
    let times = Times::new();
    assert_eq!(kind_of_failure(one(node.idle_timeout(millis(100))).runner()).await, FaultKind::Idle);
    assert_eq!(times.now(), 100);
}

#[tokio::test(start_paused = true)]
async fn signs_of_work_beside_the_node_count() {
    for sign in SIGNS {
        let times = Times::new();
        let node = move |ctx: Ctx| async move {
            let beside = ctx.clone();
            tokio::spawn(async move {
                for _ in 0..3 {
                    tokio::time::sleep(millis(90)).await;
                    give(&beside, sign).await;
                }
            });
            std::future::pending::<()>().await;
        };
        assert_eq!(kind_of_failure(one(node.idle_timeout(millis(100))).runner()).await, FaultKind::Idle);
        assert_eq!(times.now(), 370, "{sign:?}");
    }
}

#[tokio::test]
async fn heartbeats_from_another_thread_keep_an_attempt_alive() {
    // Real time: the thread beats every 20 ms for half a second, which is longer than the node may be silent.
    let node = |ctx: Ctx| async move {
        let (over, waiting) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            for _ in 0..25 {
                std::thread::sleep(millis(20));
                ctx.heartbeat();
            }
            let _ = over.send(());
        });
        waiting.await.unwrap();
    };
    one(node.idle_timeout(millis(400))).runner().thread("t").run(Trip::update()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_run_timeout_is_not_begun_anew() {
    for sign in SIGNS {
        let times = Times::new();
        let node = signing(sign).idle_timeout(millis(100)).timeout(millis(250));
        assert_eq!(kind_of_failure(one(node).runner()).await, FaultKind::TimedOut);
        assert_eq!(times.now(), 250, "{sign:?}");
    }
    // Whichever comes first; of two at once the run timeout is told.
    let times = Times::new();
    let silent = || std::future::pending::<()>();
    assert_eq!(
        kind_of_failure(one(silent.idle_timeout(millis(50)).timeout(millis(51))).runner()).await,
        FaultKind::Idle
    );
    let both = one(silent.idle_timeout(millis(50)).timeout(millis(50))).runner();
    assert_eq!(kind_of_failure(both).await, FaultKind::TimedOut);
    assert_eq!(times.now(), 100);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_begins_its_own_time_and_late_signs_of_an_old_one_do_not_count() {
    let (runs, times) = (Runs::new(), Times::new());
    let node = {
        let runs = runs.clone();
        move |ctx: Ctx| {
            let run = runs.hit("n");
            async move {
                if run == 0 {
                    // It outlives its attempt and gives signs during the next one.
                    tokio::spawn(async move {
                        for _ in 0..10 {
                            tokio::time::sleep(millis(110)).await;
                            ctx.heartbeat();
                        }
                    });
                }
                if run < 2 {
                    std::future::pending::<()>().await;
                }
                Trip::update().log(["n".to_owned()])
            }
        }
    };
    let node = node.idle_timeout(millis(100)).retry(Retry::fixed(3, millis(50)));
    let end = one(node).runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((times.now(), end.report.attempts), (300, 3));
}

#[tokio::test(start_paused = true)]
async fn defaults_give_idle_timeouts_and_a_node_may_say_otherwise() {
    let graph = |node: NodeSpec<Trip>| {
        Graph::<Trip>::builder("g")
            .defaults(NodeDefaults::new().idle_timeout(millis(100)).timeout(millis(500)))
            .node("n", node)
            .edge(START, "n")
            .compile()
            .unwrap()
    };
    for (node, ends) in [
        (after(900, "n").timeout(millis(400)), 100),
        (after(900, "n").idle_timeout(millis(200)), 200),
        (after(900, "n").idle_timeout(millis(800)), 500),
    ] {
        let times = Times::new();
        graph(node).runner().thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(times.now(), ends);
    }
}

#[derive(Route)]
#[route(stay)]
enum Each {
    Work(u64),
}

/// `split` sends tasks that may run 100 ms; `work` takes so long as its payload says.
fn within(work: NodeSpec<Trip>, payloads: &[u64]) -> Graph<Trip> {
    let payloads = payloads.to_vec();
    let split =
        move || ready(Command::<Trip, Each>::fan_out_within(millis(100), payloads.clone().into_iter().map(Each::Work)));
    Graph::<Trip>::builder("g").node("split", split).node("work", work).edge(START, "split").compile().unwrap()
}

fn taking(n: In<u64>) -> BoxNode<TripUpdate> {
    Box::pin(after(*n, "work")())
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_a_send_beats_that_of_the_node_in_both_directions() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        for node in [taking.timeout(millis(10)), taking.timeout(millis(10_000)), taking.idle_timeout(millis(10_000))] {
            let times = Times::new();
            let failed = within(node, &[50, 100, 101, 5_000]).runner().parallel(parallel);
            let failed = failed.thread("t").run(Trip::update()).await.unwrap_err();
            let ranks: Vec<_> = failed.failures().iter().map(|f| (f.task.id.rank, f.kind)).collect();
            assert_eq!(ranks, [(2, FaultKind::TimedOut), (3, FaultKind::TimedOut)]);
            assert_eq!(times.now(), 100);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_a_send_is_for_each_attempt() {
    let (runs, times) = (Runs::new(), Times::new());
    let work = {
        let runs = runs.clone();
        move |n: In<u64>| taking(In(Arc::new(if runs.hit("work") < 2 { 5_000 } else { *n })))
    };
    let graph = within(work.retry(Retry::fixed(3, millis(10))).timeout(millis(1)), &[90]);
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((times.now(), end.report.attempts), (100 + 10 + 100 + 10 + 90, 4));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_a_send_survives_a_restore() {
    let graph = within(taking.timeout(millis(10_000)), &[101]);
    let store = Arc::new(MemoryStore::new());
    // The step limit stops the turn between the send and its task.
    let runner = graph.runner().store_arc(store.clone()).step_limit(1);
    assert!(matches!(*runner.thread("t").run(Trip::update()).await.unwrap_err(), RunError::StepLimit { .. }));
    let times = Times::new();
    let failed = graph.runner().store_arc(store.clone()).thread("t").proceed().await.unwrap_err();
    assert_eq!((times.now(), failed.failures()[0].kind), (100, FaultKind::TimedOut));
    // And the failure of the task itself.
    let failed = graph.runner().store_arc(store).thread("t").proceed().await.unwrap_err();
    assert_eq!((times.now(), failed.failures()[0].kind), (200, FaultKind::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_finished_sender_beside_a_failed_task_keeps_the_timeout_of_what_it_sends() {
    let runs = Runs::new();
    let split = || ready(Command::<Trip, Each>::fan_out_within(millis(100), [Each::Work(101)]));
    let graph = Graph::<Trip>::builder("g")
        .node("bad", runs.failing(1, "bad"))
        .node("split", split)
        .node("work", taking)
        .edge(START, "bad")
        .edge(START, "split")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    assert_eq!(thread.run(Trip::update()).await.unwrap_err().failures()[0].task.node, "bad");
    let times = Times::new();
    let failed = thread.proceed().await.unwrap_err();
    assert_eq!((times.now(), &*failed.failures()[0].task.node), (100, "work"));
}

#[tokio::test(start_paused = true)]
async fn a_stay_of_a_sent_task_keeps_its_timeout_and_payload() {
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let work = {
        let seen = seen.clone();
        move |n: In<u64>, ctx: Ctx, trip: Snap<Trip>| {
            let (seen, total) = (seen.clone(), trip.total);
            async move {
                seen.lock().unwrap().push((*n, ctx.feedback::<String>().unwrap()));
                tokio::time::sleep(millis(if total == 0 { 99 } else { 101 })).await;
                Ok::<_, NodeError>(Command::<Trip, Each>::stay("again").with(Trip::update().total(1)))
            }
        }
    };
    for store in [false, true] {
        let times = Times::new();
        let runner = within(work.clone().timeout(millis(9_000)), &[7]).runner();
        let runner = if store { runner.store(MemoryStore::new()) } else { runner };
        let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!((times.now(), failed.failures()[0].kind, failed.report.stays), (199, FaultKind::TimedOut, 1));
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), [(7, None), (7, Some("again".to_owned()))]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deferred_send_keeps_its_timeout() {
    let times = Times::new();
    let failed = within(taking.deferred(), &[101]).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!((times.now(), failed.failures()[0].kind), (100, FaultKind::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_router_may_send_within_a_time_too() {
    let graph = Graph::<Trip>::builder("g")
        .node("split", behaviour_tests::note("split"))
        .node("work", taking)
        .edge(START, "split")
        .route("split", |_: &Trip| graph_engine::Next::fan_out_within(millis(100), [Each::Work(101)]))
        .lint(graph_engine::Lint::ImplicitEnd, graph_engine::Level::Ignore)
        .compile()
        .unwrap();
    let times = Times::new();
    let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!((times.now(), failed.failures()[0].kind), (100, FaultKind::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_reads_in_time_never_makes_an_attempt_silent() {
    let times = Times::new();
    let node = |ctx: Ctx| async move {
        for at in 0..5 {
            ctx.emit(at).await.unwrap();
        }
    };
    let mut turn = one(node.idle_timeout(millis(100))).runner().thread("t").run(Trip::update());
    let reader = turn.reader(StreamOptions::default().modes([Mode::Custom]).buffer(1).slow(Slow::Block));
    let slow = reader.then(|event| async move {
        tokio::time::sleep(millis(60)).await;
        event
    });
    let (end, events) = tokio::join!(turn.into_future(), slow.collect::<Vec<_>>());
    end.unwrap();
    assert_eq!(events.len(), 7, "the beginning, five values, the end");
    assert_eq!(times.now(), 420);
}
