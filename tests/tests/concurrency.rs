//! E14: how many tasks run at once, of a node and of a turn: exact schedules, and nobody waits for ever.

use std::future::IntoFuture;
use std::time::Duration;

use behaviour_tests::{BoxNode, Times, Trip, TripUpdate, after};
use graph_engine::{
    Builder, Command, Ctx, Graph, In, IntoNode, MemoryStore, NodeDefaults, NodeError, NodeExt, NodeSpec, Parallel,
    Retry, Route, Runner, START, Siblings, Status,
};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[derive(Route)]
enum Each {
    Work(u64),
}

/// A node that notes its start and takes as many milliseconds as its payload says.
fn working(times: &Times) -> impl Fn(In<u64>) -> BoxNode<TripUpdate> + Clone + use<> {
    let times = times.clone();
    move |In(takes): In<u64>| {
        let times = times.clone();
        Box::pin(async move {
            times.mark(takes.to_string());
            tokio::time::sleep(millis(*takes)).await;
            Trip::update().log([takes.to_string()])
        })
    }
}

/// A node `split` that sends these payloads to `work`.
fn fanned(work: NodeSpec<Trip>, payloads: &[u64]) -> Graph<Trip> {
    graph_of(payloads, |builder| builder.node("work", work))
}

fn graph_of(payloads: &[u64], add: impl FnOnce(Builder<Trip>) -> Builder<Trip>) -> Graph<Trip> {
    let payloads = payloads.to_vec();
    let split = move || {
        let payloads = payloads.clone();
        async move { Command::<Trip, Each>::fan_out(payloads.into_iter().map(Each::Work)) }
    };
    add(Graph::<Trip>::builder("g").node("split", split).edge(START, "split")).compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_a_node_lets_the_next_task_begin_when_one_ends() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(working(&times).limit(2), &[30, 10, 15, 5, 1]);
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 30", "0 10", "10 15", "25 5", "30 1"], "{parallel:?}");
        assert_eq!(times.now(), 31);
        assert_eq!(end.state.log, ["30", "10", "15", "5", "1"]);
        assert_eq!((end.report.tasks, end.report.attempts), (6, 6));
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_one_runs_tasks_one_by_one_in_their_order() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(working(&times).limit(1), &[4, 3, 2, 1]);
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 4", "4 3", "7 2", "9 1"], "{parallel:?}");
        assert_eq!(times.now(), 10);
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_counts_as_one() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(working(&times).limit(0), &[4, 3]);
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 4", "4 3"], "{parallel:?}");
        let times = Times::new();
        let graph = fanned(working(&times).into_node(), &[4, 3]);
        graph.runner().parallel(parallel).max_concurrency(0).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 4", "4 3"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_the_turn_counts_tasks_of_all_nodes_together() {
    for parallel in BOTH {
        let times = Times::new();
        let timed = |takes: u64, name: &'static str| {
            let times = times.clone();
            move || {
                times.mark(name);
                after(takes, name)()
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .node("a", timed(10, "a"))
            .node("b", timed(30, "b"))
            .node("c", timed(10, "c"))
            .node("d", timed(10, "d"))
            .edge(START, "a")
            .edge(START, "b")
            .edge(START, "c")
            .edge(START, "d")
            .compile()
            .unwrap();
        let end = graph.runner().parallel(parallel).max_concurrency(2).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 a", "0 b", "10 c", "20 d"], "{parallel:?}");
        assert_eq!(times.now(), 30);
        assert_eq!(end.state.log, ["a", "b", "c", "d"]);
    }
}

#[tokio::test(start_paused = true)]
async fn both_limits_hold_together() {
    for parallel in BOTH {
        let times = Times::new();
        let timed = |takes: u64, name: &'static str| {
            let times = times.clone();
            move || {
                times.mark(name);
                after(takes, name)()
            }
        };
        // `work` may run once at a time, the turn has two places.
        let graph = graph_of(&[10, 20, 30], |builder| {
            builder
                .node("work", working(&times).limit(1))
                .node("a", timed(5, "a"))
                .node("b", timed(50, "b"))
                .edge(START, "a")
                .edge(START, "b")
        });
        graph.runner().parallel(parallel).max_concurrency(2).thread("t").run(Trip::update()).await.unwrap();
        // `split` waits for the end of `a`; the step ends with `b`.
        assert_eq!(times.take(), ["0 a", "0 b", "50 10", "60 20", "80 30"], "{parallel:?}");
        assert_eq!(times.now(), 110);
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_limited_node_leave_the_places_of_the_turn_to_others() {
    #[derive(Route)]
    enum Mixed {
        Narrow(u64),
        Wide(u64),
    }
    for parallel in BOTH {
        let times = Times::new();
        let split = || async {
            Command::<Trip, Mixed>::fan_out([
                Mixed::Narrow(20),
                Mixed::Narrow(21),
                Mixed::Narrow(22),
                Mixed::Wide(5),
                Mixed::Wide(6),
            ])
        };
        let graph = Graph::<Trip>::builder("g")
            .node("split", split)
            .node("narrow", working(&times).limit(1))
            .node("wide", working(&times))
            .edge(START, "split")
            .compile()
            .unwrap();
        graph.runner().parallel(parallel).max_concurrency(2).thread("t").run(Trip::update()).await.unwrap();
        // While a narrow task runs the other narrow ones hold no place of the turn.
        assert_eq!(times.take(), ["0 20", "0 5", "5 6", "20 21", "41 22"], "{parallel:?}");
        assert_eq!(times.now(), 63);
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_is_for_each_turn() {
    let times = Times::new();
    let runner = fanned(working(&times).limit(1), &[10, 11]).runner().max_concurrency(1);
    let (first, second) = (runner.thread("a"), runner.thread("b"));
    let (a, b) = tokio::join!(first.run(Trip::update()).into_future(), second.run(Trip::update()).into_future());
    a.unwrap();
    b.unwrap();
    assert_eq!(times.take(), ["0 10", "0 10", "10 11", "10 11"]);
}

#[tokio::test(start_paused = true)]
async fn a_default_limit_is_for_each_node_and_a_node_may_say_otherwise() {
    let times = Times::new();
    let graph =
        graph_of(&[10, 11, 12], |builder| builder.node("work", working(&times)).defaults(NodeDefaults::new().limit(1)));
    graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(times.take(), ["0 10", "10 11", "21 12"]);
    let times = Times::new();
    let graph = graph_of(&[10, 11, 12], |builder| {
        builder.node("work", working(&times).limit(3)).defaults(NodeDefaults::new().limit(1))
    });
    graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(times.take(), ["0 10", "0 11", "0 12"]);
}

/// A node that fails its first attempts: as many as the hundreds of its payload; each takes the rest in milliseconds.
fn flaky(times: &Times) -> impl Fn(In<u64>, Ctx) -> BoxNode<Result<TripUpdate, NodeError>> + Clone + use<> {
    let times = times.clone();
    move |In(payload): In<u64>, ctx: Ctx| {
        let times = times.clone();
        Box::pin(async move {
            times.mark(format!("{payload}#{}", ctx.attempt()));
            tokio::time::sleep(millis(*payload % 100)).await;
            if u64::from(ctx.attempt()) <= *payload / 100 {
                return Err("no luck".into());
            }
            Ok(Trip::update().log([payload.to_string()]))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_keeps_its_place_while_it_waits_for_its_retry() {
    for parallel in BOTH {
        let times = Times::new();
        let work = flaky(&times).limit(1).retry(Retry::fixed(3, millis(100)));
        let graph = fanned(work, &[110, 20]);
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 110#1", "110 110#2", "120 20#1"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_keeps_its_place_also_when_another_task_fails_meanwhile() {
    for parallel in BOTH {
        let times = Times::new();
        let work = flaky(&times).limit(2).retry(Retry::fixed(3, millis(100)));
        // The first waits from 10 on, the second fails at 20: the third gets no place before 120.
        let graph = fanned(work, &[110, 120, 30]);
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 110#1", "0 120#1", "110 110#2", "120 120#2", "120 30#1"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_keeps_its_place_in_the_turn_while_it_waits_for_its_retry() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(flaky(&times).retry(Retry::fixed(4, millis(50))), &[201, 102, 3, 104]);
        graph.runner().parallel(parallel).max_concurrency(2).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(
            times.take(),
            ["0 201#1", "0 102#1", "51 201#2", "52 102#2", "54 3#1", "57 104#1", "102 201#3", "111 104#2"],
            "{parallel:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn two_tasks_that_fail_at_once_both_keep_their_places() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(flaky(&times).limit(2).retry(Retry::fixed(2, millis(100))), &[110, 110, 5]);
        graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 110#1", "0 110#1", "110 110#2", "110 110#2", "120 5#1"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_for_good_gives_its_place_to_the_next() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(flaky(&times).limit(1).retry(Retry::fixed(2, millis(100))), &[910, 911, 12]);
        let runner = graph.runner().parallel(parallel);
        let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(failed.failures().len(), 2);
        assert_eq!(times.take(), ["0 910#1", "110 910#2", "120 911#1", "231 911#2", "242 12#1"], "{parallel:?}");
    }
}

/// Every way to fail, of which none may keep a place.
fn failing(times: &Times) -> impl Fn(In<u64>) -> BoxNode<Result<TripUpdate, NodeError>> + Clone + use<> {
    let times = times.clone();
    move |In(payload): In<u64>| {
        let times = times.clone();
        times.mark(payload.to_string());
        assert_ne!(*payload, 1, "a panic before the first await");
        Box::pin(async move {
            tokio::time::sleep(millis(10)).await;
            match *payload {
                2 => panic!("a panic behind an await"),
                3 => Err("an error".into()),
                4 => Err(NodeError::fatal("a fatal one")),
                5 => {
                    tokio::time::sleep(millis(1_000)).await;
                    unreachable!("it is timed out")
                }
                // It isn't declared.
                6 => Ok(Trip::update().city("Oslo")),
                other => Ok(Trip::update().log([other.to_string()])),
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn no_way_to_fail_keeps_a_place() {
    for parallel in BOTH {
        let times = Times::new();
        let work = failing(&times).writes(Trip::LOG).limit(1).timeout(millis(20));
        let graph = fanned(work, &[1, 2, 3, 4, 5, 6, 7]);
        let runner = graph.runner().parallel(parallel).max_concurrency(1);
        let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(failed.failures().len(), 6);
        assert_eq!(times.take(), ["0 1", "0 2", "10 3", "20 4", "30 5", "50 6", "60 7"], "{parallel:?}");
        assert_eq!(times.now(), 70);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_with_retries_of_others_keeps_no_place() {
    for parallel in BOTH {
        let times = Times::new();
        let work = failing(&times).limit(2).timeout(millis(20)).retry(Retry::fixed(3, millis(5)));
        let graph = fanned(work, &[3, 2, 5, 1, 8, 9]);
        let failed = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        let named: Vec<_> = failed.failures().iter().map(|f| (f.task.id.rank, f.attempts)).collect();
        assert_eq!(named, [(0, 3), (1, 1), (2, 3), (3, 1)], "{parallel:?}");
        assert_eq!(
            times.take(),
            ["0 3", "0 2", "10 5", "15 3", "30 3", "35 5", "40 1", "40 8", "50 9", "60 5"],
            "{parallel:?}"
        );
        assert_eq!(times.now(), 80);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_leaves_nobody_waiting_for_a_place() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(working(&times).limit(1), &[100, 101, 102]);
        let runner = graph.runner().parallel(parallel).max_concurrency(1).store(MemoryStore::new());
        let thread = runner.thread("t");
        let end = thread.run(Trip::update()).cancel_on(tokio::time::sleep(millis(150))).await.unwrap();
        assert_eq!(end.status, Status::Cancelled);
        assert_eq!((times.take(), times.now()), (vec!["0 100".to_owned(), "100 101".to_owned()], 150));
        // One was finished, one was running, one never began.
        assert_eq!(end.report.attempts, 3);
        let end = thread.proceed().await.unwrap();
        assert_eq!((times.take(), times.now()), (vec!["150 101".to_owned(), "251 102".to_owned()], 353));
        assert_eq!(end.state.log, ["100", "101", "102"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_fails_stops_those_that_wait_for_a_place() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = graph_of(&[10, 111, 30, 40], |builder| {
            builder.node("work", flaky(&times).limit(2)).siblings(Siblings::Cancel)
        });
        let runner = graph.runner().parallel(parallel).store(MemoryStore::new());
        let failed = runner.thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(failed.failures().len(), 1);
        assert_eq!(failed.failures()[0].task.id.rank, 1);
        assert_eq!((times.take(), times.now()), (["0 10#1", "0 111#1", "10 30#1"].map(str::to_owned).to_vec(), 11));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_waits_ends_at_once_when_a_sibling_stops_it_and_gives_its_place_back() {
    for parallel in BOTH {
        let times = Times::new();
        // The first may be tried again; the second is fatal at its first attempt.
        let work = {
            let times = times.clone();
            move |In(payload): In<u64>| {
                times.mark(payload.to_string());
                async move {
                    tokio::time::sleep(millis(*payload)).await;
                    match *payload {
                        10 => Err(NodeError::retryable("again")),
                        20 => Err(NodeError::fatal("never")),
                        _ => Ok(()),
                    }
                }
            }
        };
        let work = work.limit(2).retry(Retry::fixed(5, millis(1_000)));
        let graph = graph_of(&[10, 20, 30], |builder| builder.node("work", work).siblings(Siblings::Cancel));
        let failed = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap_err();
        assert_eq!(times.now(), 20, "{parallel:?}");
        assert_eq!(times.take(), ["0 10", "0 20"]);
        assert_eq!(failed.failures().len(), 1);
        assert_eq!(failed.report.attempts, 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_alone_in_its_step_with_a_limit_and_retries_ends() {
    for parallel in BOTH {
        let times = Times::new();
        let graph = fanned(flaky(&times).limit(1).retry(Retry::fixed(3, millis(10))), &[201]);
        let runner = graph.runner().parallel(parallel).max_concurrency(1);
        runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(times.take(), ["0 201#1", "11 201#2", "22 201#3"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_in_the_queue_counts_for_no_timeout() {
    for parallel in BOTH {
        let times = Times::new();
        let work = working(&times).limit(1).timeout(millis(100)).idle_timeout(millis(100));
        let graph = fanned(work, &[100, 99, 98]);
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["100", "99", "98"], "{parallel:?}");
        assert_eq!(times.take(), ["0 100", "100 99", "199 98"]);
        assert_eq!(end.report.node_time["work"], millis(297), "only the attempts count");
    }
}

#[tokio::test(start_paused = true)]
async fn many_tasks_with_every_limit_all_run_and_never_too_many_at_once() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    for parallel in BOTH {
        for (node, turn) in [(1, 1), (1, 7), (3, 2), (7, 100), (100, 5)] {
            let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let work = {
                let (now, most) = (now.clone(), most.clone());
                move |In(n): In<u64>, ctx: Ctx| {
                    let (now, most) = (now.clone(), most.clone());
                    async move {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        tokio::time::sleep(millis(1 + *n % 7)).await;
                        now.fetch_sub(1, Ordering::SeqCst);
                        if *n % 3 == 0 && ctx.attempt() < 3 {
                            return Err("again");
                        }
                        Ok(Trip::update().log([n.to_string()]))
                    }
                }
            };
            let payloads: Vec<u64> = (0..60).collect();
            let graph = fanned(work.limit(node).retry(Retry::fixed(3, millis(3))), &payloads);
            let runner: Runner<Trip> = graph.runner().parallel(parallel).max_concurrency(turn);
            let end = runner.thread("t").run(Trip::update()).await.unwrap();
            assert_eq!(end.state.log.len(), 60);
            assert_eq!(most.load(Ordering::SeqCst), node.min(turn), "{parallel:?} {node} {turn}");
            assert_eq!(end.report.attempts, 1 + 60 + 2 * 20);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn drivers_that_run_tasks_one_by_one_wait_for_no_place() {
    use graph_engine::testing::{Shuffled, Stepper};
    let graph = |times: &Times| fanned(flaky(times).limit(1).retry(Retry::fixed(3, millis(10))), &[101, 202, 3]);
    for seed in 0..50 {
        let graph = graph(&Times::new());
        let runner = graph.runner().max_concurrency(1);
        let run = Shuffled::new(seed).failures(3).crashes(7).run(&runner, Trip::update);
        let run = tokio::time::timeout(Duration::from_secs(60), run).await.expect("nobody waits for ever");
        assert_eq!(run.state.log, ["101", "202", "3"], "{seed}");
    }
    let times = Times::new();
    let mut stepper = Stepper::new(&graph(&times).runner().max_concurrency(1), Trip::update()).unwrap();
    stepper.step().await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), stepper.step()).await.expect("nobody waits for ever").unwrap();
    assert_eq!(stepper.state().log, ["101", "202", "3"]);
}

#[test]
fn on_several_threads_tasks_begin_in_their_order_too() {
    use std::sync::{Arc, Mutex};
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    for turn in 0..20 {
        let started: Arc<Mutex<Vec<u64>>> = Arc::default();
        let work = {
            let started = started.clone();
            move |In(n): In<u64>| {
                started.lock().unwrap().push(*n);
                async { tokio::task::yield_now().await }
            }
        };
        let payloads: Vec<u64> = (0..40).collect();
        let graph = fanned(work.limit(1), &payloads);
        let turn = match turn % 2 {
            0 => graph.runner().thread("t").run(Trip::update()),
            _ => graph.runner().max_concurrency(1).thread("t").run(Trip::update()),
        };
        runtime.block_on(async { tokio::spawn(turn.into_future()).await.unwrap().unwrap() });
        assert_eq!(*started.lock().unwrap(), payloads);
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_dropped_before_they_begin_keep_no_place() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    /// Drops every second task unseen.
    #[derive(Default)]
    struct Careless(AtomicUsize);
    impl graph_engine::Spawn for Careless {
        fn spawn(&self, future: graph_engine::BoxFuture) {
            if self.0.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
                drop(tokio::spawn(future));
            }
        }
    }
    let times = Times::new();
    let graph = fanned(working(&times).limit(1), &[10, 11, 12, 13]);
    let runner = graph.runner().max_concurrency(1).seams(graph_engine::Seams::default().spawn(Careless::default()));
    let turn = tokio::time::timeout(Duration::from_secs(60), runner.thread("t").run(Trip::update()).into_future());
    let failed = turn.await.expect("nobody waits for ever").unwrap_err();
    assert_eq!(failed.failures().len(), 2);
    assert_eq!(times.take(), ["0 11", "11 13"]);
}
