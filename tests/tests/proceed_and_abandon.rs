//! E17: unfinished tasks keep new input out until they proceed or are abandoned.

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate, note};
use graph_engine::{Graph, MemoryStore, RunError, START, Snap};

/// `a`, then `b` which fails so often, then `c`.
fn chain(runs: &Runs, fails: usize) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.failing(fails, "b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap()
}

fn input(text: &str) -> TripUpdate {
    Trip::update().log([text.to_owned()])
}

#[tokio::test]
async fn input_on_an_unfinished_thread_is_refused_with_the_names_and_changes_nothing() {
    let thread = chain(&Runs::new(), 1).runner().store(MemoryStore::new()).thread("guest-7");
    thread.run(input("one")).await.unwrap_err();
    let before = thread.state().await.unwrap();
    let error = thread.run(input("two")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `guest-7` has unfinished tasks: `b`; `proceed` runs them, `abandon` drops them, then send the input again"
    );
    let after = thread.state().await.unwrap();
    assert_eq!((after.checkpoint, &after.state.log), (before.checkpoint, &before.state.log));
}

#[tokio::test]
async fn abandoning_keeps_what_was_merged_and_lets_new_input_in() {
    let runs = Runs::new();
    let thread = chain(&runs, 1).runner().store(MemoryStore::new()).thread("t");
    thread.run(input("one")).await.unwrap_err();
    thread.abandon().await.unwrap();
    let state = thread.state().await.unwrap();
    assert_eq!((&state.state.log[..], state.next.len()), (&["one".to_owned(), "a".to_owned()][..], 0));
    let end = thread.run(input("two")).await.unwrap();
    assert_eq!(end.state.log, ["one", "a", "two", "a", "b", "c"]);
}

#[tokio::test]
async fn abandoning_a_failed_step_drops_the_results_of_its_siblings() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("bad", runs.failing(1, "bad"))
        .node("good", runs.node("good"))
        .edge(START, "bad")
        .edge(START, "good")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(input("one")).await.unwrap_err();
    thread.abandon().await.unwrap();
    assert_eq!(thread.state().await.unwrap().state.log, ["one"]);
    assert_eq!(thread.run(input("two")).await.unwrap().state.log, ["one", "two", "bad", "good"]);
    assert_eq!(runs.count("good"), 2);
}

#[tokio::test]
async fn there_is_nothing_to_proceed_with_on_a_new_or_finished_thread() {
    let thread = chain(&Runs::new(), 0).runner().store(MemoryStore::new()).thread("t");
    for _ in 0..2 {
        let error = thread.proceed().await.unwrap_err();
        assert_eq!(error.to_string(), "thread `t` has nothing to proceed with; send it input with `run`");
        thread.run(input("x")).await.unwrap();
    }
    thread.abandon().await.unwrap();
    assert!(matches!(*thread.proceed().await.unwrap_err().error, RunError::NothingToProceed { .. }));
}

#[tokio::test]
async fn abandoning_a_thread_with_nothing_unfinished_changes_nothing() {
    let store = TestStore::new();
    let thread = chain(&Runs::new(), 0).runner().store(store.clone()).thread("t");
    thread.abandon().await.unwrap();
    assert_eq!(thread.state().await.unwrap().checkpoint, None, "a thread that never ran still never ran");
    thread.run(input("x")).await.unwrap();
    let before = thread.state().await.unwrap();
    thread.abandon().await.unwrap();
    let after = thread.state().await.unwrap();
    assert_eq!((after.checkpoint, store.commits()), (before.checkpoint, 4));
}

#[tokio::test]
async fn without_a_store_nothing_can_proceed() {
    let thread = chain(&Runs::new(), 9).runner().thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 1: `b` (task 1.0) failed after 1 attempt: no luck at run 0; the state of this turn is \
         lost, because the runner has no store"
    );
    let error = thread.proceed().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: `proceed` needs a checkpoint store; give the runner one with `Runner::store`"
    );
}

#[tokio::test]
async fn a_transient_field_is_default_again_when_a_turn_proceeds() {
    let runs = Runs::new();
    let fails = {
        let runs = runs.clone();
        move |trip: Snap<Trip>| {
            let seen = format!("draft {:?}", trip.draft);
            std::future::ready(match runs.hit("n") {
                0 => Err(graph_engine::NodeError::from(seen)),
                _ => Ok(Trip::update().log([seen])),
            })
        }
    };
    let write = || std::future::ready(Trip::update().draft("half"));
    let graph = Graph::<Trip>::builder("g")
        .node("write", write)
        .node("read", fails)
        .edge(START, "write")
        .edge("write", "read")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].source.to_string(), "draft \"half\"");
    assert_eq!(thread.proceed().await.unwrap().state.log, ["draft \"\""]);
}

#[tokio::test]
async fn another_runner_over_the_same_store_can_proceed() {
    let (store, runs) = (MemoryStore::new(), Runs::new());
    chain(&runs, 1).runner().store(store.clone()).thread("t").run(input("x")).await.unwrap_err();
    // A new process: a new graph, a new runner.
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", note("b"))
        .node("c", note("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap();
    let end = graph.runner().store(store).thread("t").proceed().await.unwrap();
    assert_eq!(end.state.log, ["x", "a", "b", "c"]);
}

#[tokio::test]
async fn a_transient_field_of_the_initial_state_is_default_on_every_run_and_proceed() {
    let runs = Runs::new();
    let read = {
        let runs = runs.clone();
        move |trip: Snap<Trip>| {
            let seen = format!("{} draft {:?}", trip.city, trip.draft);
            std::future::ready(match runs.hit("n") {
                0 => Err(graph_engine::NodeError::from(seen)),
                _ => Ok(Trip::update().log([seen])),
            })
        }
    };
    let initial = Trip { city: "Oslo".into(), draft: "from the start".into(), ..Trip::default() };
    let graph = Graph::starting_from("g", initial).node("read", read).edge(START, "read").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].source.to_string(), "Oslo draft \"\"");
    assert_eq!(thread.proceed().await.unwrap().state.log, ["Oslo draft \"\""]);
}
