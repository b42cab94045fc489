//! From a description to a validated, immutable graph.

mod builder;
mod check;
mod compile;
mod describe;
mod from_spec;
mod input;
mod json_names;
mod shape;
mod version;
mod vertex;

pub use builder::Builder;
pub(crate) use input::InputRules;
pub(crate) use json_names::JsonNames;
pub(crate) use version::Version;
pub(crate) use vertex::{Exit, Hops, JoinSpec, RouterFn, VertexSpec};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::diagnostic::{Diagnostic, Level, Lint};
use crate::name::{Name, NameIndex, Place};
use crate::node::Siblings;
use crate::spec::GraphSpec;
use crate::state::{FieldSet, State};
use crate::task::{END, Need, NodeIx};
use crate::topology::Topology;

/// A validated graph. It never changes, and cloning it copies one pointer.
///
/// ```
/// use graph_engine::{END, Graph, START, Snap, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn shout(trip: Snap<Trip>) -> TripUpdate {
///     Trip::update().city(trip.city.to_uppercase())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("shout", shout)
///     .edge(START, "shout")
///     .edge("shout", END)
///     .compile()
///     .unwrap();
/// let end = graph.runner().thread("guest-7").run(Trip::update().city("Oslo")).await.unwrap();
/// assert_eq!(end.state.city, "OSLO");
/// # });
/// ```
pub struct Graph<S: State>(Arc<Inner<S>>);

pub(crate) struct Inner<S: State> {
    pub(crate) name: Name,
    pub(crate) initial: S,
    /// In name order, so that index order is merge order.
    pub(crate) vertices: Vec<VertexSpec<S>>,
    pub(crate) names: Arc<[Name]>,
    pub(crate) index: Nodes,
    pub(crate) start: Exit<S>,
    pub(crate) joins: Vec<JoinSpec>,
    pub(crate) clusters: Vec<ClusterSpec>,
    pub(crate) siblings: Siblings,
    pub(crate) input: InputRules<S>,
    /// Nodes of a graph around this one to which commands and routers may lead.
    pub(crate) exits: Vec<Name>,
    pub(crate) version: Version,
    /// Whether some node has a cache or a limit, which stand around all attempts of a task.
    pub(crate) guarded: bool,
    /// What nodes ask of the runner's resources, in the order of the nodes.
    pub(crate) needs: Vec<(NodeIx, Need)>,
    /// Fields with one writer a super-step.
    pub(crate) single: FieldSet,
    /// Fields that live for one turn.
    pub(crate) transient: FieldSet,
    pub(crate) topology: Topology,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) levels: BTreeMap<Lint, Level>,
    /// What a graph that was read from data was made of.
    pub(crate) made_of: Option<Arc<GraphSpec>>,
    /// Names of nodes and of fields as checkpoints hold them, from the first one on.
    pub(crate) json_names: OnceLock<[JsonNames; 2]>,
}

/// The nodes of a graph by name.
pub(crate) struct Nodes {
    names: Arc<[Name]>,
    places: NameIndex<NodeIx>,
}

impl Place for NodeIx {
    const NONE: Self = Self(u32::MAX);

    fn from_index(index: usize) -> Self {
        Self(u32::from_index(index))
    }

    fn index(self) -> usize {
        self.at()
    }
}

impl Nodes {
    pub(crate) fn get(&self, name: &str) -> Option<&NodeIx> {
        self.places.get(name, |at| &*self.names[at])
    }
}

/// A cluster by indices.
pub(crate) struct ClusterSpec {
    pub(crate) name: Name,
    pub(crate) entry: NodeIx,
    pub(crate) parent: Option<usize>,
}

impl<S: State> Graph<S> {
    pub(crate) fn from_inner(inner: Inner<S>) -> Self {
        Self(Arc::new(inner))
    }

    /// Begins the description of a graph whose threads start from `S::default()`.
    pub fn builder(name: impl Into<Name>) -> Builder<S>
    where
        S: Default,
    {
        Builder::new(name.into(), S::default())
    }

    /// Begins the description of a graph whose threads start from this state.
    pub fn starting_from(name: impl Into<Name>, initial: S) -> Builder<S> {
        Builder::new(name.into(), initial)
    }

    /// The graph's name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.0.name
    }

    /// The declared shape: what diagrams are made from.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.0.topology
    }

    /// What `compile()` found odd but not wrong.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }

    pub(crate) fn inner(&self) -> &Arc<Inner<S>> {
        &self.0
    }
}

impl<S: State> Inner<S> {
    pub(crate) fn at(&self, node: NodeIx) -> &VertexSpec<S> {
        &self.vertices[node.at()]
    }

    pub(crate) fn name_of(&self, node: NodeIx) -> &Name {
        &self.names[node.at()]
    }

    /// Whether going there leaves the graph for the one around it.
    pub(crate) fn leads_out(&self, name: &str) -> bool {
        !self.exits.is_empty() && self.exits.iter().any(|exit| exit == name)
    }

    /// The node of that name; `None` is the end of a branch, or leads out of the graph.
    pub(crate) fn target(&self, name: &str) -> Option<Option<NodeIx>> {
        if name == END || self.leads_out(name) { Some(None) } else { self.index.get(name).map(|ix| Some(*ix)) }
    }

    /// The same for a declared target: the place in the declaration is found by the name's address mostly.
    pub(crate) fn hop(&self, declared: &Hops, name: &str) -> Option<Option<NodeIx>> {
        let known = declared.iter().find(|(target, _)| std::ptr::eq(*target, name));
        known.map_or_else(|| self.target(name), |(_, node)| Some(*node))
    }

    /// Whether a cluster is one of those around a node.
    pub(crate) fn encloses(&self, cluster: usize, node: NodeIx) -> bool {
        std::iter::successors(self.at(node).cluster, |at| self.clusters[*at].parent).any(|at| at == cluster)
    }
}

impl<S: State> Clone for Graph<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State> fmt::Debug for Graph<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("name", &self.0.name).field("nodes", &self.0.names).finish_non_exhaustive()
    }
}
