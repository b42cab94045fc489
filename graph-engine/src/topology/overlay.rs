//! What an executed path says about each node and each edge of a picture.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::edge_kind::EdgeKind;
use crate::executed::ExecutedPath;
use crate::name::Name;
use crate::task::{END, START};

use super::Topology;

/// What happened at one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    visits: u64,
    failures: u64,
    rejections: u64,
    failed: bool,
    waiting: bool,
}

/// The colour of a node that needs attention. What failed is never hidden behind what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    Failed,
    Waiting,
}

impl Mark {
    pub(super) fn alarm(self) -> Option<Alarm> {
        if self.failed { Some(Alarm::Failed) } else { self.waiting.then_some(Alarm::Waiting) }
    }

    /// How often its tasks ran, as it is written behind a name.
    pub(super) fn visits(self) -> Times {
        Times(self.visits)
    }

    /// What else there is to say, in words: a picture is also read without its colours.
    pub(super) fn details(self) -> String {
        let mut details = Vec::new();
        if self.rejections > 0 {
            details.push(format!("{} rejected", self.rejections));
        }
        match self.failures {
            0 => {}
            1 => details.push("1 failure".to_owned()),
            failures => details.push(format!("{failures} failures")),
        }
        if self.failed {
            details.push("failed".to_owned());
        }
        if self.waiting {
            details.push("waiting".to_owned());
        }
        details.join(", ")
    }
}

/// ` x3`, or nothing for zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times(pub(super) u64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, " x{}", self.0) } else { Ok(()) }
    }
}

/// How an edge was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// There is no path over the picture.
    Unasked,
    NotTaken,
    Taken(u64),
    /// Taken, but the topology has no such edge.
    Undeclared(u64),
}

impl Use {
    pub(super) fn count(self) -> Times {
        match self {
            Self::Unasked | Self::NotTaken => Times(0),
            Self::Taken(count) | Self::Undeclared(count) => Times(count),
        }
    }
}

/// An executed path, ready to be looked up. Its lists are public, so they may be in any order and name things twice.
#[derive(Debug, Default)]
pub(super) struct Overlay<'a> {
    marks: BTreeMap<&'a str, Mark>,
    edges: BTreeMap<(&'a str, &'a str, EdgeKind), u64>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(path: &'a ExecutedPath) -> Self {
        let mut overlay = Self::default();
        for visit in &path.nodes {
            let mark = overlay.marks.entry(&visit.node).or_default();
            mark.visits = mark.visits.saturating_add(visit.visits);
            mark.failures = mark.failures.saturating_add(visit.failures);
            mark.rejections = mark.rejections.saturating_add(visit.rejections);
            mark.failed |= visit.failed;
            mark.waiting |= visit.waiting;
        }
        for taken in path.edges.iter().filter(|taken| taken.count > 0) {
            let count = overlay.edges.entry((&taken.from, &taken.to, taken.kind)).or_default();
            *count = count.saturating_add(taken.count);
        }
        overlay
    }

    pub(super) fn mark(&self, name: &str) -> Option<Mark> {
        self.marks.get(name).copied()
    }

    pub(super) fn declared(&self, from: &str, to: &str, kind: EdgeKind) -> Use {
        self.edges.get(&(from, to, kind)).map_or(Use::NotTaken, |count| Use::Taken(*count))
    }

    /// All taken edges in their order.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&'a str, &'a str, EdgeKind, u64)> {
        self.edges.iter().map(|((from, to, kind), count)| (*from, *to, *kind, *count))
    }

    /// Everything that the path names, in order.
    pub(super) fn names(&self) -> BTreeSet<&'a str> {
        let ends = self.edges.keys().flat_map(|(from, to, _)| [*from, *to]);
        self.marks.keys().copied().chain(ends).collect()
    }
}

impl Topology {
    /// The names on a path that are no nodes of this topology, sorted: the path is of another graph, or of another
    /// version of this one. A picture shows them all the same, dotted, and names them in comments.
    ///
    /// ```
    /// use graph_engine::{EdgeKind, ExecutedPath, NodeKind, START, Topology, Vertex};
    ///
    /// let topology = Topology::new("trip", vec![Vertex::new("explore", NodeKind::Agent)], vec![], vec![]);
    /// let mut path = ExecutedPath::new();
    /// path.take(START, "explore", EdgeKind::Static, 1);
    /// path.take("explore", "book", EdgeKind::Go, 1);
    /// assert_eq!(topology.strangers(&path), ["book"]);
    /// ```
    #[must_use]
    pub fn strangers(&self, path: &ExecutedPath) -> Vec<Name> {
        let known: BTreeSet<&str> = self.nodes.iter().map(|node| &*node.name).chain([START, END]).collect();
        Overlay::new(path).names().difference(&known).map(|name| Name::from(*name)).collect()
    }
}
