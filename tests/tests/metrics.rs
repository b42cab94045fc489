//! What an operator counts: exact calls, and labels that don't grow with threads.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, Trip, after, note};
use graph_engine::{AttemptEnd, Cache, Graph, Metrics, Next, NodeExt, Retry, Route, Runner, START};

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl Metrics for Recorder {
    fn super_step(&self, graph: &str, stays: u64) {
        self.note(format!("{graph}: super-step, {stays} stays"));
    }

    fn attempt(&self, graph: &str, node: &str, end: AttemptEnd, took: Duration) {
        self.note(format!("{graph}: {node} {} after {took:?}", end.as_str()));
    }

    fn retry(&self, graph: &str, node: &str, wait: Duration) {
        self.note(format!("{graph}: {node} again after {wait:?}"));
    }

    fn queue(&self, graph: &str, node: &str, waited: Duration) {
        self.note(format!("{graph}: {node} waited {waited:?}"));
    }

    fn turn(&self, graph: &str, outcome: &'static str, took: Duration) {
        self.note(format!("{graph}: turn {outcome} after {took:?}"));
    }
}

fn counted(graph: Graph<Trip>) -> (Runner<Trip>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    (graph.runner().timings(false).metrics(recorder.clone()), recorder)
}

#[tokio::test(start_paused = true)]
async fn attempts_retries_steps_and_turns_are_counted() {
    let graph = Graph::<Trip>::builder("trip")
        .node("find", Runs::new().failing(1, "find").retry(Retry::fixed(2, Duration::from_secs(3))))
        .node("book", after(200, "book"))
        .edge(START, "find")
        .edge("find", "book")
        .compile()
        .unwrap();
    let (runner, recorder) = counted(graph);
    runner.thread("guest-7").run(Trip::update()).await.unwrap();
    assert_eq!(
        recorder.take(),
        [
            "trip: find failed after 0ns",
            "trip: find again after 3s",
            "trip: find done after 0ns",
            "trip: super-step, 0 stays",
            "trip: book done after 200ms",
            "trip: super-step, 0 stays",
            "trip: turn done after 3.2s",
        ]
    );
}

#[derive(Route)]
#[route(stay)]
enum Gate {
    #[route(end)]
    Done,
}

#[tokio::test(start_paused = true)]
async fn stays_are_counted_with_their_super_step() {
    let gate = |trip: &Trip| if trip.log.len() < 3 { Next::stay("again") } else { Next::go(Gate::Done) };
    let graph =
        Graph::<Trip>::builder("trip").node("gate", note("gate")).edge(START, "gate").route("gate", gate).compile();
    let (runner, recorder) = counted(graph.unwrap());
    runner.thread("guest-7").run(Trip::update()).await.unwrap();
    let steps: Vec<_> = recorder.take().into_iter().filter(|line| line.contains("super-step")).collect();
    assert_eq!(steps, ["trip: super-step, 1 stays", "trip: super-step, 1 stays", "trip: super-step, 0 stays"]);
}

#[derive(Route)]
enum Quote {
    Quote(u32),
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_place_is_told_and_a_cached_task_waits_for_none() {
    let quote = |_: graph_engine::In<u32>| after(100, "quote")();
    let spread = |_: &Trip| Next::fan_out((0..3).map(Quote::Quote));
    let graph = Graph::<Trip>::builder("trip")
        .node("ask", note("ask"))
        .node("quote", quote.limit(1).cache(Cache::by_payload::<u32>()))
        .edge(START, "ask")
        .route("ask", spread)
        .compile()
        .unwrap();
    let (runner, recorder) = counted(graph);
    runner.thread("guest-7").run(Trip::update()).await.unwrap();
    let waits: Vec<_> = recorder.take().into_iter().filter(|line| line.contains("waited")).collect();
    assert_eq!(waits, ["trip: quote waited 0ns", "trip: quote waited 100ms", "trip: quote waited 200ms"]);
    runner.thread("guest-8").run(Trip::update()).await.unwrap();
    let second: Vec<_> = recorder.take().into_iter().filter(|line| line.contains("quote")).collect();
    assert_eq!(second, ["trip: quote cached after 0ns"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_named_by_how_it_ended_and_never_by_its_thread() {
    let graph = Graph::<Trip>::builder("trip")
        .node("explore", Runs::new().failing(1, "explore"))
        .edge(START, "explore")
        .compile()
        .unwrap();
    let (runner, recorder) = counted(graph);
    runner.thread("guest-7").run(Trip::update()).await.unwrap_err();
    let turn = runner.thread("guest-8").run(Trip::update());
    turn.control().cancel();
    turn.await.unwrap();
    let lines = recorder.take();
    assert!(lines.iter().all(|line| !line.contains("guest")), "{lines:?}");
    let turns: Vec<_> = lines.into_iter().filter(|line| line.contains("turn")).collect();
    assert_eq!(turns, ["trip: turn step after 0ns", "trip: turn cancelled after 0ns"]);
}
