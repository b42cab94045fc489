//! Failures as people know them from LangGraph, with the values that this engine gives.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{Filter, Graph, MemoryStore, NodeError, NodeExt, Retry, RunError, START};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn waits_double_between_attempts_and_the_third_succeeds() {
    let starts: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let node = {
        let (starts, node) = (starts.clone(), Runs::new().failing(2, "n"));
        move || {
            starts.lock().unwrap().push(Instant::now());
            node()
        }
    };
    let node = node.retry(Retry::exponential(3, Duration::from_millis(50)));
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    let starts = starts.lock().unwrap();
    let gaps: Vec<_> = starts.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert_eq!((gaps, end.state.log.len(), end.report.attempts), (vec![50, 100], 1, 3));
}

/// `one` adds 2, `two` adds 3 and fails in its first runs.
fn one_and_two(runs: &Runs, fails: usize) -> Graph<Trip> {
    let (one, two) = (runs.clone(), runs.clone());
    let one = move || {
        one.hit("one");
        ready(Trip::update().total(2))
    };
    let two = move || {
        let run = two.hit("two");
        ready(if run < fails { Err(NodeError::from("two is not ready")) } else { Ok(Trip::update().total(3)) })
    };
    Graph::<Trip>::builder("g")
        .node("one", one)
        .node("two", two.retry(Retry::fixed(2, Duration::from_millis(10))))
        .edge(START, "one")
        .edge(START, "two")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_finished_beside_a_failure_is_kept_apart_and_not_run_again_even_by_another_process() {
    let (runs, store) = (Runs::new(), MemoryStore::new());
    // The failed turn makes two attempts, the next turn one that fails and one that succeeds.
    let graph = one_and_two(&runs, 3);
    let thread = graph.runner().store(store.clone()).thread("t");
    let error = thread.run(Trip::update().total(1)).await.unwrap_err();
    assert_eq!(error.failures()[0].to_string(), "`two` (task 0.1) failed after 2 attempts: two is not ready");
    assert_eq!((runs.count("one"), runs.count("two")), (1, 2));
    let state = thread.state().await.unwrap();
    assert_eq!((state.state.total, &state.next[..]), (1, &["two".into()][..]), "nothing of the step is applied yet");
    // A runner of its own over the same store knows what is finished.
    let other = one_and_two(&runs, 3).runner().store(store).thread("t");
    assert_eq!(other.state().await.unwrap().next, ["two"]);
    assert_eq!(other.proceed().await.unwrap().state.total, 6);
    assert_eq!((runs.count("one"), runs.count("two")), (1, 4));
    assert_eq!(other.history(&Filter::default()).await.unwrap().len(), 4);
}

#[tokio::test]
async fn after_a_failure_new_input_is_refused_and_after_abandon_the_whole_step_runs_again() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("first", runs.node("first"))
        .node("bad", runs.failing(1, "bad"))
        .node("good", runs.node("good"))
        .edge(START, "first")
        .edge("first", "bad")
        .edge("first", "good")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let input = |text: &str| Trip::update().log([text.to_owned()]);
    thread.run(input("one")).await.unwrap_err();
    let error = thread.run(input("two")).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Unfinished { pending, .. } if *pending == ["bad"]), "{error}");
    thread.abandon().await.unwrap();
    let end = thread.run(input("two")).await.unwrap();
    assert_eq!(end.state.log, ["one", "first", "two", "first", "bad", "good"]);
    assert_eq!((runs.count("first"), runs.count("bad"), runs.count("good")), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_timed_out_or_failed_leaves_nothing_of_what_it_was_about_to_write() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move || {
            let run = runs.hit("n");
            async move {
                let update: TripUpdate = Trip::update().log([format!("run {run}")]).total(1);
                match run {
                    0 => tokio::time::sleep(Duration::from_secs(60)).await,
                    1 => return Err(NodeError::from("no")),
                    _ => {}
                }
                Ok(update)
            }
        }
    };
    let node = node.retry(Retry::fixed(3, Duration::ZERO)).timeout(Duration::from_secs(1));
    let graph = Graph::<Trip>::builder("g")
        .node("n", node)
        .node("after", note("after"))
        .edge(START, "n")
        .edge("n", "after")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&end.state.log[..], end.state.total), (&["run 2".to_owned(), "after".to_owned()][..], 1));
}
