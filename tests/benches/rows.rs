//! The engine beside the least that Rust can do by hand, in one process: CPU time, limit and engine in turn, the
//! ratio of each pair, the median of nine.
//!
//! ```text
//! cargo bench -p behaviour-tests             all rows
//! cargo bench -p behaviour-tests -- loop     rows whose name contains `loop`
//! ```

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cpu_time::ProcessTime;
use futures_util::future::join_all;
use graph_engine::{
    END, Graph, Log, MemoryStore, Node, NodeError, Outcome, Parallel, Route, Runner, START, Snap, State, Task,
};
use tokio::runtime::{Builder, Runtime};

const PAIRS: usize = 9;

#[derive(State, Default, Clone)]
struct Count {
    ticks: u64,
    #[state(append)]
    sums: Log<u64>,
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

// ----- the engine -----

struct Tick;

#[async_trait]
impl Node<Count> for Tick {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().ticks(task.state().ticks + 1)))
    }
}

async fn tick(count: Snap<Count>) -> CountUpdate {
    Count::update().ticks(count.ticks + 1)
}

struct Add;

#[async_trait]
impl Node<Count> for Add {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().sums([task.state().ticks])))
    }
}

async fn rest() {}

fn again(steps: u64) -> impl Fn(&Count) -> Again + Send + Sync + 'static {
    move |count| if count.ticks.is_multiple_of(steps) { Again::End } else { Again::Tick }
}

fn looping(steps: u64, by_function: bool) -> Runner<Count> {
    let builder = Graph::builder("loop");
    let builder = if by_function { builder.node("tick", tick) } else { builder.node("tick", Tick) };
    let graph = builder.edge(START, "tick").route("tick", again(steps)).compile().expect("compiles");
    graph.runner().step_limit(steps + 1).timings(false)
}

fn chain(length: u64) -> Runner<Count> {
    let name = |i: u64| format!("n{i:05}");
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), Tick);
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder.compile().expect("compiles").runner().step_limit(length + 1).timings(false)
}

fn fan(width: u64, parallel: Parallel) -> Runner<Count> {
    let name = |i: u64| format!("b{i:05}");
    let mut builder = Graph::builder("fan").node("source", rest).node("collect", rest).edge(START, "source");
    for i in 0..width {
        builder = builder.node(name(i), Add).edge("source", name(i));
    }
    let graph = builder.join((0..width).map(name), "collect").edge("collect", END).compile().expect("compiles");
    graph.runner().parallel(parallel).timings(false)
}

fn turn(runtime: &Runtime, runner: &Runner<Count>) {
    let end = runtime.block_on(async { runner.thread("t").run(Count::update()).await });
    assert!(end.is_ok());
}

// ----- the limits: one boxed call a node behind a trait object, and nothing else -----

#[async_trait]
trait Bare: Send + Sync {
    async fn run(&self, count: &Count) -> CountUpdate;
}

struct BareTick;

#[async_trait]
impl Bare for BareTick {
    async fn run(&self, count: &Count) -> CountUpdate {
        Count::update().ticks(count.ticks + 1)
    }
}

struct BareAdd;

#[async_trait]
impl Bare for BareAdd {
    async fn run(&self, count: &Count) -> CountUpdate {
        Count::update().sums([count.ticks])
    }
}

fn bare_sequence(runtime: &Runtime, nodes: &[Arc<dyn Bare>], steps: u64) {
    let mut count = Count::default();
    runtime.block_on(async {
        for node in nodes.iter().cycle().take(usize::try_from(steps).expect("small")) {
            let update = node.run(&count).await;
            count.apply(update);
        }
    });
    assert_eq!(count.ticks, steps);
}

fn bare_joined(runtime: &Runtime, width: u64) {
    let nodes: Vec<Arc<dyn Bare>> = (0..width).map(|_| Arc::new(BareAdd) as Arc<dyn Bare>).collect();
    let mut count = Count::default();
    runtime.block_on(async {
        for update in join_all(nodes.iter().map(|node| node.run(&count))).await {
            count.apply(update);
        }
    });
    assert_eq!(count.sums.len() as u64, width);
}

