//! Makes a graph and its environment from a seed: blocks that are chained, then odd edges, policies and tempers.

mod blocks;
mod decorate;

use super::plan::{GraphPlan, NAMES, NodePlan, RouterPlan, SeedPlan, Target};
use super::rng::Rng;

/// A graph that grows. Nodes are numbered in the order in which the graph flows; names come last.
#[derive(Debug)]
struct Sketch {
    rng: Rng,
    graph: GraphPlan,
    /// Nodes that lead to whatever comes next.
    open: Vec<usize>,
    /// Its nodes take time, and its turns are dropped.
    crashes: bool,
}

/// What the seed stands for.
#[must_use]
pub(super) fn generate(seed: u64) -> SeedPlan {
    let mut rng = Rng::of(&[seed, 1]);
    let crashes = rng.percent(14);
    let mut sketch = Sketch { rng, graph: GraphPlan::default(), open: Vec::new(), crashes };
    let size = 2 + sketch.rng.below(NAMES.len() - 2);
    while sketch.graph.nodes.len() < size {
        sketch.block(NAMES.len() - sketch.graph.nodes.len());
    }
    sketch.end();
    sketch.odd_edges();
    sketch.policies();
    let Sketch { mut rng, graph, .. } = sketch;
    let graph = renamed(&graph, &mut rng);
    decorate::environment(seed, graph, crashes, &mut rng)
}

impl Sketch {
    /// One more node, to which everything open leads.
    fn node(&mut self) -> usize {
        let at = self.add();
        self.link(at);
        self.open = vec![at];
        at
    }

    /// One more node to which nothing leads yet.
    fn add(&mut self) -> usize {
        let at = self.graph.nodes.len();
        self.graph.nodes.push(NodePlan { order: at, eager: 35, ..NodePlan::default() });
        at
    }

    /// Everything open leads to this node.
    fn link(&mut self, to: usize) {
        if self.open.is_empty() {
            self.graph.start.push(to);
        }
        for from in self.open.clone() {
            self.edge(from, Some(to));
        }
    }

    fn edge(&mut self, from: usize, to: Target) {
        let node = &mut self.graph.nodes[from];
        match (&mut node.router, to) {
            (Some(router), Some(to)) => router.b = to,
            (Some(_), None) => {}
            (None, to) => {
                if !node.edges.contains(&to) {
                    node.edges.push(to);
                }
            }
        }
    }

    /// Branches that are still open end.
    fn end(&mut self) {
        for from in std::mem::take(&mut self.open) {
            if self.rng.percent(80) {
                self.edge(from, None);
            }
        }
    }
}

/// The same graph with names in another order than it flows, so that merge order is independent of it.
fn renamed(graph: &GraphPlan, rng: &mut Rng) -> GraphPlan {
    let count = graph.nodes.len();
    let mut name: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        name.swap(at, rng.below(at + 1));
    }
    let all = |old: &[usize]| old.iter().map(|at| name[*at]).collect::<Vec<_>>();
    let mut nodes = vec![NodePlan::default(); count];
    for (at, node) in graph.nodes.iter().enumerate() {
        let router = node.router.map(|router| RouterPlan { a: name[router.a], b: name[router.b], ..router });
        let edges = node.edges.iter().map(|to| to.map(|to| name[to])).collect();
        nodes[name[at]] = NodePlan {
            edges,
            router,
            commands: all(&node.commands),
            on_error: node.on_error.map(|to| name[to]),
            ..node.clone()
        };
    }
    let mut renamed = GraphPlan { nodes, start: all(&graph.start), ..graph.clone() };
    for join in &mut renamed.joins {
        (join.sources, join.to) = (all(&join.sources), name[join.to]);
    }
    for cluster in &mut renamed.clusters {
        cluster.entry = name[cluster.entry];
    }
    renamed
}
