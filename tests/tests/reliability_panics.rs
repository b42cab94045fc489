//! A panic at each place where the engine calls its user: it never leaves the turn as a panic, the error says what
//! panicked, what siblings finished is kept, the thread is free and ends like an undisturbed one. Each with one task
//! in place, with joined and with spawned tasks.

#[path = "reliability_panics/hooked.rs"]
mod hooked;

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate, note};
use futures_util::StreamExt;
use graph_engine::{
    Builder, Cache, CacheKey, FailedTask, FaultKind, Filter, Graph, In, Mode, NodeCache, NodeExt, Parallel, RunError,
    START, StoreError, StreamOptions, Thread, Turn, TurnEnd, TurnError, async_trait, blocking,
};
use hooked::{Hooked, HookedStore, HookedUpdate, arm, disarm, graph};

const MODES: [(&str, bool, Parallel); 3] = [
    ("one task in place", false, Parallel::Spawned),
    ("joined", true, Parallel::Joined),
    ("spawned", true, Parallel::Spawned),
];

/// The text of a panic that came out.
async fn catch<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic.downcast_ref::<String>().cloned().unwrap_or_default())),
    })
    .await
}

/// Drives a turn; a reader of everything listens beside it if one shall.
async fn drive(mut turn: Turn<Hooked>, read: bool) -> Result<Result<TurnEnd<Hooked>, TurnError>, String> {
    if !read {
        return catch(turn.into_future()).await;
    }
    let modes = [Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Checkpoints];
    let reader = turn.reader(StreamOptions::default().modes(modes));
    let (ended, _) = futures_util::future::join(catch(turn.into_future()), reader.count()).await;
    ended
}

fn input() -> HookedUpdate {
    Hooked::update().log(["in".to_owned()]).note(hooked::Loud("hello".into())).total(1)
}

/// How a thread stands before the hook is armed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    /// It has never run.
    Nothing,
    /// It has made a turn.
    ATurn,
    /// It was stopped by the limit of super-steps, with a sent task pending.
    HalfATurn,
}

/// Ends the thread, from wherever it stands; `turns` were begun in sum.
async fn finish(thread: &Thread<Hooked>, turns: usize) -> Vec<String> {
    let at = thread.state().await.unwrap();
    let begun = at.state.log.iter().filter(|text| *text == "in").count();
    if begun < turns {
        thread.run(input()).await.unwrap();
    } else if !at.next.is_empty() {
        thread.proceed().await.unwrap();
    }
    thread.state().await.unwrap().state.log.clone()
}

/// Arms every call of a hook, one after the other, and says what was wrong. `reruns` is how often a sibling may run
/// again.
async fn faults(hook: &'static str, read: bool, reruns: usize) -> Vec<String> {
    let (mut faults, mut went_off) = (Vec::new(), 0);
    for (mode, sibling, parallel) in MODES {
        for before in [Before::Nothing, Before::ATurn, Before::HalfATurn] {
            for behind in 0.. {
                let at = format!("{mode}, {before:?}, call {behind}");
                let runs = Runs::new();
                let runner = graph(&runs, sibling).runner().parallel(parallel).store(HookedStore(TestStore::lasting()));
                let thread = runner.thread("t");
                match before {
                    Before::Nothing => {}
                    Before::ATurn => drop(thread.run(input()).await.unwrap()),
                    Before::HalfATurn => {
                        drop(runner.clone().step_limit(1).thread("t").run(input()).await.unwrap_err());
                    }
                }
                let half = before == Before::HalfATurn;
                let turns = if before == Before::ATurn { 2 } else { 1 };
                let turn = if half { thread.proceed() } else { thread.run(input()) };
                arm(hook, behind);
                let ended = drive(turn, read).await;
                if !disarm() {
                    break;
                }
                went_off += 1;
                match ended {
                    Err(panic) => faults.push(format!("{at}: the panic came out of the turn: {panic}")),
                    Ok(Ok(_)) => faults.push(format!("{at}: the turn ended as if nothing had happened")),
                    Ok(Err(error)) if error.to_string().contains(&format!("panicked: {hook} went off")) => {}
                    Ok(Err(error)) => faults.push(format!("{at}: the error doesn't say what panicked: {error}")),
                }
                // The thread is free, and nothing is poisoned.
                let one: &[&str] = if sibling { &["in", "sibling", "work"] } else { &["in", "work"] };
                match catch(finish(&thread, turns)).await {
                    Err(panic) => faults.push(format!("{at}: the thread is not usable afterwards: {panic}")),
                    Ok(log) if log == one.repeat(turns) => {}
                    Ok(log) => faults.push(format!("{at}: it ended with {log:?}")),
                }
                let ran = runs.count("sibling");
                if ran > turns + reruns {
                    faults.push(format!("{at}: the sibling ran {ran} times in {turns} turns"));
                }
            }
        }
    }
    assert!(went_off >= 3, "{hook} went off {went_off} times");
    faults
}

