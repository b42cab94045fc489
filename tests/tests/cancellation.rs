//! E16: cancellation reaches every task at its next await, leaves no update and no task behind, and the thread goes on.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Alive, BoxNode, Runs, TestStore, Trip, TripUpdate, note, poll_at_most};
use expect_test::expect;
use graph_engine::testing::run_logged;
use graph_engine::{
    Command, Ctx, Graph, In, MemoryStore, NodeError, NodeExt, Parallel, Retry, Route, RunError, Runner, START, Status,
    Thread,
};
use tokio::time::{Instant, sleep};

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[derive(Route)]
enum Each {
    Each(u32),
}

/// Awaits several times with a guard, then appends its name.
fn working(alive: &Alive, name: &'static str) -> impl Fn() -> BoxNode<TripUpdate> + Clone + use<> {
    let alive = alive.clone();
    move || {
        let guard = alive.guard();
        Box::pin(async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
                sleep(millis(10)).await;
            }
            drop(guard);
            Trip::update().log([name.to_owned()])
        })
    }
}

/// Two branches, a fan-out, a join and a deferred node, all of which await.
fn busy_graph(alive: &Alive) -> Graph<Trip> {
    let each = {
        let alive = alive.clone();
        move |In(item): In<u32>| {
            let guard = alive.guard();
            async move {
                sleep(millis((*item).into())).await;
                drop(guard);
                Trip::update().log([item.to_string()]).total((*item).into())
            }
        }
    };
    let split = || async {
        tokio::task::yield_now().await;
        Command::<Trip, Each>::fan_out([3, 1, 2].map(Each::Each)).with(Trip::update().log(["split".to_owned()]))
    };
    Graph::<Trip>::builder("busy")
        .node("a", working(alive, "a"))
        .node("b", working(alive, "b"))
        .node("split", split)
        .node("each", each)
        .node("both", working(alive, "both"))
        .node("last", working(alive, "last").deferred())
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "split")
        .edge(START, "last")
        .join(["a", "b"], "both")
        .compile()
        .unwrap()
}

const WHOLE: [&str; 9] = ["in", "a", "b", "split", "both", "3", "1", "2", "last"];

fn input() -> TripUpdate {
    Trip::update().log(["in".to_owned()])
}

/// Goes on until the turn is over, whatever came between.
async fn finish(thread: &Thread<Trip>) -> Vec<String> {
    let state = thread.state().await.unwrap();
    let ended = match (state.checkpoint, state.next.is_empty()) {
        (None, _) => thread.run(input()).await,
        (Some(_), false) => thread.proceed().await,
        (Some(_), true) => return state.state.log.clone(),
    };
    ended.unwrap().state.log.clone()
}

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

