//! Graphs without a store: chains, loops, fan-outs, diagrams.

use async_trait::async_trait;
use graph_engine::{
    Builder, END, FromTask, Graph, In, Next, Node, NodeError, Outcome, Route, Runner, START, Snap, State, Task,
};
use measure::{Asked, Times};

use crate::state::{Again, Count, Here, Rest, Tick};

fn name(i: u64) -> String {
    format!("n{i}")
}

pub(crate) fn chain<S: State + Default, N: Node<S>>(length: u64, node: fn() -> N) -> Builder<S> {
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), node());
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder
}

fn runner(builder: Builder<Count>, steps: u64) -> Runner<Count> {
    builder.compile().expect("compiles").runner().step_limit(steps + 1).timings(false)
}

/// One turn with that limit, and the state at its end.
fn turn(here: &Here, runner: &Runner<Count>, limit: u64) -> Snap<Count> {
    here.run(async { runner.thread("t").run(Count::update().limit(limit)).await }).expect("ends").state
}

pub(crate) fn looped(here: &Here, asked: &Asked) -> Times {
    let again = |count: &Count| Again::until(count.n >= count.limit);
    let graph = Graph::builder("loop").node("tick", Tick).edge(START, "tick").route("tick", again);
    let runner = runner(graph, asked.n);
    asked.times(asked.n, || {
        assert_eq!(turn(here, &runner, asked.n).n, asked.n);
    })
}

pub(crate) fn chain_run(here: &Here, asked: &Asked) -> Times {
    let runner = runner(chain(asked.n, || Tick), asked.n);
    asked.times(asked.n, || {
        assert_eq!(turn(here, &runner, 0).n, asked.n);
    })
}

pub(crate) fn chain_compile(asked: &Asked) -> Times {
    asked.each(asked.n, || chain::<Count, _>(asked.n, || Rest), |builder| builder.compile().expect("compiles"))
}

pub(crate) fn export_mermaid(asked: &Asked) -> Times {
    let graph = chain::<Count, _>(asked.n, || Rest).compile().expect("compiles");
    let last = name(asked.n - 1);
    asked.times(asked.n, || {
        let text = graph.topology().mermaid().to_string();
        assert!(text.contains(&last));
        text
    })
}

/// Appends its number.
struct Add(u64);

#[async_trait]
impl Node<Count> for Add {
    async fn run(&self, _: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().out([self.0])))
    }
}

/// So many nodes at once behind `from`, and a join.
fn fan(builder: Builder<Count>, from: &'static str, width: u64) -> Builder<Count> {
    let mut builder = builder;
    for i in 0..width {
        builder = builder.node(name(i), Add(i)).edge(from, name(i));
    }
    builder.join((0..width).map(name), "join").edge("join", END)
}

/// All numbers are there.
fn check(out: impl IntoIterator<Item = u64>, width: u64) {
    let mut out: Vec<u64> = out.into_iter().collect();
    out.sort_unstable();
    assert!(out.into_iter().eq(0..width));
}

pub(crate) fn fanout(here: &Here, asked: &Asked) -> Times {
    let graph = Graph::builder("fan").node("source", Rest).node("join", Rest).edge(START, "source");
    spread(here, asked, &runner(fan(graph, "source", asked.n), 3))
}

#[derive(Route)]
enum Each {
    Work(u64),
}

/// Appends its payload.
struct Work;

#[async_trait]
impl Node<Count> for Work {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let In(item) = <In<u64> as FromTask<Count>>::from_task(task)?;
        Ok(Outcome::of(Count::update().out([*item])))
    }
}

pub(crate) fn send(here: &Here, asked: &Asked) -> Times {
    let width = asked.n;
    let graph = Graph::builder("send")
        .node("source", Rest)
        .node("work", Work)
        .node("join", Rest)
        .edge(START, "source")
        .route("source", move |_: &Count| Next::fan_out((0..width).map(Each::Work)))
        .edge("work", "join")
        .edge("join", END);
    spread(here, asked, &runner(graph, 3))
}

fn spread(here: &Here, asked: &Asked, runner: &Runner<Count>) -> Times {
    asked.times(asked.n, || {
        check(turn(here, runner, 0).out.iter().copied(), asked.n);
    })
}

/// Counts what was appended.
struct Total;

#[async_trait]
impl Node<Count> for Total {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().n(task.state().out.len() as u64)))
    }
}

pub(crate) fn invoke_small(here: &Here, asked: &Asked) -> Times {
    let graph = match asked.variant.as_str() {
        "seq" => chain(asked.n, || Tick),
        _ => fan(Graph::builder("par").node("join", Total), START, asked.n),
    };
    let runner = runner(graph, asked.n);
    asked.times(1, || {
        assert_eq!(turn(here, &runner, 0).n, asked.n);
    })
}

/// A whole process: one node, compiled and run once.
pub(crate) fn cold(here: &Here) {
    let runner = runner(chain(1, || Tick), 1);
    assert_eq!(turn(here, &runner, 0).n, 1);
}
