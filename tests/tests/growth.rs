//! How costs grow, counted instead of timed: events, compiling, and what a checkpoint holds.

use std::future::IntoFuture;

use allocation_counter::measure;
use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{
    Builder, END, Graph, MemoryStore, Mode, Node, NodeError, Outcome, Route, Runner, START, State, StreamOptions, Task,
};
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};

#[derive(State, Default, Clone)]
struct Plain {
    ticks: u64,
}

fn runtime() -> Runtime {
    RuntimeBuilder::new_current_thread().enable_time().build().expect("a runtime")
}

/// Emits so many numbers.
struct Tell(u64);

#[async_trait]
impl Node<Plain> for Tell {
    async fn run(&self, task: &Task<Plain>) -> Result<Outcome<Plain>, NodeError> {
        let ctx = task.ctx();
        for i in 0..self.0 {
            ctx.emit(i).await?;
        }
        Ok(Outcome::default())
    }
}

fn telling(events: u64) -> Runner<Plain> {
    let graph = Graph::builder("g").node("tell", Tell(events)).edge(START, "tell").edge("tell", END);
    graph.compile().expect("compiles").runner()
}

/// Allocations of a turn, perhaps with somebody who reads all of its custom events.
fn allocations(runtime: &Runtime, runner: &Runner<Plain>, read: bool) -> u64 {
    let counted = measure(|| {
        let events = runtime.block_on(async {
            let mut turn = runner.thread("t").run(Plain::update());
            let reader = read.then(|| turn.reader(StreamOptions::default().modes([Mode::Custom]).buffer(64)));
            let reading = async {
                match reader {
                    Some(reader) => reader.count().await,
                    None => 0,
                }
            };
            let (end, events) = tokio::join!(turn.into_future(), reading);
            end.expect("the turn ends");
            events
        });
        assert_eq!(events > 0, read);
    });
    counted.count_total
}

fn per_event(read: bool) -> f64 {
    let runtime = runtime();
    let (short, long) = (telling(5_000), telling(10_000));
    // A runner's first turn makes what later ones use again.
    allocations(&runtime, &short, read);
    allocations(&runtime, &long, read);
    let more = allocations(&runtime, &long, read) - allocations(&runtime, &short, read);
    more as f64 / 5_000.0
}

#[test]
fn an_event_that_nobody_reads_allocates_nothing() {
    let cost = per_event(false);
    assert!(cost < 0.001, "{cost} allocations an event");
}

#[test]
fn an_event_on_its_way_to_one_reader_allocates_once() {
    // The boxed future of the hand-over; the rest is the channel's, which takes a block for many events.
    let cost = per_event(true);
    assert!(cost <= 1.1, "{cost} allocations an event");
}

/// Does nothing.
struct Rest;

#[async_trait]
impl Node<Plain> for Rest {
    async fn run(&self, _: &Task<Plain>) -> Result<Outcome<Plain>, NodeError> {
        Ok(Outcome::default())
    }
}

fn chain(length: u64) -> Builder<Plain> {
    let name = |i: u64| format!("n{i:05}");
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), Rest);
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder
}

#[test]
fn compiling_allocates_in_proportion_to_the_graph() {
    let cost = |length: u64| {
        let builder = chain(length);
        let counted = measure(|| drop(builder.compile().expect("compiles")));
        (counted.count_total as f64 / length as f64, counted.bytes_total as f64 / length as f64)
    };
    let (small, large) = (cost(1_000), cost(8_000));
    assert!(large.0 <= small.0 * 1.05 && large.0 < 12.0, "allocations a node: {small:?}, {large:?}");
    assert!(large.1 <= small.1 * 1.2, "bytes a node: {small:?}, {large:?}");
}

#[test]
fn compiling_a_long_chain_needs_no_deep_stack() {
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let compiled = thread.spawn(|| chain(5_000).compile().map(drop)).expect("a thread").join();
    assert!(compiled.expect("no panic").is_ok());
}

#[derive(State, Default, Clone)]
struct Talk {
    #[state(append)]
    messages: Vec<String>,
}

#[test]
fn a_super_step_with_a_message_of_100_bytes_stores_at_most_300() {
    let bytes = |steps: usize| {
        let say = || async { Talk::update().messages(["m".repeat(100)]) };
        let again = move |talk: &Talk| if talk.messages.len() < steps { Again::Rest } else { Again::End };
        let graph = Graph::builder("talk").node("rest", say).edge(START, "rest").route("rest", again);
        let store = MemoryStore::new();
        let runner = graph.compile().expect("compiles").runner().step_limit(steps as u64).store(store.clone());
        runtime().block_on(async { runner.thread("t").run(Talk::update()).await.expect("it ends") });
        store.bytes("t") as f64
    };
    let (half, whole) = (bytes(1_000), bytes(2_000));
    assert!(whole / 2_000.0 <= 300.0, "{} bytes a super-step", whole / 2_000.0);
    assert!(whole / half <= 2.05, "{half} and {whole} bytes");
}

#[test]
fn peak_memory_grows_in_proportion_to_the_history() {
    let runtime = runtime();
    let peak = |steps: usize| {
        let say = || async { Talk::update().messages(["m".repeat(100)]) };
        let again = move |talk: &Talk| if talk.messages.len() < steps { Again::Rest } else { Again::End };
        let graph = Graph::builder("talk").node("rest", say).edge(START, "rest").route("rest", again);
        let runner = graph.compile().expect("compiles").runner().step_limit(steps as u64);
        let counted = measure(|| {
            let runner = runner.store(MemoryStore::new());
            runtime.block_on(async { runner.thread("t").run(Talk::update()).await.expect("it ends") });
        });
        counted.bytes_max
    };
    peak(10);
    let (half, whole) = (peak(2_000), peak(4_000));
    assert!(half <= 3_000_000, "{half} bytes for 2,000 checkpoints");
    assert!(whole as f64 <= half as f64 * 2.1, "{half} and {whole} bytes");
}

#[derive(Route)]
enum Again {
    Rest,
    #[route(end)]
    End,
}

#[test]
fn a_checkpoint_of_an_untouched_state_has_the_same_size_however_long_the_history_is() {
    let bytes = |steps: u64| {
        let runs = std::sync::atomic::AtomicU64::new(0);
        let again = move |_: &Plain| {
            let ran = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            if ran < steps { Again::Rest } else { Again::End }
        };
        let graph = Graph::builder("g").node("rest", Rest).edge(START, "rest").route("rest", again);
        let store = MemoryStore::new();
        let runner = graph.compile().expect("compiles").runner().step_limit(steps).store(store.clone());
        runtime().block_on(async { runner.thread("t").run(Plain::update()).await.expect("it ends") });
        store.bytes("t") as f64
    };
    let per_step = |from: u64, to: u64| (bytes(to) - bytes(from)) / (to - from) as f64;
    // A number of the step has the same digits in both ranges.
    assert_eq!(per_step(1_000, 2_000), per_step(8_000, 9_000));
    // What decides what comes next, and who has finished.
    assert!(per_step(8_000, 9_000) <= 80.0, "{} bytes a super-step", per_step(8_000, 9_000));
}
