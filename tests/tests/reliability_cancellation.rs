//! Turns of twelve graphs that are dropped at every poll, or cancelled at any moment: no task is left, no half step is
//! stored, the thread is free, and it ends like an undisturbed one.

#[path = "reliability_cancellation/awaiting_store.rs"]
mod awaiting_store;
#[path = "reliability_cancellation/graphs.rs"]
mod graphs;

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::time::Duration;

use awaiting_store::AwaitingStore;
use behaviour_tests::{Alive, TestStore, Trip, TripUpdate, poll_at_most};
use futures_util::StreamExt;
use graph_engine::{Filter, Graph, Parallel, Runner, Status, Thread, ThreadState};
use graphs::GRAPHS;
use tokio::time::{Instant, sleep, timeout};

fn input() -> TripUpdate {
    Trip::update().log(["in".to_owned()])
}

/// What a thread shows of itself: the state, the replies with their tasks, whether it is complete, what is next.
fn shown(at: &ThreadState<Trip>) -> String {
    let replies: Vec<_> = at.replies.iter().map(|r| format!("{} {} {}", r.task, r.node, r.value)).collect();
    format!("{:?} {replies:?} {} {}", *at.state, at.completed, at.step)
}

/// An undisturbed turn: every committed state by its step, the end, and how long it took.
struct Calm {
    states: BTreeMap<u64, Trip>,
    end: String,
    took: Duration,
}

async fn calm(runner: &Runner<Trip>) -> Calm {
    let thread = runner.thread("calm");
    let begin = Instant::now();
    let end = thread.run(input()).await.unwrap();
    let took = begin.elapsed();
    assert!(end.report.steps > 1 && took > Duration::ZERO);
    let mut states = BTreeMap::new();
    for info in thread.history(&Filter::default()).await.unwrap() {
        states.insert(info.step, (*thread.state_at(Some(info.id)).await.unwrap().state).clone());
    }
    Calm { states, end: shown(&thread.state().await.unwrap()), took }
}

/// Goes on until the turn is over.
async fn finish(thread: &Thread<Trip>) -> String {
    let at = thread.state().await.unwrap();
    if at.checkpoint.is_none() {
        thread.run(input()).await.unwrap();
    } else if !at.next.is_empty() {
        thread.proceed().await.unwrap();
    }
    shown(&thread.state().await.unwrap())
}

/// Nothing may be left of a disturbed turn but whole steps, and the thread must end like an undisturbed one.
async fn check(alive: &Alive, thread: &Thread<Trip>, calm: &Calm, what: &str) {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(alive.count(), 0, "{what}: a task leaked");
    let at = thread.state().await.unwrap();
    if at.checkpoint.is_some() {
        assert_eq!(*at.state, calm.states[&at.step], "{what}: half a step is stored");
    }
    assert_eq!(finish(thread).await, calm.end, "{what}");
}

fn runners(graph: &Graph<Trip>) -> [(&'static str, Runner<Trip>); 4] {
    let with = |parallel, store| graph.runner().parallel(parallel).store(AwaitingStore(store));
    [
        ("spawned", with(Parallel::Spawned, TestStore::new())),
        ("joined", with(Parallel::Joined, TestStore::new())),
        ("spawned, lasting", with(Parallel::Spawned, TestStore::lasting())),
        ("joined, lasting", with(Parallel::Joined, TestStore::lasting())),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_at_any_of_its_polls_leaves_nothing_behind_and_proceeds_like_an_undisturbed_one() {
    let mut points = 0;
    for (name, make) in GRAPHS {
        let alive = Alive::new();
        let graph = make(&alive).compile().unwrap();
        for (mode, runner) in runners(&graph) {
            let calm = calm(&runner).await;
            for polls in 0.. {
                let what = format!("{name}, {mode}, {polls} polls");
                let thread = runner.thread(what.as_str());
                let ended = poll_at_most(thread.run(input()).into_future(), polls).await;
                check(&alive, &thread, &calm, &what).await;
                if ended.is_some() {
                    break;
                }
                points += 1;
            }
        }
    }
    assert!(points >= 2_000, "turns were dropped at {points} moments only");
}

#[tokio::test(start_paused = true)]
async fn a_proceed_that_is_dropped_at_any_of_its_polls_can_be_repeated() {
    for (name, make) in GRAPHS {
        let alive = Alive::new();
        let graph = make(&alive).compile().unwrap();
        for (mode, runner) in runners(&graph) {
            let calm = calm(&runner).await;
            for polls in 0.. {
                let what = format!("{name}, {mode}, proceed, {polls} polls");
                let thread = runner.thread(what.as_str());
                assert!(timeout(calm.took / 2, thread.run(input()).into_future()).await.is_err());
                let ended = poll_at_most(thread.proceed().into_future(), polls).await;
                check(&alive, &thread, &calm, &what).await;
                if ended.is_some() {
                    break;
                }
            }
        }
    }
}

/// The generator SplitMix64.
fn mix(seed: u64) -> u64 {
    let x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_at_any_of_a_thousand_moments_stops_at_once_and_proceeds_like_an_undisturbed_one() {
    let alive = Alive::new();
    let mut graphs = Vec::new();
    for (name, make) in GRAPHS {
        for (mode, runner) in runners(&make(&alive).compile().unwrap()) {
            let calm = calm(&runner).await;
            graphs.push((name, mode, runner, calm));
        }
    }
    let mut stopped = 0;
    for seed in 0..1_000_u64 {
        let random = mix(seed);
        let (name, mode, runner, calm) = &graphs[usize::try_from(seed).unwrap() % graphs.len()];
        let when = Duration::from_micros(random % u64::try_from(calm.took.as_micros()).unwrap());
        let what = format!("{name}, {mode}, seed {seed}, {when:?}");
        let thread = runner.thread(what.as_str());
        let begin = Instant::now();
        // Somebody asks for it, the reader of a stream disconnects, or whoever waits gives up.
        match random >> 62 {
            0 | 1 => {
                let end = thread.run(input()).cancel_on(sleep(when)).await.unwrap();
                assert!(begin.elapsed() <= when + Duration::from_millis(1), "{what}: it ran on");
                if end.status == Status::Cancelled {
                    stopped += 1;
                    assert!(!thread.state().await.unwrap().next.is_empty(), "{what}: something is left to do");
                }
            }
            2 => {
                let mut stream = thread.run(input()).stream();
                let read = async { while stream.next().await.is_some() {} };
                if timeout(when, read).await.is_err() {
                    stopped += 1;
                }
                drop(stream);
            }
            _ => {
                if timeout(when, thread.run(input()).into_future()).await.is_err() {
                    stopped += 1;
                }
            }
        }
        check(&alive, &thread, calm, &what).await;
    }
    assert!(stopped > 900, "{stopped} turns were stopped");
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_begins_keeps_its_input() {
    for (name, make) in GRAPHS {
        let alive = Alive::new();
        let graph = make(&alive).compile().unwrap();
        let thread = graph.runner().store(AwaitingStore(TestStore::new())).thread("t");
        let end = thread.run(input()).cancel_on(std::future::ready(())).await.unwrap();
        assert_eq!((end.status, end.report.attempts), (Status::Cancelled, 0), "{name}");
        assert_eq!(thread.state().await.unwrap().state.log, ["in"], "{name}");
    }
}
