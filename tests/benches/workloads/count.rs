//! `loop`, `chain_run`, `invoke_small` and `interrupt`: graphs of nodes that count, or do nothing.

use async_trait::async_trait;
use graph_engine::{
    Ctx, END, Graph, Log, MemoryStore, Node, NodeError, Outcome, Parallel, Route, Runner, START, Snap, State, Status,
    Task,
};

/// A counter, how far it goes, and a list that branches append to.
#[derive(State, Default, Clone)]
pub(crate) struct Count {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    #[state(append)]
    pub(crate) out: Log<u64>,
}

/// Counts up.
pub(crate) struct Tick;

#[async_trait]
impl Node<Count> for Tick {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().n(task.state().n + 1)))
    }
}

/// The same as a function with a snapshot.
pub(crate) async fn tick(count: Snap<Count>) -> CountUpdate {
    Count::update().n(count.n + 1)
}

/// Appends its number.
pub(crate) struct Emit(pub(crate) u64);

#[async_trait]
impl Node<Count> for Emit {
    async fn run(&self, _: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().out([self.0])))
    }
}

/// Does nothing.
pub(crate) struct Noop;

#[async_trait]
impl Node<Count> for Noop {
    async fn run(&self, _: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::default())
    }
}

/// The same as a function with a snapshot.
pub(crate) async fn noop(count: Snap<Count>) -> CountUpdate {
    drop(count);
    Count::update()
}

/// Counts what was appended.
struct Sum;

#[async_trait]
impl Node<Count> for Sum {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().n(task.state().out.len() as u64)))
    }
}

/// Counts up and says so, if anybody listens.
pub(crate) struct Telling;

#[async_trait]
impl Node<Count> for Telling {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        task.emit(task.state().n).await?;
        Ok(Outcome::of(Count::update().n(task.state().n + 1)))
    }
}

/// Counts up and awaits something that is there already.
pub(crate) struct Awaiting;

#[async_trait]
impl Node<Count> for Awaiting {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        begun(task.state()).await?;
        Ok(Outcome::of(Count::update().n(task.state().n + 1)))
    }
}

async fn begun(state: &Count) -> Result<(), NodeError> {
    if state.limit == 0 { Err(NodeError::fatal("no limit")) } else { Ok(()) }
}

/// Where a loop goes.
#[derive(Route)]
pub(crate) enum Again {
    Step,
    #[route(end)]
    End,
}

/// A graph with the node `step`, which is asked each time whether it goes on.
pub(crate) fn looping(
    build: impl FnOnce(graph_engine::Builder<Count>) -> graph_engine::Builder<Count>,
) -> Runner<Count> {
    let again = |count: &Count| if count.n < count.limit { Again::Step } else { Again::End };
    let graph = build(Graph::builder("loop")).edge(START, "step").route("step", again).compile().expect("compiles");
    graph.runner().step_limit(u64::MAX).timings(false)
}

/// The name of the `i`th node.
pub(crate) fn name(i: u64) -> String {
    format!("n{i}")
}

/// So many nodes, each with an edge to the next.
pub(crate) fn chain<M, N: graph_engine::IntoNode<Count, M>>(
    length: u64,
    node: impl Fn() -> N,
) -> graph_engine::Builder<Count> {
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), node());
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder
}

/// The runner of a chain.
pub(crate) fn chain_runner<M, N: graph_engine::IntoNode<Count, M>>(length: u64, node: impl Fn() -> N) -> Runner<Count> {
    chain(length, node).compile().expect("compiles").runner().step_limit(length + 1).timings(false)
}

/// Five nodes at once from the beginning, and a join that counts what they appended.
pub(crate) fn five_at_once(parallel: Parallel) -> Runner<Count> {
    let mut builder = Graph::builder("par").node("sum", Sum).edge("sum", END);
    for i in 0..5 {
        builder = builder.node(format!("w{i}"), Emit(i)).edge(START, format!("w{i}"));
    }
    let names = (0..5).map(|i| format!("w{i}"));
    builder.join(names, "sum").compile().expect("compiles").runner().parallel(parallel).timings(false)
}

/// A graph that asks until it was answered so often.
pub(crate) fn asking() -> Runner<Count> {
    let ask = async |count: Snap<Count>, ctx: Ctx| -> Result<CountUpdate, NodeError> {
        let more: u64 = ctx.interrupt("?")?;
        Ok(Count::update().n(count.n + more))
    };
    looping(|graph| graph.node("step", ask))
}

/// So many questions on a thread of a fresh memory store, each answered with 1.
pub(crate) async fn trips(runner: &Runner<Count>, trips: u64) {
    let thread = runner.clone().store(MemoryStore::new()).thread("t");
    let mut end = thread.run(Count::update().limit(trips)).await.expect("it pauses");
    for _ in 0..trips {
        assert_eq!(end.status, Status::Paused);
        end = thread.resume(1).await.expect("it goes on");
    }
    assert_eq!((end.status, end.state.n), (Status::Done, trips));
}
