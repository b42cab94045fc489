//! What a reader of a diagram should see.

use std::collections::BTreeMap;

use graph_engine::{END, START, Topology};

/// The labels of a diagram by id, and its edges with their labels in a fixed order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Not in Mermaid, where it is a comment.
    pub(crate) name: String,
    pub(crate) nodes: BTreeMap<String, String>,
    pub(crate) clusters: BTreeMap<String, String>,
    pub(crate) edges: Vec<(String, String, String)>,
}

impl Picture {
    pub(crate) fn in_graphviz(topology: &Topology) -> Self {
        let mut picture = Self::of(topology, "cluster_", ["", ""]);
        picture.name = Topology::visible(&topology.name).into_owned();
        picture
    }

    pub(crate) fn in_mermaid(topology: &Topology) -> Self {
        Self::of(topology, "c", ["start", "end"])
    }

    /// For a graph of which all edges but the first static ones are labelled.
    fn of(topology: &Topology, cluster: &str, [start, end]: [&str; 2]) -> Self {
        let mut picture = Self::default();
        let mut ids = BTreeMap::from([(START, "start".to_owned()), (END, "done".to_owned())]);
        picture.nodes.insert("start".to_owned(), start.to_owned());
        picture.nodes.insert("done".to_owned(), end.to_owned());
        for (index, node) in topology.nodes.iter().enumerate() {
            ids.insert(&node.name, format!("n{index}"));
            let deferred = if node.deferred { "\n(deferred)" } else { "" };
            picture.nodes.insert(format!("n{index}"), format!("{}{deferred}", Topology::visible(&node.name)));
            if node.dynamic {
                picture.nodes.insert(format!("q{index}"), "?".to_owned());
                picture.edges.push((format!("n{index}"), format!("q{index}"), String::new()));
            }
        }
        for (index, group) in topology.clusters.iter().enumerate() {
            picture.clusters.insert(format!("{cluster}{index}"), Topology::visible(&group.name).into_owned());
        }
        for edge in &topology.edges {
            if !ids.contains_key(edge.to.as_str()) {
                ids.insert(&edge.to, "u0".to_owned());
                picture.nodes.insert("u0".to_owned(), Topology::visible(&edge.to).into_owned());
            }
            let label = edge.label.as_deref().map(Topology::visible).unwrap_or_default().into_owned();
            picture.edges.push((ids[edge.from.as_str()].clone(), ids[edge.to.as_str()].clone(), label));
        }
        picture.edges.sort();
        picture
    }
}
