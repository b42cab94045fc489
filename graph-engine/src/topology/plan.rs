//! Ids and the order of drawing, the same in every language.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::overlay::{Mark, Overlay, Use};
use super::{Cluster, Topology, Vertex};
use crate::edge_kind::EdgeKind;
use crate::executed::ExecutedPath;
use crate::name::{NameIndex, Place};
use crate::task::{END, START};

/// What a name is called inside a file: never the name itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Start,
    End,
    Node(u32),
    /// Something that an edge, a cluster or a path names, but that is no node.
    Unknown(u32),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::End => f.write_str("done"),
            Self::Node(index) => write!(f, "n{index}"),
            Self::Unknown(index) => write!(f, "u{index}"),
        }
    }
}

/// One line of a file, before the edges.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Start,
    End,
    Node(usize, &'a Vertex),
    Unknown(usize, &'a str),
    Open(usize, &'a Cluster),
    Close,
}

/// One edge of a picture.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) from: Id,
    pub(super) to: Id,
    pub(super) kind: EdgeKind,
    /// What is written beside it.
    pub(super) words: Option<&'a str>,
    pub(super) used: Use,
}

/// A topology with an id for every name. Made in time linear in the topology.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    topology: &'a Topology,
    nodes: NameIndex<u32>,
    /// What is named but no node, sorted.
    unknown: Vec<&'a str>,
    /// Where each edge begins and leads.
    ends: Vec<(Id, Id)>,
    start: bool,
    end: bool,
    overlay: Option<Overlay<'a>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(topology: &'a Topology, path: Option<&'a ExecutedPath>) -> Self {
        let overlay = path.map(Overlay::new);
        let nodes = NameIndex::new(topology.nodes.len(), |at| &*topology.nodes[at].name);
        let (ends, unknown) = (Vec::with_capacity(topology.edges.len()), Vec::new());
        let mut plan = Self { topology, nodes, unknown, ends, start: false, end: false, overlay };
        let mut unknown = BTreeSet::new();
        for edge in &topology.edges {
            let ends = (plan.meet(&edge.from, &mut unknown), plan.meet(&edge.to, &mut unknown));
            plan.ends.push(ends);
        }
        for cluster in &topology.clusters {
            for name in cluster.members.iter().chain([&cluster.entry]) {
                plan.meet(name, &mut unknown);
            }
        }
        let walked: Vec<&str> = plan.overlay.iter().flat_map(Overlay::names).collect();
        for name in walked {
            plan.meet(name, &mut unknown);
        }
        if !unknown.is_empty() {
            // Now that all of them are known, each has its number.
            plan.unknown = unknown.into_iter().collect();
            let ends = topology.edges.iter().map(|edge| (plan.id(&edge.from), plan.id(&edge.to)));
            plan.ends = ends.collect();
        }
        plan
    }

    /// The id of a name that stands in the topology or on the path. What is no node is noted.
    fn meet(&mut self, name: &'a str, unknown: &mut BTreeSet<&'a str>) -> Id {
        let id = self.id(name);
        match id {
            Id::Start => self.start = true,
            Id::End => self.end = true,
            Id::Node(_) => {}
            Id::Unknown(_) => {
                unknown.insert(name);
            }
        }
        id
    }

    fn id(&self, name: &str) -> Id {
        match self.nodes.get(name, |at| &*self.topology.nodes[at].name) {
            Some(at) => Id::Node(*at),
            None if name == START => Id::Start,
            None if name == END => Id::End,
            None => Id::Unknown(u32::from_index(self.unknown.binary_search(&name).unwrap_or_else(|at| at))),
        }
    }

    /// Everything but the edges: first what is in no cluster, then the clusters, each with its nodes before its
    /// clusters. Every node and every cluster is drawn exactly once, whatever the topology says.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'a>> {
        let (nodes, clusters) = (&self.topology.nodes, &self.topology.clusters);
        let mut free_nodes = vec![true; nodes.len()];
        let mut free_unknown = vec![true; self.unknown.len()];
        let mut content: Vec<Vec<Step<'a>>> = Vec::with_capacity(clusters.len());
        for cluster in clusters {
            let mut inside = Vec::new();
            for name in &cluster.members {
                match self.id(name) {
                    Id::Node(index) if std::mem::take(&mut free_nodes[index.index()]) => {
                        inside.push(Step::Node(index.index(), &nodes[index.index()]));
                    }
                    Id::Unknown(index) if std::mem::take(&mut free_unknown[index.index()]) => {
                        inside.push(Step::Unknown(index.index(), self.unknown[index.index()]));
                    }
                    _ => {}
                }
            }
            content.push(inside);
        }
        let ends = self.start.then_some(Step::Start).into_iter().chain(self.end.then_some(Step::End));
        let free = nodes.iter().enumerate().zip(free_nodes).filter(|(_, is_free)| *is_free);
        let free_nodes = free.map(|((index, node), _)| Step::Node(index, node));
        let free = self.unknown.iter().enumerate().zip(free_unknown).filter(|(_, is_free)| *is_free);
        let free_unknown = free.map(|((index, name), _)| Step::Unknown(index, name));
        ends.chain(free_nodes).chain(free_unknown).chain(self.nest(content))
    }

    /// Walks the tree of clusters without recursion. A cluster whose parent is unknown, and one cluster of each ring
    /// of parents, stand at the top.
    fn nest(&self, content: Vec<Vec<Step<'a>>>) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        let clusters = &self.topology.clusters;
        let mut by_name = BTreeMap::new();
        for (index, cluster) in clusters.iter().enumerate() {
            by_name.entry(&cluster.name).or_insert(index);
        }
        let mut children = vec![Vec::new(); clusters.len()];
        let mut order = Vec::with_capacity(clusters.len());
        for (index, cluster) in clusters.iter().enumerate() {
            match cluster.parent.as_ref().and_then(|parent| by_name.get(parent)) {
                Some(&parent) => children[parent].push(index),
                None => order.push(index),
            }
        }
        order.extend(0..clusters.len());

        let mut content: Vec<_> = content.into_iter().map(Some).collect();
        for root in order {
            let mut open = vec![Some(root)];
            while let Some(next) = open.pop() {
                let Some(index) = next else {
                    steps.push(Step::Close);
                    continue;
                };
                let Some(inside) = content[index].take() else { continue };
                steps.push(Step::Open(index, &clusters[index]));
                steps.extend(inside);
                open.push(None);
                open.extend(children[index].iter().rev().copied().map(Some));
            }
        }
        steps
    }

    /// All declared edges, then those that were taken although nobody declared them.
    ///
    /// A path knows no labels: of edges that differ only in their label each shows what was counted for all of them.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'a>> {
        let topology = self.topology;
        let declared = topology.edges.iter().zip(&self.ends).map(|(edge, (from, to))| {
            let unasked = || Use::Unasked;
            let over = |overlay: &Overlay<'a>| overlay.declared(&edge.from, &edge.to, edge.kind);
            let used = self.overlay.as_ref().map_or_else(unasked, over);
            let label = edge.label.as_deref().filter(|label| !label.is_empty());
            Line { from: *from, to: *to, kind: edge.kind, words: label.or(kind_words(edge.kind)), used }
        });
        declared.chain(self.undeclared())
    }

    fn undeclared(&self) -> Vec<Line<'a>> {
        let Some(overlay) = &self.overlay else { return Vec::new() };
        let edges = self.topology.edges.iter();
        let declared: BTreeSet<_> = edges.map(|edge| (edge.from.as_str(), edge.to.as_str(), edge.kind)).collect();
        let taken = overlay.edges().filter(|(from, to, kind, _)| !declared.contains(&(*from, *to, *kind)));
        let line = |(from, to, kind, count)| {
            let (from, to, used) = (self.id(from), self.id(to), Use::Undeclared(count));
            Line { from, to, kind, words: kind_words(kind), used }
        };
        taken.map(line).collect()
    }

    /// What happened at this node. Nothing is known of it without a path.
    pub(super) fn mark(&self, name: &str) -> Mark {
        self.overlay.as_ref().and_then(|overlay| overlay.mark(name)).unwrap_or_default()
    }

    /// Whether a path lies over the picture.
    pub(super) fn is_walked(&self) -> bool {
        self.overlay.is_some()
    }

    /// What the path names, but that is no node.
    pub(super) fn strangers(&self) -> impl Iterator<Item = &'a str> {
        let names = self.overlay.iter().flat_map(Overlay::names);
        names.filter(|name| matches!(self.id(name), Id::Unknown(_)))
    }

    /// The nodes that may lead anywhere.
    pub(super) fn dynamic(&self) -> impl Iterator<Item = usize> {
        self.topology.nodes.iter().enumerate().filter(|(_, node)| node.dynamic).map(|(index, _)| index)
    }

    pub(super) fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }
}

