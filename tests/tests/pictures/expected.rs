//! What a reader of a diagram should see.

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::{END, EdgeKind, ExecutedPath, START, Topology};

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
    pub(crate) fn in_graphviz(topology: &Topology, path: Option<&ExecutedPath>) -> Self {
        let mut picture = Self::of(topology, path, "cluster_", ["", ""]);
        picture.name = Topology::visible(&topology.name).into_owned();
        picture
    }

    pub(crate) fn in_mermaid(topology: &Topology, path: Option<&ExecutedPath>) -> Self {
        Self::of(topology, path, "c", ["start", "end"])
    }

    /// For a graph of which all edges but the first static ones are labelled, and a path that visits neither the start
    /// nor the end.
    fn of(topology: &Topology, path: Option<&ExecutedPath>, cluster: &str, [start, end]: [&str; 2]) -> Self {
        let mut picture = Self::default();
        let mut ids = BTreeMap::from([(START, "start".to_owned()), (END, "done".to_owned())]);
        picture.nodes.insert("start".to_owned(), start.to_owned());
        picture.nodes.insert("done".to_owned(), end.to_owned());
        for (index, node) in topology.nodes.iter().enumerate() {
            ids.insert(&node.name, format!("n{index}"));
            let deferred = if node.deferred { "\n(deferred)" } else { "" };
            picture.nodes.insert(format!("n{index}"), label(path, &node.name, deferred));
            if node.dynamic {
                picture.nodes.insert(format!("q{index}"), "?".to_owned());
                picture.edges.push((format!("n{index}"), format!("q{index}"), String::new()));
            }
        }
        for (index, group) in topology.clusters.iter().enumerate() {
            picture.clusters.insert(format!("{cluster}{index}"), Topology::visible(&group.name).into_owned());
        }
        let walked = path.into_iter().flat_map(|path| {
            let ends = path.edges.iter().flat_map(|taken| [&*taken.from, &*taken.to]);
            path.nodes.iter().map(|visit| &*visit.node).chain(ends)
        });
        let named = topology.edges.iter().map(|edge| &*edge.to).chain(walked);
        let unknown: BTreeSet<&str> = named.filter(|name| !ids.contains_key(name)).collect();
        for (index, name) in unknown.into_iter().enumerate() {
            ids.insert(name, format!("u{index}"));
            picture.nodes.insert(format!("u{index}"), label(path, name, ""));
        }
        for edge in &topology.edges {
            let words = edge.label.as_deref().map(Topology::visible).unwrap_or_default();
            let taken = path.into_iter().flat_map(|path| &path.edges);
            let mut taken =
                taken.filter(|taken| (&taken.from, &taken.to, taken.kind) == (&edge.from, &edge.to, edge.kind));
            let words = counted(&words, taken.next().map_or(0, |taken| taken.count));
            picture.edges.push((ids[&*edge.from].clone(), ids[&*edge.to].clone(), words));
        }
        for taken in path.into_iter().flat_map(|path| &path.edges) {
            let same =
                |edge: &&graph_engine::Edge| (&taken.from, &taken.to, taken.kind) == (&edge.from, &edge.to, edge.kind);
            if topology.edges.iter().find(same).is_none() {
                let words = match taken.kind {
                    EdgeKind::Static => "",
                    EdgeKind::FanOut => "fan out",
                    EdgeKind::Error => "error",
                    _ => "go",
                };
                let words = counted(words, taken.count);
                picture.edges.push((ids[&*taken.from].clone(), ids[&*taken.to].clone(), words));
            }
        }
        picture.edges.sort();
        picture
    }
}

/// The name of a node, how often it ran, whether it is deferred, and what else happened at it.
fn label(path: Option<&ExecutedPath>, name: &str, deferred: &str) -> String {
    let visible = Topology::visible(name);
    let Some(visit) = path.and_then(|path| path.nodes.iter().find(|visit| visit.node == name)) else {
        return format!("{visible}{deferred}");
    };
    let visits = if visit.visits > 0 { format!(" x{}", visit.visits) } else { String::new() };
    let details = [
        (visit.rejections > 0).then(|| format!("{} rejected", visit.rejections)),
        (visit.failures == 1).then(|| "1 failure".to_owned()),
        (visit.failures > 1).then(|| format!("{} failures", visit.failures)),
        visit.failed.then(|| "failed".to_owned()),
        visit.waiting.then(|| "waiting".to_owned()),
    ];
    let details: Vec<String> = details.into_iter().flatten().collect();
    let newline = if details.is_empty() { "" } else { "\n" };
    format!("{visible}{visits}{deferred}{newline}{}", details.join(", "))
}

fn counted(words: &str, count: u64) -> String {
    match (words, count) {
        (words, 0) => words.to_owned(),
        ("", count) => format!("x{count}"),
        (words, count) => format!("{words} x{count}"),
    }
}
