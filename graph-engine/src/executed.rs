//! Where turns really went: what is drawn over the declared shape.

use serde::{Deserialize, Serialize};

use crate::edge_kind::EdgeKind;
use crate::name::Name;

/// The nodes that ran and the edges that were taken, by name, in one turn or in several.
///
/// Read from JSON it is put in order, and what is named twice is counted together.
///
/// ```
/// use graph_engine::{EdgeKind, ExecutedPath, START};
///
/// let mut path = ExecutedPath::new();
/// path.take(START, "explore", EdgeKind::Static, 1);
/// path.visit("explore").visits += 1;
/// assert_eq!(path.nodes[0].node, "explore");
/// assert_eq!(path.edges[0].count, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Unordered")]
#[non_exhaustive]
pub struct ExecutedPath {
    /// What happened at each node, sorted by name.
    pub nodes: Vec<Visit>,
    /// What happened on each edge, sorted by (from, to, kind).
    pub edges: Vec<Taken>,
}

/// What happened at one node.
///
/// ```
/// use graph_engine::ExecutedPath;
///
/// let mut path = ExecutedPath::new();
/// let visit = path.visit("gate");
/// visit.visits = 3;
/// visit.rejections = 2;
/// assert!(!visit.failed);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Visit {
    /// The node.
    pub node: Name,
    /// Tasks that ran.
    #[serde(default)]
    pub visits: u64,
    /// Attempts that failed.
    #[serde(default)]
    pub failures: u64,
    /// Stays that it asked for.
    #[serde(default)]
    pub rejections: u64,
    /// It failed for good and stopped the turn.
    #[serde(default)]
    pub failed: bool,
    /// It would run next, or a join to it still waits.
    #[serde(default)]
    pub waiting: bool,
}

/// How often one edge was taken.
///
/// ```
/// use graph_engine::{EdgeKind, ExecutedPath};
///
/// let mut path = ExecutedPath::new();
/// path.take("gate", "agent", EdgeKind::Stay, 2);
/// path.take("gate", "agent", EdgeKind::Stay, 1);
/// assert_eq!((path.edges.len(), path.edges[0].count), (1, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Taken {
    /// Where it begins.
    pub from: Name,
    /// Where it leads.
    pub to: Name,
    /// What it is.
    pub kind: EdgeKind,
    /// How often it was taken.
    pub count: u64,
}

impl ExecutedPath {
    /// A path on which nothing happened.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What happened at this node, to be added to. A node that isn't there yet is put in its place.
    pub fn visit(&mut self, node: impl Into<Name>) -> &mut Visit {
        let node = node.into();
        let index = match self.nodes.binary_search_by(|visit| visit.node.cmp(&node)) {
            Ok(index) => index,
            Err(index) => {
                self.nodes.insert(index, Visit { node, ..Visit::default() });
                index
            }
        };
        &mut self.nodes[index]
    }

    /// Counts an edge as taken so many times more. Zero times leaves no trace.
    ///
    /// [`START`](crate::START) and [`END`](crate::END) are names like others.
    pub fn take(&mut self, from: impl Into<Name>, to: impl Into<Name>, kind: EdgeKind, count: u64) {
        if count == 0 {
            return;
        }
        let (from, to) = (from.into(), to.into());
        let place = self.edges.binary_search_by(|taken| {
            taken.from.cmp(&from).then_with(|| taken.to.cmp(&to)).then_with(|| taken.kind.cmp(&kind))
        });
        match place {
            Ok(index) => {
                let taken = &mut self.edges[index];
                taken.count = taken.count.saturating_add(count);
            }
            Err(index) => self.edges.insert(index, Taken { from, to, kind, count }),
        }
    }

    /// Adds a later turn: counts are summed, while what failed or waits is only what failed or waits at its end.
    ///
    /// ```
    /// use graph_engine::ExecutedPath;
    ///
    /// let (mut first, mut second) = (ExecutedPath::new(), ExecutedPath::new());
    /// first.visit("pay").visits = 1;
    /// first.visit("pay").failed = true;
    /// second.visit("pay").visits = 1;
    /// first.add(&second);
    /// assert_eq!((first.nodes[0].visits, first.nodes[0].failed), (2, false));
    /// ```
    pub fn add(&mut self, other: &Self) {
        for visit in &mut self.nodes {
            (visit.failed, visit.waiting) = (false, false);
        }
        self.count(&other.nodes, &other.edges);
    }

    fn count(&mut self, nodes: &[Visit], edges: &[Taken]) {
        for more in nodes {
            let visit = self.visit(&more.node);
            visit.visits = visit.visits.saturating_add(more.visits);
            visit.failures = visit.failures.saturating_add(more.failures);
            visit.rejections = visit.rejections.saturating_add(more.rejections);
            visit.failed |= more.failed;
            visit.waiting |= more.waiting;
        }
        for more in edges {
            self.take(&more.from, &more.to, more.kind, more.count);
        }
    }
}

/// A path as somebody may have written it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unordered {
    #[serde(default)]
    nodes: Vec<Visit>,
    #[serde(default)]
    edges: Vec<Taken>,
}

impl From<Unordered> for ExecutedPath {
    fn from(unordered: Unordered) -> Self {
        let mut path = Self::new();
        path.count(&unordered.nodes, &unordered.edges);
        path
    }
}