const NONE: [&str; 0] = [];

async fn is_an_error(hook: &'static str, reruns: usize) {
    assert_eq!(faults(hook, false, reruns).await, NONE, "without a reader");
    assert_eq!(faults(hook, true, reruns).await, NONE, "with a reader");
}

#[tokio::test(start_paused = true)]
async fn without_an_armed_hook_the_turn_ends_well() {
    for (mode, sibling, parallel) in MODES {
        for read in [false, true] {
            let runs = Runs::new();
            let runner = graph(&runs, sibling).runner().parallel(parallel).store(HookedStore(TestStore::lasting()));
            let end = drive(runner.thread("t").run(input()), read).await.unwrap().unwrap();
            assert_eq!(end.state.total, 2, "{mode}");
            assert_eq!(end.reply_as::<String>().unwrap().unwrap(), "the Serialize of a reply", "{mode}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_panicking_node_is_an_error_of_the_turn() {
    is_an_error("a node", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_extractor_is_an_error_of_the_turn() {
    is_an_error("an extractor", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_deserialize_of_a_payload_is_an_error_of_the_turn() {
    is_an_error("the Deserialize of a payload", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_retry_predicate_is_an_error_of_the_turn() {
    is_an_error("a retry predicate", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_reducer_is_an_error_of_the_turn() {
    // Nothing of the step is applied, so the step is run again.
    is_an_error("a reducer", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_router_is_an_error_of_the_turn() {
    is_an_error("a router", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_serialize_of_a_reply_is_an_error_of_the_turn() {
    is_an_error("the Serialize of a reply", 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_serialize_of_an_event_is_an_error_of_a_turn_that_somebody_reads() {
    assert_eq!(faults("the Serialize of an event", true, 0).await, NONE);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_dropped_at_any_event_changes_nothing() {
    for (mode, sibling, parallel) in MODES {
        for events in 0..12 {
            let runner = graph(&Runs::new(), sibling).runner().parallel(parallel);
            let mut turn = runner.store(HookedStore(TestStore::lasting())).thread("t").run(input());
            let mut reader = turn.reader(StreamOptions::default().buffer(1));
            let read = async move {
                for _ in 0..events {
                    reader.next().await;
                }
            };
            let (ended, ()) = futures_util::future::join(turn.into_future(), read).await;
            assert_eq!(ended.unwrap().state.total, 2, "{mode}, {events} events");
        }
    }
}

fn trip() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

#[tokio::test]
async fn a_panicking_check_of_the_input_refuses_it() {
    let check = |_: &Trip, _: &TripUpdate| -> Result<(), String> { panic!("the check went off") };
    let graph = trip().node("n", note("n")).edge(START, "n").check_input(check).compile().unwrap();
    let thread = graph.runner().store(TestStore::new()).thread("t");
    let error = catch(thread.run(Trip::update()).into_future()).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("panicked: the check went off"), "{error}");
    assert_eq!(thread.state().await.unwrap().checkpoint, None);
}

#[tokio::test]
async fn a_panicking_cache_key_is_a_warning_and_the_node_runs() {
    let node = note("n").cache(Cache::by(|_: &Trip| -> u8 { panic!("the key went off") }));
    let graph = trip().node("n", node).edge(START, "n").compile().unwrap();
    let end = catch(graph.runner().thread("t").run(Trip::update()).into_future()).await.unwrap().unwrap();
    assert_eq!(end.state.log, ["n"]);
    assert_eq!(
        end.report.warnings,
        ["the cache key of `n` can't be made: it panicked: the key went off; the node was run"]
    );
}

#[tokio::test]
async fn a_panic_of_blocking_work_fails_its_task() {
    let node = blocking(|| -> TripUpdate { panic!("the work went off") });
    let graph = trip().node("n", node).edge(START, "n").compile().unwrap();
    let error = catch(graph.runner().thread("t").run(Trip::update()).into_future()).await.unwrap().unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: it panicked: the work went off"
    );
    assert_eq!(error.failures()[0].kind, FaultKind::Panicked);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_serialize_of_a_field_is_an_error_of_the_turn() {
    let hook = "the Serialize of a field";
    assert_eq!(faults(hook, false, 1).await, NONE, "without a reader");
    // An event whose update can't be written is told without it, and the turn goes on.
    let mut read = faults(hook, true, 1).await;
    read.retain(|fault| !fault.ends_with("the turn ended as if nothing had happened"));
    assert_eq!(read, NONE, "with a reader");
}

#[tokio::test(start_paused = true)]
async fn a_panicking_deserialize_of_a_field_is_an_error_of_the_turn() {
    is_an_error("the Deserialize of a field", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_serialize_of_a_payload_is_an_error_of_the_turn() {
    is_an_error("the Serialize of a payload", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_clone_of_the_state_is_an_error_of_the_turn() {
    is_an_error("the Clone of the state", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_default_of_a_transient_field_is_an_error_of_the_turn() {
    is_an_error("the Default of a transient field", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_commit_of_a_store_is_an_error_of_the_turn() {
    is_an_error("`commit` of a store", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_save_of_a_store_is_an_error_of_the_turn() {
    is_an_error("`save` of a store", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_load_of_a_store_is_an_error_of_the_turn() {
    is_an_error("`load` of a store", 1).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_whose_text_panics_fails_its_task_and_no_reader_makes_it_worse() {
    for (mode, sibling, parallel) in MODES {
        for read in [false, true] {
            let runs = Runs::new();
            let runner = graph(&runs, sibling).runner().parallel(parallel).store(HookedStore(TestStore::lasting()));
            let thread = runner.thread("t");
            arm("the Display of an error", 0);
            let ended = drive(thread.run(input()), read).await;
            disarm();
            let ended = ended.unwrap_or_else(|panic| panic!("{mode}, reader {read}: it came out of the turn: {panic}"));
            assert_eq!(ended.unwrap_err().failures().len(), 1, "{mode}, reader {read}");
            assert_eq!(thread.proceed().await.unwrap().state.total, 2, "{mode}, reader {read}");
            assert_eq!(runs.count("sibling"), usize::from(sibling), "{mode}, reader {read}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_while_a_thread_is_looked_at_is_an_error() {
    let runner = graph(&Runs::new(), true).runner().store(HookedStore(TestStore::new()));
    let thread = runner.thread("t");
    thread.run(input()).await.unwrap();
    let mut out = Vec::new();
    let mut looked = |what: &str, ended: Result<Result<(), RunError>, String>| {
        assert!(disarm(), "{what} went off");
        match ended {
            Ok(Err(error)) if error.to_string().contains("went off") => {}
            other => out.push(format!("{what}: {other:?}")),
        }
    };
    arm("`load` of a store", 0);
    looked("state", catch(thread.state()).await.map(|ended| ended.map(drop)));
    arm("the Deserialize of a field", 0);
    looked("state with a field", catch(thread.state()).await.map(|ended| ended.map(drop)));
    arm("`list` of a store", 0);
    looked("history", catch(thread.history(&Filter::default())).await.map(|ended| ended.map(drop)));
    arm("`delete` of a store", 0);
    looked("delete", catch(thread.delete()).await.map(|ended| ended.map(drop)));
    assert_eq!(out, NONE);
}

/// A cache that panics when it is asked, or when it is given something.
struct BadCache {
    get: bool,
}

#[async_trait]
impl NodeCache for BadCache {
    async fn get(&self, _: &CacheKey, _: Duration) -> Result<Option<Vec<u8>>, StoreError> {
        assert!(!self.get, "`get` of a cache went off");
        Ok(None)
    }

    async fn put(&self, _: &CacheKey, _: Vec<u8>, _: Option<Duration>, _: Duration) -> Result<(), StoreError> {
        panic!("`put` of a cache went off")
    }

    async fn clear(&self, _: &str, _: Option<&str>) -> Result<(), StoreError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_panicking_cache_is_a_warning_and_the_node_runs() {
    let mut out = Vec::new();
    for get in [true, false] {
        let node = note("n").cache(Cache::by(|_: &Trip| 1));
        let runner = trip().node("n", node).edge(START, "n").compile().unwrap().runner().cache(BadCache { get });
        match catch(runner.thread("t").run(Trip::update()).into_future()).await {
            Ok(ended) => {
                let end = ended.unwrap();
                assert_eq!((&end.state.log[..], end.report.warnings.len()), (&["n".to_owned()][..], 1));
            }
            Err(panic) => out.push(panic),
        }
    }
    assert_eq!(out, NONE, "came out of the turn");
}

#[tokio::test]
async fn an_error_whose_text_panics_is_taken_over_by_an_error_route_all_the_same() {
    #[derive(Debug)]
    struct Mute;
    impl std::fmt::Display for Mute {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("the text went off")
        }
    }
    impl std::error::Error for Mute {}
    let fails = || std::future::ready(Err::<(), _>(Mute));
    let handler = |In(_): In<FailedTask>| std::future::ready(Trip::update().log(["handled".to_owned()]));
    let graph =
        trip().node("n", fails.on_error("handler")).node("handler", handler).edge(START, "n").compile().unwrap();
    let ended = catch(graph.runner().thread("t").run(Trip::update()).into_future()).await;
    assert_eq!(ended.expect("no panic comes out").unwrap().state.log, ["handled"]);
}
