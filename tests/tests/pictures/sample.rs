//! A small hotel with every kind of node and of edge, and a cluster in a cluster.

use graph_engine::{Cluster, END, Edge, EdgeKind, NodeKind, START, Topology, Vertex};

pub(crate) fn hotel() -> Topology {
    let mut nodes = vec![
        Vertex::new("explore_agent", NodeKind::Agent),
        Vertex::new("explore_tools", NodeKind::Tools),
        Vertex::new("explore_gate", NodeKind::Gate),
        Vertex::new("present", NodeKind::Agent),
        Vertex::new("book", NodeKind::Human),
        Vertex::new("pay", NodeKind::Plain),
        Vertex::new("confirm", NodeKind::Plain),
        Vertex::new("receipt", NodeKind::Plain),
        Vertex::new("notify", NodeKind::Plain),
    ];
    nodes[3].dynamic = true;
    nodes[8].deferred = true;
    let edges = vec![
        Edge::new(START, "explore_agent", EdgeKind::Static),
        Edge::new("explore_agent", "explore_tools", EdgeKind::Go).labelled("calls"),
        Edge::new("explore_tools", "explore_agent", EdgeKind::Static),
        Edge::new("explore_agent", "explore_gate", EdgeKind::Static),
        Edge::new("explore_gate", "explore_agent", EdgeKind::Stay),
        Edge::new("explore_gate", "present", EdgeKind::Go),
        Edge::new("explore_gate", END, EdgeKind::Direct),
        Edge::new("present", "present", EdgeKind::Stay).labelled("no [city]"),
        Edge::new("present", "book", EdgeKind::Go),
        Edge::new("book", "pay", EdgeKind::FanOut),
        Edge::new("book", "nowhere", EdgeKind::Go),
        Edge::new("pay", "confirm", EdgeKind::Static),
        Edge::new("pay", "receipt", EdgeKind::Static),
        Edge::new("confirm", "notify", EdgeKind::Join),
        Edge::new("receipt", "notify", EdgeKind::Join),
        Edge::new("notify", END, EdgeKind::Finish),
    ];
    let mut payment = Cluster::new("payment", "pay", ["pay", "confirm", "receipt"]);
    payment.parent = Some("checkout".into());
    let clusters = vec![
        Cluster::new("explore", "explore_agent", ["explore_agent", "explore_tools", "explore_gate"]),
        Cluster::new("checkout", "book", ["book", "notify"]),
        payment,
    ];
    Topology::new("hotel", nodes, edges, clusters)
}
