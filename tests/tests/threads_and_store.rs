//! E17, E20, E21: threads remember their turns in a store, one turn at a time, and a stale writer is fenced.

use std::future::IntoFuture;
use std::time::Duration;

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate, after, note};
use graph_engine::{CheckpointId, Filter, Graph, Log, MemoryStore, RunError, START, Seams, State, StoreError, Thread};

fn input(text: &str) -> TripUpdate {
    Trip::update().log([text.to_owned()])
}

/// `a`, then `b`.
fn two() -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", note("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap()
}

#[tokio::test]
async fn without_a_store_each_run_starts_anew() {
    let thread = two().runner().thread("t");
    for text in ["one", "two"] {
        assert_eq!(thread.run(input(text)).await.unwrap().state.log, [text, "a", "b"]);
    }
}

#[tokio::test]
async fn without_a_store_everything_that_needs_one_says_so() {
    let thread = two().runner().thread("t");
    let said = |operation: &str, error: RunError| {
        assert!(matches!(error, RunError::NoStore { .. }));
        let text =
            format!("thread `t`: `{operation}` needs a checkpoint store; give the runner one with `Runner::store`");
        assert_eq!(error.to_string(), text);
    };
    said("proceed", *thread.proceed().await.unwrap_err().error);
    said("abandon", thread.abandon().await.unwrap_err());
    said("state", thread.state().await.map(|_| ()).unwrap_err());
    said("history", thread.history(&Filter::default()).await.unwrap_err());
    said("delete", thread.delete().await.unwrap_err());
}

