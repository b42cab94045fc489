//! Which nodes ran and which edges were taken, for turns that record their path.

use std::collections::BTreeMap;

use crate::edge_kind::EdgeKind;
use crate::executed::ExecutedPath;
use crate::graph::Inner;
use crate::state::State;
use crate::task::{END, NodeIx, START};

/// Counters by index. START is no node as a source, END is none as a target.
#[derive(Default)]
pub(super) struct Trace {
    nodes: BTreeMap<NodeIx, Counts>,
    edges: BTreeMap<(Option<NodeIx>, Option<NodeIx>, EdgeKind), u64>,
}

#[derive(Default)]
struct Counts {
    visits: u64,
    failures: u64,
    rejections: u64,
}

impl Trace {
    pub(super) fn visit(&mut self, node: NodeIx) {
        self.nodes.entry(node).or_default().visits += 1;
    }

    pub(super) fn fail(&mut self, node: NodeIx) {
        self.nodes.entry(node).or_default().failures += 1;
    }

    pub(super) fn take(&mut self, from: Option<NodeIx>, to: Option<NodeIx>, kind: EdgeKind) {
        *self.edges.entry((from, to, kind)).or_default() += 1;
        if let (Some(from), EdgeKind::Stay) = (from, kind) {
            self.nodes.entry(from).or_default().rejections += 1;
        }
    }

    pub(super) fn path<S: State>(&self, graph: &Inner<S>) -> ExecutedPath {
        let mut path = ExecutedPath::new();
        for (node, counts) in &self.nodes {
            let visit = path.visit(graph.name_of(*node));
            (visit.visits, visit.failures, visit.rejections) = (counts.visits, counts.failures, counts.rejections);
        }
        for ((from, to, kind), count) in &self.edges {
            let from = from.map_or(START, |node| graph.name_of(node).as_str());
            let to = to.map_or(END, |node| graph.name_of(node).as_str());
            path.take(from, to, *kind, *count);
        }
        path
    }
}
