//! Executed paths: one with every mark for the small hotel, and hostile ones from a fixed seed.

use graph_engine::{EdgeKind, ExecutedPath, START, Topology};

use super::names::{SplitMix, hostile_name};

/// A turn of the small hotel with everything that a path can say: retries, rejections, a move that nobody declared, a
/// node of another version, a failure, a join that still waits.
pub(crate) fn hotel() -> ExecutedPath {
    let mut path = ExecutedPath::new();
    path.take(START, "explore_agent", EdgeKind::Static, 1);
    path.take("explore_agent", "explore_tools", EdgeKind::Go, 2);
    path.take("explore_tools", "explore_agent", EdgeKind::Static, 2);
    path.take("explore_agent", "explore_gate", EdgeKind::Static, 3);
    path.take("explore_gate", "explore_agent", EdgeKind::Stay, 2);
    path.take("explore_gate", "present", EdgeKind::Go, 1);
    path.take("present", "present", EdgeKind::Stay, 1);
    path.take("present", "pay", EdgeKind::Go, 1);
    path.take("present", "upsell", EdgeKind::FanOut, 2);
    path.take("pay", "confirm", EdgeKind::Static, 1);
    path.take("pay", "receipt", EdgeKind::Static, 1);
    path.take("receipt", "notify", EdgeKind::Join, 1);
    for (node, visits) in [("explore_agent", 5), ("explore_tools", 2), ("present", 2), ("pay", 1), ("receipt", 1)] {
        path.visit(node).visits = visits;
    }
    let gate = path.visit("explore_gate");
    (gate.visits, gate.rejections) = (3, 2);
    let tools = path.visit("explore_tools");
    tools.failures = 1;
    let confirm = path.visit("confirm");
    (confirm.visits, confirm.failures, confirm.failed) = (1, 3, true);
    path.visit("notify").waiting = true;
    path.visit("upsell").visits = 2;
    path
}

/// A path over any graph that takes declared edges and others, and names one node that the graph doesn't have.
pub(crate) fn hostile_path(random: &mut SplitMix, graph: &Topology) -> ExecutedPath {
    let mut path = ExecutedPath::new();
    let stranger = format!("?{}", hostile_name(random));
    let nodes: Vec<&str> = graph.nodes.iter().map(|node| &*node.name).chain([&*stranger]).collect();
    for edge in &graph.edges {
        path.take(&edge.from, &edge.to, edge.kind, random.below(4) as u64);
    }
    for _ in 0..random.below(4) {
        let kind = random.pick(&[EdgeKind::Static, EdgeKind::Go, EdgeKind::FanOut, EdgeKind::Error]);
        path.take(random.pick(&nodes), random.pick(&nodes), kind, 1 + random.below(1_000) as u64);
    }
    for node in nodes {
        let visit = path.visit(node);
        visit.visits = random.below(3) as u64;
        visit.failures = random.below(3) as u64;
        visit.rejections = random.below(3) as u64;
        visit.failed = random.below(3) == 0;
        visit.waiting = random.below(3) == 0;
    }
    path
}