/// What is written beside an edge without a label: what it is. Nothing beside an edge that is always taken.
pub(super) const fn kind_words(kind: EdgeKind) -> Option<&'static str> {
    match kind {
        EdgeKind::Static => None,
        EdgeKind::Join => Some("join"),
        EdgeKind::Go => Some("go"),
        EdgeKind::FanOut => Some("fan out"),
        EdgeKind::Stay => Some("stay"),
        EdgeKind::Direct => Some("direct"),
        EdgeKind::Finish => Some("finish"),
        EdgeKind::Error => Some("error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Edge;

    fn lines(topology: &Topology) -> Vec<String> {
        let line = |step: &Step<'_>| match step {
            Step::Start => "start".to_owned(),
            Step::End => "end".to_owned(),
            Step::Node(_, node) => node.name.to_string(),
            Step::Unknown(_, name) => format!("{name}?"),
            Step::Open(_, cluster) => format!("{} {{", cluster.name),
            Step::Close => "}".to_owned(),
        };
        Plan::new(topology, None).steps().map(|step| line(&step)).collect()
    }

    fn cluster<const N: usize>(name: &str, parent: Option<&str>, members: [&str; N]) -> Cluster {
        let mut cluster = Cluster::new(name, "a", members);
        cluster.parent = parent.map(Into::into);
        cluster
    }

    #[test]
    fn what_only_an_edge_or_a_cluster_names_is_drawn() {
        let nodes = vec![Vertex::new("a", Default::default())];
        let edges = vec![Edge::new("a", "lost", EdgeKind::Go), Edge::new("found", END, EdgeKind::Static)];
        let topology = Topology::new("g", nodes, edges, vec![cluster("c", None, ["member"])]);
        assert_eq!(lines(&topology), ["end", "a", "found?", "lost?", "c {", "member?", "}"]);
        assert_eq!(Plan::new(&topology, None).lines().count(), 2);
    }

    #[test]
    fn a_node_is_drawn_once_even_if_two_clusters_want_it() {
        let nodes = vec![Vertex::new("a", Default::default())];
        let topology =
            Topology::new("g", nodes, vec![], vec![cluster("c", None, ["a"]), cluster("d", None, ["a", "a"])]);
        assert_eq!(lines(&topology), ["c {", "a", "}", "d {", "}"]);
    }

    #[test]
    fn no_cluster_is_lost_in_a_ring_of_parents_or_below_an_unknown_one() {
        let clusters = vec![
            cluster("ring1", Some("ring2"), ["a"]),
            cluster("ring2", Some("ring1"), []),
            cluster("self", Some("self"), []),
            cluster("orphan", Some("nobody"), []),
        ];
        let topology = Topology::new("g", vec![Vertex::new("a", Default::default())], vec![], clusters);
        assert_eq!(lines(&topology), ["orphan {", "}", "ring1 {", "a", "ring2 {", "}", "}", "self {", "}"]);
    }

    #[test]
    fn a_node_may_be_called_like_the_start() {
        let nodes = vec![Vertex::new(START, Default::default())];
        let topology = Topology::new("g", nodes, vec![Edge::new(START, END, EdgeKind::Static)], vec![]);
        assert_eq!(lines(&topology), ["end", START]);
    }

    #[test]
    fn a_file_grows_with_the_topology_and_not_with_its_square() {
        let size = |count: usize| {
            let name = |index: usize| format!("{index:05}");
            let nodes = (0..count).map(|index| Vertex::new(name(index), Default::default())).collect();
            let edges = (0..count).map(|index| Edge::new(name(index), END, EdgeKind::Direct)).collect();
            let parent = |index: usize| index.checked_sub(1).map(name);
            let clusters =
                (0..count).map(|index| cluster(&name(index), parent(index).as_deref(), [&name(index)])).collect();
            let topology = Topology::new("g", nodes, edges, clusters);
            (topology.dot().to_string().len(), topology.mermaid().to_string().len())
        };
        let (small, large) = (size(1_000), size(10_000));
        assert!(large.0 < small.0 * 11 && large.1 < small.1 * 11, "{small:?} {large:?}");
    }
}
