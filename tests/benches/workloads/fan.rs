//! `fanout` and `send`: many tasks at once, by edges and by packets.

use async_trait::async_trait;
use graph_engine::{END, FromTask, Graph, In, Next, Node, NodeError, Outcome, Parallel, Route, Runner, START, Task};

use super::count::{Count, Emit, Noop};

/// Source, so many parallel nodes that append their numbers, a join.
pub(crate) fn by_edges(width: u64, parallel: Parallel) -> Runner<Count> {
    let mut builder = Graph::builder("fanout").node("src", Noop).node("join", Noop).edge(START, "src");
    for i in 0..width {
        builder = builder.node(format!("w{i}"), Emit(i)).edge("src", format!("w{i}"));
    }
    let names = (0..width).map(|i| format!("w{i}"));
    let graph = builder.join(names, "join").edge("join", END).compile().expect("compiles");
    graph.runner().parallel(parallel).timings(false)
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

/// Source, a router that sends so many packets to one node, and a node behind it.
pub(crate) fn by_packets(width: u64, parallel: Parallel) -> Runner<Count> {
    let graph = Graph::builder("send")
        .node("src", Noop)
        .node("work", Work)
        .node("join", Noop)
        .edge(START, "src")
        .route("src", move |_: &Count| Next::fan_out((0..width).map(Each::Work)))
        .edge("work", "join")
        .edge("join", END)
        .compile()
        .expect("compiles");
    graph.runner().parallel(parallel).timings(false)
}