fn bare_spawned(runtime: &Runtime, width: u64) {
    let nodes: Vec<Arc<dyn Bare>> = (0..width).map(|_| Arc::new(BareAdd) as Arc<dyn Bare>).collect();
    let shared = Arc::new(Count::default());
    let mut count = Count::default();
    runtime.block_on(async {
        let run = |node: &Arc<dyn Bare>| {
            let (node, shared) = (node.clone(), shared.clone());
            tokio::spawn(async move { node.run(&shared).await })
        };
        let handles: Vec<_> = nodes.iter().map(run).collect();
        for handle in handles {
            count.apply(handle.await.expect("no panic"));
        }
    });
    assert_eq!(count.sums.len() as u64, width);
}

// ----- measuring -----

fn cpu(mut work: impl FnMut()) -> Duration {
    let start = ProcessTime::now();
    work();
    start.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(name: &str, unit: &str, units: u64, mut limit: impl FnMut(), mut engine: impl FnMut()) {
    let mut wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).peekable();
    if wanted.peek().is_some() && !wanted.any(|part| name.contains(&part)) {
        return;
    }
    limit();
    engine();
    let pairs: Vec<(f64, f64)> =
        (0..PAIRS).map(|_| (cpu(&mut limit).as_nanos() as f64, cpu(&mut engine).as_nanos() as f64)).collect();
    let per_unit = |values: Vec<f64>| median(values) / units as f64;
    let limit = per_unit(pairs.iter().map(|(limit, _)| *limit).collect());
    let engine = per_unit(pairs.iter().map(|(_, engine)| *engine).collect());
    let ratio = median(pairs.iter().map(|(limit, engine)| engine / limit).collect());
    print(&format!("| {name} | {unit} | {limit:.0} ns | {engine:.0} ns | {ratio:.2} |"));
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
fn print(line: &str) {
    println!("{line}");
}

fn times<'a>(count: u64, mut work: impl FnMut() + 'a) -> impl FnMut() + 'a {
    move || (0..count).for_each(|_| work())
}

fn main() {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let rt = &runtime;
    print("| row | unit | limit | engine | ratio |");
    print("| --- | --- | --- | --- | --- |");
    let one: Vec<Arc<dyn Bare>> = vec![Arc::new(BareTick)];
    let limit = || times(10, || bare_sequence(rt, &one, 10_000));
    let runner = looping(10_000, false);
    row("1 loop:10000, node that borrows", "super-step", 100_000, limit(), times(10, || turn(rt, &runner)));
    let runner = looping(10_000, true);
    row("1 loop:10000, async fn with Snap", "super-step", 100_000, limit(), times(10, || turn(rt, &runner)));
    let runner = looping(10_000, false);
    let stored = times(10, || turn(rt, &runner.clone().store(MemoryStore::new())));
    row("3 loop:10000, memory store", "super-step", 100_000, limit(), stored);
    let many: Vec<Arc<dyn Bare>> = (0..1_000).map(|_| Arc::new(BareTick) as Arc<dyn Bare>).collect();
    let runner = chain(1_000);
    let limit = times(100, || bare_sequence(rt, &many, 1_000));
    row("2 chain_run:1000, node that borrows", "super-step", 100_000, limit, times(100, || turn(rt, &runner)));
    let runner = fan(1_000, Parallel::Joined);
    row(
        "5 fanout:1000, joined",
        "branch",
        100_000,
        times(100, || bare_joined(rt, 1_000)),
        times(100, || turn(rt, &runner)),
    );
    let runner = fan(1_000, Parallel::Spawned);
    row(
        "5 fanout:1000, spawned",
        "branch",
        100_000,
        times(100, || bare_spawned(rt, 1_000)),
        times(100, || turn(rt, &runner)),
    );
}
