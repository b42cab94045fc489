//! The declared shape of a graph, as data: what diagrams are drawn from, and nothing else.

mod dot;
mod escape;
mod expand;
mod export;
#[cfg(feature = "ascii-dag")]
mod layers;
mod mermaid;
mod overlay;
#[cfg(feature = "ascii-dag")]
mod picture;
mod plan;
mod stale;
mod svg;
#[cfg(feature = "ascii-dag")]
mod text;
#[cfg(feature = "ascii-dag")]
mod width;
mod writer;

pub use crate::edge_kind::EdgeKind;
pub use dot::Dot;
pub(crate) use expand::exit_label;
pub use export::{DiagramFormat, ExportError};
pub use mermaid::Mermaid;
pub use stale::StaleDiagram;
pub use svg::{Graphviz, SvgError};
#[cfg(feature = "ascii-dag")]
pub use text::TextDrawing;

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::task::NodeKind;

/// Vertices, edges and clusters of a graph in a fixed order, so that every export is byte-stable.
///
/// ```
/// use graph_engine::{Graph, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile()?;
/// let topology = graph.topology();
/// assert_eq!(topology.nodes[0].name, "explore");
/// assert!(topology.dot().to_string().starts_with("digraph"));
/// # Ok::<(), graph_engine::CompileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Topology {
    /// The graph's name.
    pub name: Name,
    /// All nodes, sorted by name.
    pub nodes: Vec<Vertex>,
    /// All edges, sorted by (from, to, kind, label).
    pub edges: Vec<Edge>,
    /// All clusters, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<Cluster>,
    /// Where it may go out to nodes of a graph around it; drawn as ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Edge>,
}

/// One node of a [`Topology`].
///
/// ```
/// use graph_engine::{NodeKind, Vertex};
///
/// let vertex = Vertex::new("explore", NodeKind::Agent);
/// assert!(!vertex.deferred);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Vertex {
    /// Its name.
    pub name: Name,
    /// What it is.
    #[serde(default)]
    pub kind: NodeKind,
    /// It waits until nothing else would run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
    /// It may go to targets that it doesn't declare; drawn as a dotted edge to `?`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// The child graph that it runs; see [`Topology::expanded`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<Box<Topology>>,
}

impl Vertex {
    /// A node that declares nothing else.
    pub fn new(name: impl Into<Name>, kind: NodeKind) -> Self {
        Self { name: name.into(), kind, deferred: false, dynamic: false, child: None }
    }
}

/// One edge of a [`Topology`]. `from` may be [`START`](crate::START), `to` may be [`END`](crate::END).
///
/// ```
/// use graph_engine::{Edge, EdgeKind};
///
/// let edge = Edge::new("explore", "present", EdgeKind::Go).labelled("go");
/// assert_eq!(edge.label.as_deref(), Some("go"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Edge {
    /// Where it begins.
    pub from: Name,
    /// Where it leads.
    pub to: Name,
    /// What it is.
    pub kind: EdgeKind,
    /// What is written beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Edge {
    /// An edge without a label.
    pub fn new(from: impl Into<Name>, to: impl Into<Name>, kind: EdgeKind) -> Self {
        Self { from: from.into(), to: to.into(), kind, label: None }
    }

    /// Writes something beside it.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// A named group of nodes with one entry.
///
/// ```
/// use graph_engine::Cluster;
///
/// let cluster = Cluster::new("explore", "explore_agent", ["explore_agent", "explore_gate"]);
/// assert_eq!(cluster.members.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cluster {
    /// Its name.
    pub name: Name,
    /// The node at which a stay begins again.
    pub entry: Name,
    /// The cluster around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Name>,
    /// The nodes directly in it, sorted by name.
    pub members: Vec<Name>,
}

impl Cluster {
    /// A cluster in no other.
    pub fn new<N: Into<Name>>(
        name: impl Into<Name>,
        entry: impl Into<Name>,
        members: impl IntoIterator<Item = N>,
    ) -> Self {
        let mut members: Vec<Name> = members.into_iter().map(Into::into).collect();
        members.sort();
        Self { name: name.into(), entry: entry.into(), parent: None, members }
    }
}

/// Where the edges of a diagram lead.
///
/// ```
/// use graph_engine::Direction;
///
/// assert_eq!(Direction::default(), Direction::TopToBottom);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// Down.
    #[default]
    TopToBottom,
    /// To the right.
    LeftToRight,
}

impl Topology {
    /// A topology with everything in its fixed order.
    pub fn new(
        name: impl Into<Name>,
        mut nodes: Vec<Vertex>,
        mut edges: Vec<Edge>,
        mut clusters: Vec<Cluster>,
    ) -> Self {
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        edges.sort();
        edges.dedup();
        clusters.sort_by(|a, b| a.name.cmp(&b.name));
        Self { name: name.into(), nodes, edges, clusters, exits: Vec::new() }
    }

    /// The graph in Graphviz's language.
    #[must_use]
    pub fn dot(&self) -> Dot<'_> {
        Dot::new(self)
    }

    /// The graph in Mermaid's language.
    #[must_use]
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(self)
    }

    /// The graph as JSON, with two spaces of indentation.
    ///
    /// # Errors
    /// Never in practice: names and flags are always JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
