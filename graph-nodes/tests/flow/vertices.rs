//! A stage is a cluster of vertices that everybody sees.

use graph_engine::NodeKind;
use graph_nodes::flow::{Compaction, Stage};
use graph_nodes::model::ScriptedModel;

use crate::support::{Trip, flow, noted};

#[test]
fn a_stage_is_a_cluster_of_visible_vertices() {
    let compaction = Compaction::new(ScriptedModel::new([]));
    let graph = flow()
        .stage(noted("explore", "bye").compaction(compaction))
        .stage(Stage::end("bye", |_: &Trip| "Bye.".into()))
        .build()
        .unwrap();
    let topology = graph.topology();
    let vertices: Vec<(&str, NodeKind)> =
        topology.nodes.iter().map(|vertex| (vertex.name.as_str(), vertex.kind)).collect();
    assert_eq!(
        vertices,
        [
            ("bye", NodeKind::Plain),
            ("bye_end", NodeKind::Plain),
            ("explore", NodeKind::Plain),
            ("explore_agent", NodeKind::Agent),
            ("explore_compact", NodeKind::Plain),
            ("explore_gate", NodeKind::Gate),
            ("explore_tools", NodeKind::Tools),
        ],
    );
    let clusters: Vec<(&str, &str, usize)> = topology
        .clusters
        .iter()
        .map(|cluster| (cluster.name.as_str(), cluster.entry.as_str(), cluster.members.len()))
        .collect();
    assert_eq!(clusters, [("bye", "bye_end", 2), ("explore", "explore_agent", 5)]);
    assert!(graph.warnings().is_empty(), "{:?}", graph.warnings());
}