fn runners(graph: &Graph<Trip>) -> Vec<Runner<Trip>> {
    let with = |parallel: Parallel, store: TestStore| graph.runner().parallel(parallel).store(store);
    vec![
        with(Parallel::Spawned, TestStore::new()),
        with(Parallel::Joined, TestStore::new()),
        with(Parallel::Spawned, TestStore::lasting()),
        with(Parallel::Joined, TestStore::lasting()),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_at_any_poll_leaks_nothing_and_can_go_on() {
    let alive = Alive::new();
    let graph = busy_graph(&alive);
    for (at, runner) in runners(&graph).into_iter().enumerate() {
        let mut polls = 0;
        loop {
            let thread = runner.thread(format!("t{polls}"));
            let ended = poll_at_most(thread.run(input()).into_future(), polls).await;
            settle().await;
            assert_eq!(alive.count(), 0, "runner {at}, {polls} polls: a task leaked");
            let whole = ended.is_some();
            assert_eq!(finish(&thread).await, WHOLE, "runner {at}, {polls} polls");
            if whole {
                break;
            }
            polls += 1;
        }
        assert!(polls > 8, "the turn was dropped at {polls} moments");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_and_its_proceeds_may_all_be_dropped_again_and_again() {
    let alive = Alive::new();
    let graph = busy_graph(&alive);
    // A step needs 30 ms to make progress: with a lasting store finished tasks are kept, so even short tries end.
    let thread = graph.runner().store(TestStore::lasting()).thread("t");
    assert!(tokio::time::timeout(millis(35), thread.run(input()).into_future()).await.is_err());
    let mut tries = 0;
    loop {
        tries += 1;
        let ended = tokio::time::timeout(millis(35), thread.proceed().into_future()).await;
        settle().await;
        assert_eq!(alive.count(), 0);
        if let Ok(ended) = ended {
            assert_eq!(ended.unwrap().state.log, WHOLE);
            break;
        }
        assert!(tries < 10, "no progress");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cancelled_at_any_time_leaks_nothing_and_can_go_on() {
    let alive = Alive::new();
    let graph = busy_graph(&alive);
    for (at, runner) in runners(&graph).into_iter().enumerate() {
        let mut cancelled = 0;
        for when in 0..110 {
            let thread = runner.thread(format!("t{when}"));
            let begin = Instant::now();
            let end = thread.run(input()).cancel_on(sleep(millis(when))).await.unwrap();
            assert_eq!(alive.count(), 0, "runner {at}, {when} ms: a task leaked");
            if end.status == Status::Cancelled {
                cancelled += 1;
                assert_eq!(begin.elapsed(), millis(when), "runner {at}: cancelled work stops at once");
                assert!(!thread.state().await.unwrap().next.is_empty());
            }
            assert_eq!(finish(&thread).await, WHOLE, "runner {at}, {when} ms");
        }
        assert!(cancelled > 80, "runner {at} was cancelled {cancelled} times");
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_is_cancelled_and_nothing_of_cancelled_work_is_applied() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("fast", runs.slow(10, "fast"))
        .node("slow", runs.slow(1_000, "slow"))
        .edge(START, "fast")
        .edge(START, "slow")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let (end, log) = run_logged(thread.run(input()).cancel_on(sleep(millis(500)))).await;
    let end = end.unwrap();
    assert_eq!((end.status, end.report.steps), (Status::Cancelled, 0));
    assert_eq!(end.state.log, ["in"]);
    expect![[r#"
        0 started
        0 checkpoint
        0 checkpoint
        0.0 fast#1 start
        0.0 fast#1 finish, wrote `log`
        0.1 slow#1 start
        0 ended: cancelled
    "#]]
    .assert_eq(&log);
    assert_eq!(thread.state().await.unwrap().next, ["slow"]);
    let error = thread.run(input()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Unfinished { pending, .. } if *pending == ["slow"]), "{error}");
    assert_eq!(thread.proceed().await.unwrap().state.log, ["in", "fast", "slow"]);
    assert_eq!((runs.count("fast"), runs.count("slow")), (1, 2), "what finished is not run again");
}

#[tokio::test]
async fn a_signal_that_is_ready_at_once_stops_the_turn_before_any_node() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g").node("n", runs.node("n")).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(input()).cancel_on(std::future::ready(())).await.unwrap();
    assert_eq!((end.status, runs.count("n"), end.report.attempts), (Status::Cancelled, 0, 0));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["in", "n"], "the input is kept");
}

#[tokio::test(start_paused = true)]
async fn a_signal_after_the_end_changes_nothing() {
    let graph = Graph::<Trip>::builder("g").node("n", note("n")).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(input()).cancel_on(sleep(millis(1))).await.unwrap();
    assert_eq!(end.status, Status::Done);
}

#[tokio::test(start_paused = true)]
async fn nodes_can_see_the_cancellation() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let node = {
        let seen = seen.clone();
        move |ctx: Ctx| {
            let seen = seen.clone();
            async move {
                let (token, outside, late) = (ctx.cancellation(), ctx.cancelled(), seen.clone());
                assert!(!ctx.is_cancelled() && !token.is_cancelled());
                tokio::spawn(async move {
                    outside.await;
                    late.lock().unwrap().push(format!("outside: {} {}", ctx.is_cancelled(), token.is_cancelled()));
                });
                std::future::pending::<()>().await;
            }
        }
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(input()).cancel_on(sleep(millis(5))).await.unwrap();
    assert_eq!(end.status, Status::Cancelled);
    settle().await;
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), ["outside: true true"]);
    // Dropping the turn is a cancellation as well.
    assert_eq!(poll_at_most(graph.runner().thread("t").run(input()).into_future(), 1).await.map(|_| ()), None);
    settle().await;
    assert_eq!(*seen.lock().unwrap(), ["outside: true true"]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_token_of_a_node_does_not_cancel_the_turn() {
    let node = |ctx: Ctx| async move {
        ctx.cancellation().cancel();
        tokio::task::yield_now().await;
        Trip::update().log([ctx.is_cancelled().to_string()])
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().state.log, ["false"]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_between_attempts_is_cancelled_and_the_attempt_is_not_counted() {
    let runs = Runs::new();
    let node = runs.failing(1, "n").retry(Retry::fixed(2, Duration::from_secs(60)));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let begin = Instant::now();
    let end = thread.run(Trip::update()).cancel_on(sleep(millis(700))).await.unwrap();
    assert_eq!((end.status, begin.elapsed()), (Status::Cancelled, millis(700)));
    assert_eq!((end.report.attempts, runs.count("n")), (1, 1));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.report.attempts, runs.count("n")), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_failure_beats_a_cancellation() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let runs = Runs::new();
        let graph = Graph::<Trip>::builder("g")
            .node("bad", runs.failing(1, "bad"))
            .node("slow", runs.slow(1_000, "slow"))
            .edge(START, "bad")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let error = thread.run(Trip::update()).cancel_on(sleep(millis(10))).await.unwrap_err();
        assert_eq!(error.failures().len(), 1);
        assert_eq!(thread.proceed().await.unwrap().state.log, ["bad", "slow"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_cancelled_attempt_emitted_is_discarded() {
    let node = |ctx: Ctx| async move {
        ctx.token("half").await;
        std::future::pending::<()>().await;
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let (end, log) = run_logged(graph.runner().thread("t").run(Trip::update()).cancel_on(sleep(millis(10)))).await;
    assert_eq!(end.unwrap().status, Status::Cancelled);
    expect![[r#"
        0 started
        0.0 n#1 start
        0.0 n#1 token "half"
        0.0 n#1 discarded
        0 ended: cancelled
    "#]]
    .assert_eq(&log);
}

#[tokio::test(start_paused = true)]
async fn without_a_store_a_cancelled_turn_gives_its_state_and_the_next_begins_anew() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", |_: Ctx| std::future::pending::<()>())
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().thread("t");
    for _ in 0..2 {
        let end = thread.run(input()).cancel_on(sleep(millis(10))).await.unwrap();
        assert_eq!((end.status, end.report.steps), (Status::Cancelled, 1));
        assert_eq!(end.state.log, ["in", "a"]);
    }
}

#[tokio::test]
async fn a_turn_that_was_never_polled_has_done_nothing() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g").node("n", runs.node("n")).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    drop(thread.run(input()));
    drop(thread.run(input()).into_future());
    assert_eq!(thread.state().await.unwrap().checkpoint, None);
    assert_eq!(thread.run(input()).await.unwrap().state.log, ["in", "n"]);
    assert_eq!(runs.count("n"), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_stream_cancels_its_turn_and_frees_the_thread() {
    let alive = Alive::new();
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let graph = busy_graph(&alive);
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let mut stream = thread.run(input()).stream();
        for _ in 0..4 {
            futures_util::StreamExt::next(&mut stream).await.unwrap();
        }
        assert!(matches!(*thread.proceed().await.unwrap_err().error, RunError::Busy { .. }));
        drop(stream);
        settle().await;
        assert_eq!(alive.count(), 0);
        assert_eq!(finish(&thread).await, WHOLE);
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_ignores_the_cancellation_of_a_foreign_spawner_is_not_applied() {
    /// Spawns on the runtime but can't abort.
    struct Foreign;
    impl graph_engine::Spawn for Foreign {
        fn spawn(&self, future: graph_engine::BoxFuture) {
            tokio::spawn(future);
        }
    }
    let alive = Alive::new();
    let graph = busy_graph(&alive);
    let seams = graph_engine::Seams::default().spawn(Foreign);
    let thread = graph.runner().seams(seams).store(MemoryStore::new()).thread("t");
    assert!(tokio::time::timeout(millis(5), thread.run(input()).into_future()).await.is_err());
    settle().await;
    assert_eq!(alive.count(), 0, "the cancellation reaches tasks of every spawner");
    assert_eq!(finish(&thread).await, WHOLE);
}

#[tokio::test(start_paused = true)]
async fn a_spawner_that_drops_its_work_makes_failures() {
    struct Lazy;
    impl graph_engine::Spawn for Lazy {
        fn spawn(&self, future: graph_engine::BoxFuture) {
            drop(future);
        }
    }
    let graph = busy_graph(&Alive::new());
    let error = graph.runner().seams(graph_engine::Seams::default().spawn(Lazy)).thread("t").run(input()).await;
    let error = error.unwrap_err();
    let texts: Vec<String> = error.failures().iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3);
    assert_eq!(texts[0], "`a` (task 0.0) failed after 1 attempt: the task was dropped before it finished");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_turns_on_real_threads_leaks_nothing() {
    let alive = Alive::new();
    let node = {
        let alive = alive.clone();
        move || {
            let guard = alive.guard();
            async move {
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                drop(guard);
                Ok::<_, NodeError>(Trip::update().total(1))
            }
        }
    };
    let mut builder = Graph::<Trip>::builder("g");
    for name in ["a", "b", "c", "d"] {
        builder = builder.node(name, node.clone()).edge(START, name);
    }
    let runner = builder.compile().unwrap().runner().store(MemoryStore::new());
    for run in 0..200 {
        let thread = runner.thread(run.to_string());
        let turn = tokio::spawn(poll_at_most(thread.run(Trip::update()).into_future(), run % 7));
        if let Some(ended) = turn.await.unwrap() {
            assert_eq!(ended.unwrap().state.total, 4);
        }
    }
    while alive.count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(runner.thread("0").run(Trip::update()).await.unwrap().state.total, 4);
}
