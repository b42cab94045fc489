//! Rows 5 and 6: many tasks at once, by edges and by payloads.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use graph_engine::{
    END, FromTask, Graph, In, Next, Node, NodeError, Outcome, Parallel, Route, Runner, START, State, Task,
};

use crate::Here;
use crate::measure::{Row, Target, Timed, times};
use crate::nodes::{Add, Bare, Count, Rest, bare, name, turn};

/// Source, so many parallel nodes, a join.
fn by_edges(width: u64, parallel: Parallel) -> Runner<Count> {
    let mut builder = Graph::builder("fan").node("source", Rest).node("collect", Rest).edge(START, "source");
    for i in 0..width {
        builder = builder.node(name(i), Add).edge("source", name(i));
    }
    let graph = builder.join((0..width).map(name), "collect").edge("collect", END).compile().expect("compiles");
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
        Ok(Outcome::of(Count::update().sums([*item])))
    }
}

/// Source, a router that sends so many packets to one node, and a node behind it.
fn by_packets(width: u64, parallel: Parallel) -> Runner<Count> {
    let graph = Graph::builder("send")
        .node("source", Rest)
        .node("work", Work)
        .node("collect", Rest)
        .edge(START, "source")
        .route("source", move |_: &Count| Next::fan_out((0..width).map(Each::Work)))
        .edge("work", "collect")
        .edge("collect", END)
        .compile()
        .expect("compiles");
    graph.runner().parallel(parallel).timings(false)
}

fn joined<'a>(here: &'a Here, width: u64, runs: u64) -> Timed<'a> {
    let nodes = bare(width, || Add);
    times(runs, move || {
        let mut count = Count::default();
        here.run(async {
            for update in join_all(nodes.iter().map(|node| Bare::run(&**node, &count))).await {
                count.apply(update);
            }
        });
        assert_eq!(count.sums.len() as u64, width);
    })
}

fn spawned<'a>(here: &'a Here, width: u64, runs: u64) -> Timed<'a> {
    let nodes = bare(width, || Add);
    times(runs, move || {
        let shared = Arc::new(Count::default());
        let mut count = Count::default();
        here.run(async {
            let run = |node: &Arc<dyn Bare>| {
                let (node, shared) = (node.clone(), shared.clone());
                tokio::spawn(async move { Bare::run(&*node, &shared).await })
            };
            let handles: Vec<_> = nodes.iter().map(run).collect();
            for handle in handles {
                count.apply(handle.await.expect("no panic"));
            }
        });
        assert_eq!(count.sums.len() as u64, width);
    })
}

pub(crate) fn rows(here: &Here) {
    let row = |name: &str, unit, target| Row {
        name: name.to_owned(),
        unit,
        units: (100_000, 100_000),
        target: Target::Nanoseconds(target),
    };
    let limit = |parallel| match parallel {
        Parallel::Spawned => spawned(here, 1_000, 100),
        _ => joined(here, 1_000, 100),
    };
    for (label, parallel, target) in [("joined", Parallel::Joined, 450.0), ("spawned", Parallel::Spawned, 700.0)] {
        let (edges, packets) = (by_edges(1_000, parallel), by_packets(1_000, parallel));
        row(&format!("5 fanout:1000, {label}"), "branch", target)
            .pair(limit(parallel), times(100, || turn(here, &edges)));
        row(&format!("6 send:1000, {label}"), "packet", target)
            .pair(limit(parallel), times(100, || turn(here, &packets)));
    }
}

pub(crate) fn laws(here: &Here) {
    for (label, parallel) in [("joined", Parallel::Joined), ("spawned", Parallel::Spawned)] {
        let (narrow, wide) = (by_edges(10, parallel), by_edges(1_000, parallel));
        let name = format!("width: fanout 10, 1000, {label}");
        Row { name, unit: "branch", units: (20_000, 20_000), target: Target::Ratio(1.0) }
            .pair(times(2_000, || turn(here, &narrow)), times(20, || turn(here, &wide)));
    }
}