#[tokio::test]
async fn with_a_store_a_thread_goes_on_where_it_ended() {
    let runner = two().runner().store(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(input("one")).await.unwrap();
    // Another handle of the same thread.
    let end = runner.clone().thread("t").run(input("two")).await.unwrap();
    assert_eq!(end.state.log, ["one", "a", "b", "two", "a", "b"]);
    let state = thread.state().await.unwrap();
    assert_eq!((state.step, state.state.log.len(), state.next.len()), (4, 6, 0));
    assert_eq!(runner.thread("other").run(input("x")).await.unwrap().state.log, ["x", "a", "b"]);
}

#[tokio::test]
async fn one_commit_for_the_input_and_one_for_each_step() {
    let store = TestStore::lasting();
    let thread = two().runner().store(store.clone()).thread("t");
    thread.run(input("x")).await.unwrap();
    assert_eq!((store.commits(), store.saves().len()), (3, 0));
    thread.run(input("y")).await.unwrap();
    assert_eq!(store.commits(), 6);
}

#[tokio::test]
async fn the_initial_state_can_be_given() {
    let initial = Trip { city: "Oslo".into(), log: vec!["old".into()], total: 3, ..Trip::default() };
    let graph = Graph::starting_from("g", initial).node("a", note("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    assert_eq!(thread.state().await.unwrap().state.log, ["old"], "before the first run");
    for turn in 1..3 {
        let end = thread.run(Trip::update().total(1)).await.unwrap();
        assert_eq!((end.state.city.as_str(), end.state.total), ("Oslo", 3 + turn));
        assert_eq!(end.state.log.len(), 1 + turn as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_thread_refuses_a_second_turn_and_is_free_afterwards() {
    let graph = Graph::<Trip>::builder("g").node("slow", after(1_000, "slow")).edge(START, "slow").compile().unwrap();
    for store in [true, false] {
        let runner = graph.runner();
        let runner = if store { runner.store(MemoryStore::new()) } else { runner };
        let thread = runner.thread("t");
        let first = thread.run(input("one")).stream();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let error = runner.clone().step_limit(7).thread("t").run(input("two")).await.unwrap_err();
        assert_eq!(error.to_string(), "thread `t` is busy with another turn; await that one first");
        if store {
            assert!(matches!(thread.proceed().await.unwrap_err().error.as_ref(), RunError::Busy { .. }));
            assert!(matches!(thread.abandon().await.unwrap_err(), RunError::Busy { .. }));
            assert!(matches!(thread.delete().await.unwrap_err(), RunError::Busy { .. }));
            assert_eq!(thread.state().await.unwrap().state.log, ["one"], "reading is always possible");
        }
        assert!(runner.thread("other").run(input("x")).await.is_ok(), "other threads are not busy");
        first.end().await.unwrap();
        let end = thread.run(input("three")).await.unwrap();
        assert_eq!(end.state.log.last().unwrap(), "slow");
    }
}

#[tokio::test(start_paused = true)]
async fn many_turns_at_once_on_one_thread_are_one_turn_and_refusals() {
    let graph = Graph::<Trip>::builder("g").node("slow", after(10, "slow")).edge(START, "slow").compile().unwrap();
    let runner = graph.runner().store(MemoryStore::new());
    let turns = (0..20).map(|at| runner.thread("t").run(input(&at.to_string())).into_future());
    let ended = futures_util::future::join_all(turns).await;
    assert_eq!(ended.iter().filter(|end| end.is_ok()).count(), 1);
    assert_eq!(runner.thread("t").state().await.unwrap().state.log, ["0", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_was_overtaken_is_fenced_and_nothing_is_mixed() {
    let store = MemoryStore::new();
    let graph = || {
        let graph = Graph::<Trip>::builder("g").node("slow", after(1_000, "slow")).node("b", note("b"));
        graph.edge(START, "slow").edge("slow", "b").compile().unwrap()
    };
    // Two processes with one store.
    let (one, two) = (graph().runner().store(store.clone()), graph().runner().store(store.clone()));
    let first = tokio::spawn(one.thread("t").run(input("one")).into_future());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let thread = two.thread("t");
    assert!(matches!(*thread.run(input("two")).await.unwrap_err().error, RunError::Unfinished { .. }));
    thread.abandon().await.unwrap();
    let second = tokio::spawn(thread.run(input("two")).into_future());
    let error = first.await.unwrap().unwrap_err();
    let RunError::Store { cause: StoreError::Conflict { thread: fenced, .. }, .. } = &*error else { panic!("{error}") };
    assert_eq!(fenced, "t");
    assert_eq!(second.await.unwrap().unwrap().state.log, ["one", "two", "slow", "b"]);
    assert_eq!(thread.state().await.unwrap().state.log, ["one", "two", "slow", "b"]);
    // The loser loads again and goes on.
    assert_eq!(one.thread("t").run(input("three")).await.unwrap().state.log.len(), 7);
}

#[tokio::test]
async fn a_commit_that_fails_leaves_the_last_checkpoint_and_the_thread_goes_on() {
    // Commits of one turn: the input, step 0, step 1.
    for failing in 0..3 {
        let store = TestStore::lasting();
        let thread = two().runner().store(store.clone()).thread("t");
        thread.run(input("first")).await.unwrap();
        store.fail_commit_after(failing);
        let error = thread.run(input("in")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "thread `t`: the checkpoint store is unavailable: the disk is gone; repeating the call is harmless"
        );
        let state = thread.state().await.unwrap();
        let end = match failing {
            0 => {
                assert_eq!((state.state.log.len(), state.next.len()), (3, 0));
                thread.run(input("in")).await.unwrap()
            }
            _ => {
                assert_eq!((state.state.log.len(), state.next.len()), (3 + failing, 1));
                thread.proceed().await.unwrap()
            }
        };
        assert_eq!(end.state.log, ["first", "a", "b", "in", "a", "b"], "commit {failing} failed");
    }
}

#[tokio::test]
async fn deleting_a_thread_forgets_everything() {
    let store = MemoryStore::new();
    let thread = two().runner().store(store.clone()).thread("t");
    assert!(!thread.delete().await.unwrap());
    thread.run(input("one")).await.unwrap();
    assert!(thread.delete().await.unwrap());
    assert!(!thread.delete().await.unwrap());
    assert_eq!(store.bytes("t"), 0);
    let state = thread.state().await.unwrap();
    assert_eq!((state.checkpoint, state.step, state.state.log.len()), (None, 0, 0));
    assert!(thread.history(&Filter::default()).await.unwrap().is_empty());
    assert_eq!(thread.run(input("two")).await.unwrap().state.log, ["two", "a", "b"]);
}

/// Three turns, tagged and numbered.
async fn with_history() -> Thread<Trip> {
    let runner = two().runner().store(MemoryStore::new()).seams(Seams::default().numbered_turns());
    let thread = runner.thread("t");
    thread.run(input("one")).tag("tenant", "acme").tag("kind", "demo").await.unwrap();
    thread.run(input("two")).tag("tenant", "other").await.unwrap();
    thread.run(input("three")).tag("tenant", "acme").await.unwrap();
    thread
}

#[tokio::test]
async fn history_lists_the_newest_first_and_every_checkpoint_follows_the_one_before() {
    let thread = with_history().await;
    let all = thread.history(&Filter::default()).await.unwrap();
    let steps: Vec<_> = all.iter().map(|info| (info.turn.as_str(), info.step)).collect();
    let expected = [("turn-1", 0), ("turn-1", 1), ("turn-1", 2), ("turn-2", 2), ("turn-2", 3), ("turn-2", 4)];
    let more = [("turn-3", 4), ("turn-3", 5), ("turn-3", 6)];
    assert!(steps.iter().rev().eq(expected.iter().chain(&more)), "{steps:?}");
    assert!(all.windows(2).all(|pair| pair[0].parent == Some(pair[1].id)));
    assert_eq!(all[8].parent, None);
    assert_eq!(thread.state().await.unwrap().checkpoint, Some(all[0].id));
    assert!(all.iter().all(|info| info.time_ms > 1_600_000_000_000));
}

#[tokio::test]
async fn history_can_be_filtered() {
    let thread = with_history().await;
    let all = thread.history(&Filter::default()).await.unwrap();
    let list = async |filter: Filter| thread.history(&filter).await.unwrap();
    let steps = |infos: Vec<graph_engine::CheckpointInfo>| infos.iter().map(|info| info.step).collect::<Vec<_>>();
    assert_eq!(steps(list(Filter::default().turn("turn-2")).await), [4, 3, 2]);
    assert_eq!(steps(list(Filter::default().turn("turn-9")).await), [0; 0]);
    assert_eq!(steps(list(Filter::default().limit(2)).await), [6, 5]);
    assert_eq!(steps(list(Filter::default().limit(0)).await), [0; 0]);
    assert_eq!(steps(list(Filter::default().steps(2..=4)).await), [4, 4, 3, 2, 2]);
    assert_eq!(steps(list(Filter::default().before(all[6].id)).await), [1, 0]);
    assert_eq!(steps(list(Filter::default().before(all[8].id)).await), [0; 0]);
    assert_eq!(steps(list(Filter::default().tag("tenant", "acme")).await), [6, 5, 4, 2, 1, 0]);
    assert_eq!(steps(list(Filter::default().tag("tenant", "acme").tag("kind", "demo")).await), [2, 1, 0]);
    assert_eq!(steps(list(Filter::default().tag("tenant", "nobody")).await), [0; 0]);
    assert_eq!(steps(list(Filter::default().tag("tenant", "acme").before(all[0].id).limit(2)).await), [5, 4]);
    let unknown = CheckpointId::derive("t", "", None, "never", 9);
    assert_eq!(steps(list(Filter::default().before(unknown)).await), [0; 0]);
}

#[tokio::test]
async fn every_earlier_state_can_be_read() {
    let thread = with_history().await;
    let all = thread.history(&Filter::default()).await.unwrap();
    let whole = ["one", "a", "b", "two", "a", "b", "three", "a", "b"];
    for (at, info) in all.iter().rev().enumerate() {
        let state = thread.state_at(Some(info.id)).await.unwrap();
        assert_eq!(state.state.log, whole[..=at], "checkpoint {at}");
        assert_eq!((state.checkpoint, state.step), (Some(info.id), info.step));
        let next: &[&str] = [&["a"][..], &["b"], &[]][at % 3];
        assert_eq!(state.next, next);
    }
    let unknown = CheckpointId::derive("t", "", None, "never", 9);
    let error = thread.state_at(Some(unknown)).await.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), format!("thread `t` has no checkpoint {unknown}; `history` lists those that it has"));
}

#[tokio::test]
async fn hostile_thread_ids_are_data() {
    let ids = ["", " ", "t", "T", "t ", "../t", "t/0.0", "t\0", "'; drop table t; --", "ü", "u\u{308}", "🦀", "%", "*"];
    let long = "x".repeat(100_000);
    let ids: Vec<&str> = ids.into_iter().chain([long.as_str()]).collect();
    let runner = two().runner().store(MemoryStore::new());
    for id in &ids {
        runner.thread(*id).run(input(id)).await.unwrap();
    }
    for id in &ids {
        let state = runner.thread(*id).state().await.unwrap().state;
        assert_eq!(state.log, [id, "a", "b"]);
    }
    assert!(runner.thread("").delete().await.unwrap());
    assert_eq!(runner.thread("t").state().await.unwrap().state.log.len(), 3);
}

#[derive(State, Clone, Default)]
struct Many {
    text: Option<String>,
    #[state(append)]
    log: Log<u64>,
    #[state(append)]
    word: String,
    #[state(append)]
    map: std::collections::BTreeMap<String, u64>,
    #[state(with = max)]
    most: u64,
    #[state(any)]
    any: Vec<u64>,
}

fn max(most: &u64, item: u64) -> Result<u64, String> {
    Ok(*most.max(&item))
}

#[tokio::test]
async fn every_kind_of_field_comes_back_from_a_store_after_many_turns() {
    let grow = |many: graph_engine::Snap<Many>| {
        let at = many.log.len() as u64;
        let update = Many::update().text(format!("text {at}")).log([at]).word([format!("é{at}")]).most(at % 7);
        let update = update.map([((at % 5).to_string(), at)]).any(vec![at; 3]);
        // Now and then everything is replaced.
        std::future::ready(if at % 10 == 9 { update.overwrite_word("ü").overwrite_most(1) } else { update })
    };
    let graph = Graph::<Many>::builder("g").node("grow", grow).edge(START, "grow").compile().unwrap();
    let kept = graph.runner().store(MemoryStore::new()).thread("t");
    let mut word = String::new();
    let mut most = 0;
    for turn in 0..60_u64 {
        let end = kept.run(Many::update()).await.unwrap();
        (word, most) =
            if turn % 10 == 9 { ("ü".to_owned(), 1) } else { (format!("{word}é{turn}"), most.max(turn % 7)) };
        for state in [&end.state, &kept.state().await.unwrap().state] {
            assert_eq!(state.text, Some(format!("text {turn}")));
            assert!(state.log.iter().copied().eq(0..=turn));
            assert_eq!((&state.word, state.most, &state.any), (&word, most, &vec![turn; 3]));
            assert_eq!(state.map.len() as u64, (turn + 1).min(5));
            assert_eq!(state.map[&(turn % 5).to_string()], turn);
        }
    }
}

#[tokio::test]
async fn a_growing_log_costs_a_store_only_what_is_new() {
    let graph = Graph::<Trip>::builder("g").node("n", note("0123456789")).edge(START, "n").compile().unwrap();
    let store = MemoryStore::new();
    let thread = graph.runner().store(store.clone()).thread("t");
    let mut sizes = Vec::new();
    for _ in 0..200 {
        let before = store.bytes("t");
        thread.run(Trip::update()).await.unwrap();
        sizes.push(store.bytes("t") - before);
    }
    assert!(sizes[199] < sizes[1] + 10, "turn 2 stored {} bytes, turn 200 {}", sizes[1], sizes[199]);
}

#[tokio::test]
async fn a_state_that_cannot_be_written_is_refused_with_the_field_and_the_last_checkpoint_stands() {
    #[derive(State, Clone, Default)]
    struct Price {
        price: f64,
    }
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || std::future::ready(Price::update().price(if runs.hit("n") == 0 { f64::NAN } else { 2.5 }))
    };
    let graph = Graph::<Price>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Price::update().price(1.0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 1: field `price` holds a float that is not finite (NaN), which JSON can't store; use \
         an `Option`, or mark the field `#[state(transient)]`; the last checkpoint is intact"
    );
    assert_eq!(thread.state().await.unwrap().state.price.to_bits(), 1.0_f64.to_bits());
    assert_eq!(thread.proceed().await.unwrap().state.price.to_bits(), 2.5_f64.to_bits());
}

#[tokio::test]
async fn a_field_that_is_gone_is_a_warning_and_a_node_that_is_gone_an_error() {
    #[derive(State, Clone, Default)]
    struct Old {
        city: String,
        #[state(append)]
        log: Vec<String>,
    }
    #[derive(State, Clone, Default)]
    struct New {
        #[state(append)]
        log: Vec<String>,
        fresh: u32,
    }
    let store = MemoryStore::new();
    let old = |name: &'static str| {
        let graph = Graph::<Old>::builder("g").node(name, || std::future::ready(Old::update())).edge(START, name);
        graph.compile().unwrap().runner().store(store.clone())
    };
    let input = || Old::update().city("Oslo").log(["x".to_owned()]);
    old("n").thread("done").run(input()).await.unwrap();
    old("gone").thread("cut").run(input()).cancel_on(std::future::ready(())).await.unwrap();
    let graph = Graph::<New>::builder("g").node("n", || std::future::ready(New::update().fresh(1))).edge(START, "n");
    let runner = graph.compile().unwrap().runner().store(store.clone());
    let end = runner.thread("done").run(New::update()).await.unwrap();
    assert_eq!((&end.state.log[..], end.state.fresh), (&["x".to_owned()][..], 1));
    assert_eq!(end.report.warnings, ["the state has no field `city` any more; what was stored is ignored"]);
    let error = runner.thread("cut").proceed().await.unwrap_err().to_string();
    assert!(error.starts_with("thread `cut`: checkpoint "), "{error}");
    let why = ": node `gone` would run next, but the graph has none of that name; use the graph and state that made it, \
               read an older one with `state_at`, or `delete` the thread";
    assert!(error.ends_with(why), "{error}");
    assert!(runner.thread("cut").state().await.is_err());
}

#[tokio::test]
async fn a_field_of_another_type_is_an_error_that_names_it() {
    #[derive(State, Clone, Default)]
    struct Other {
        city: u32,
    }
    let store = MemoryStore::new();
    two().runner().store(store.clone()).thread("t").run(Trip::update().city("Oslo")).await.unwrap();
    let graph = Graph::<Other>::builder("g").node("n", || std::future::ready(Other::update().city(1))).edge(START, "n");
    let error = graph.compile().unwrap().runner().store(store).thread("t").run(Other::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::Restore { .. }));
    assert!(error.to_string().contains("field `city` can't be read from JSON"), "{error}");
}
