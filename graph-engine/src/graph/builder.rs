//! What the user says: nodes, edges, routes, joins and clusters, in any order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::input::InputRules;
use super::version::Version;
use super::vertex::{Rest, RouterFn};
use crate::compile_error::CompileError;
use crate::diagnostic::{Level, Lint};
use crate::error::BoxError;
use crate::name::Name;
use crate::node::{IntoNode, Node, NodeDefaults, NodeSpec, Siblings};
use crate::spec::GraphSpec;
use crate::state::{FieldSet, Fields, State, StoredFields};
use crate::task::{IntoNamedNext, IntoNext, NamedMoves, Route, RouteSpec};

use super::Graph;

/// The description of a graph. Order does not matter; `compile` checks everything at once.
///
/// ```
/// use graph_engine::{END, Graph, Route, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: Option<String>,
/// }
///
/// #[derive(Route)]
/// enum AfterExplore {
///     Present,
///     Explore,
/// }
///
/// async fn explore() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// async fn present() {}
///
/// let graph = Graph::<Trip>::builder("trip")
///     .node("explore", explore)
///     .node("present", present)
///     .edge(START, "explore")
///     .route("explore", |trip: &Trip| if trip.city.is_some() { AfterExplore::Present } else { AfterExplore::Explore })
///     .edge("present", END)
///     .compile()?;
/// assert!(graph.warnings().is_empty());
/// # Ok::<(), graph_engine::CompileError>(())
/// ```
#[must_use = "a description does nothing until it is compiled"]
pub struct Builder<S: State> {
    pub(super) name: Name,
    pub(super) initial: S,
    pub(super) nodes: Vec<Draft<S>>,
    pub(super) edges: Vec<(Name, Name)>,
    pub(super) routers: Vec<RouterDraft<S>>,
    pub(super) joins: Vec<(Vec<Name>, Name)>,
    pub(super) clusters: Vec<ClusterDraft>,
    pub(super) levels: BTreeMap<Lint, Level>,
    pub(super) defaults: Option<NodeDefaults<S>>,
    pub(super) siblings: Siblings,
    pub(super) input: InputRules<S>,
    pub(super) exits: Vec<Name>,
    pub(super) version: Version,
    /// What a graph that was read from data was made of.
    pub(super) made_of: Option<Arc<GraphSpec>>,
    /// The cluster that is being described.
    open: Option<usize>,
}

pub(super) struct Draft<S: State> {
    pub(super) name: Name,
    pub(super) node: Arc<dyn Node<S>>,
    pub(super) deferred: bool,
    pub(super) cluster: Option<usize>,
    /// What it says of itself, and its policies.
    pub(super) rest: Rest<S>,
}

impl<S: State> Draft<S> {
    pub(super) fn new(name: Name, spec: NodeSpec<S>, cluster: Option<usize>) -> Self {
        let NodeSpec { node, info, policy, deferred } = spec;
        Self { name, node, deferred, cluster, rest: Rest::new(info, policy) }
    }
}

pub(super) struct RouterDraft<S> {
    pub(super) from: Name,
    pub(super) moves: RouterMoves,
    pub(super) choose: RouterFn<S>,
}

/// What a router declares.
#[derive(Default)]
pub(crate) struct RouterMoves {
    /// By its type.
    pub(crate) spec: RouteSpec,
    /// By names that are only known at run time.
    pub(crate) named: NamedMoves,
    pub(crate) reads: FieldSet,
}

impl RouterMoves {
    /// The targets of its type with all other moves.
    pub(super) fn all(&self) -> RouteSpec {
        let (spec, named) = (&self.spec, &self.named);
        let (stay, direct, finish) =
            (spec.stay || named.stay, spec.direct || named.direct, spec.finish || named.finish);
        RouteSpec::new(spec.targets).moves(stay, direct, finish)
    }
}

pub(super) struct ClusterDraft {
    pub(super) name: Name,
    pub(super) entry: Name,
    pub(super) parent: Option<usize>,
}

impl<S: State> Builder<S> {
    pub(super) fn new(name: Name, initial: S) -> Self {
        Self {
            name,
            initial,
            nodes: Vec::new(),
            edges: Vec::new(),
            routers: Vec::new(),
            joins: Vec::new(),
            clusters: Vec::new(),
            levels: BTreeMap::new(),
            defaults: None,
            siblings: Siblings::default(),
            input: InputRules::default(),
            exits: Vec::new(),
            version: Version::default(),
            made_of: None,
            open: None,
        }
    }

    /// Adds a node. Inside [`cluster`](Self::cluster) it belongs to that cluster.
    pub fn node<M>(mut self, name: impl Into<Name>, node: impl IntoNode<S, M>) -> Self {
        self.nodes.push(Draft::new(name.into(), node.into_node(), self.open));
        self
    }

    /// A node of a graph around this one to which commands and routers of this graph may lead: going there ends this
    /// graph, and the graph around it goes to that node instead of following its declared edges. Its `compile` checks
    /// that there is such a node. In a graph that runs alone it ends the turn.
    ///
    /// ```
    /// use graph_engine::{Graph, Next, Route, START, State, child};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     said: String,
    /// }
    ///
    /// #[derive(Route)]
    /// enum FromSearch {
    ///     Present,
    /// }
    ///
    /// async fn search() -> Next<FromSearch> {
    ///     Next::go(FromSearch::Present)
    /// }
    ///
    /// async fn present() -> TripUpdate {
    ///     Trip::update().said("found")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let explore =
    ///     Graph::<Trip>::builder("explore").node("search", search).edge(START, "search").exit("present").compile().unwrap();
    /// let trip = Graph::<Trip>::builder("trip")
    ///     .node("explore", child(&explore))
    ///     .node("present", present)
    ///     .edge(START, "explore")
    ///     .compile()
    ///     .unwrap();
    /// assert_eq!(trip.runner().thread("guest-7").run(Trip::update()).await.unwrap().state.said, "found");
    /// # });
    /// ```
    pub fn exit(mut self, node: impl Into<Name>) -> Self {
        let node = node.into();
        if !self.exits.contains(&node) {
            self.exits.push(node);
        }
        self
    }

    /// `to` runs in the super-step after `from`, whenever `from` follows its declared edges. [`START`](crate::START)
    /// begins a turn, [`END`](crate::END) ends a branch.
    pub fn edge(mut self, from: impl Into<Name>, to: impl Into<Name>) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }

    /// `to` runs once all of `from` have finished by their declared edges since it last ran. A command, a stay, a
    /// direct reply or a failure does not count.
    pub fn join<N: Into<Name>>(mut self, from: impl IntoIterator<Item = N>, to: impl Into<Name>) -> Self {
        self.joins.push((from.into_iter().map(Into::into).collect(), to.into()));
        self
    }

    /// Decides where `from` leads, on the state after the merge. The router runs once a super-step, must be a pure
    /// function of the state, and replaces static edges.
    pub fn route<N: IntoNext>(self, from: impl Into<Name>, choose: impl Fn(&S) -> N + Send + Sync + 'static) -> Self {
        self.router(from.into(), FieldSet::EMPTY, choose)
    }

    /// Like [`route`](Self::route), and declares which fields the router reads, so that `compile` can warn of transient ones.
    pub fn route_reading<N: IntoNext>(
        self,
        from: impl Into<Name>,
        reads: impl Into<Fields<S>>,
        choose: impl Fn(&S) -> N + Send + Sync + 'static,
    ) -> Self {
        self.router(from.into(), reads.into().set(), choose)
    }

    /// Like [`route`](Self::route), for nodes whose names are known only when the graph is built: the router names one
    /// or several of `targets`. Naming another one fails the turn.
    ///
    /// ```
    /// use graph_engine::{Graph, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     stage: String,
    /// }
    ///
    /// async fn talk() {}
    ///
    /// let stages = ["explore".to_owned(), "present".to_owned()];
    /// let mut builder = Graph::<Trip>::builder("trip").route_named(START, &stages, |trip: &Trip| trip.stage.clone());
    /// for stage in &stages {
    ///     builder = builder.node(stage.as_str(), talk);
    /// }
    /// assert_eq!(builder.compile()?.topology().edges.len(), 2);
    /// # Ok::<(), graph_engine::CompileError>(())
    /// ```
    pub fn route_named<T: AsRef<str>, N: IntoNamedNext>(
        mut self,
        from: impl Into<Name>,
        targets: impl IntoIterator<Item = T>,
        choose: impl Fn(&S) -> N + Send + Sync + 'static,
    ) -> Self {
        let targets = targets.into_iter().map(|name| Name::from(name.as_ref())).collect();
        let named = NamedMoves { targets, ..NamedMoves::default() };
        let declared = named.clone();
        let choose: RouterFn<S> = Box::new(move |state| declared.check(choose(state).into_named_next()?));
        self.routers.push(RouterDraft {
            from: from.into(),
            moves: RouterMoves { named, ..RouterMoves::default() },
            choose,
        });
        self
    }

    fn router<N: IntoNext>(
        mut self,
        from: Name,
        reads: FieldSet,
        choose: impl Fn(&S) -> N + Send + Sync + 'static,
    ) -> Self {
        let choose: RouterFn<S> = Box::new(move |state| choose(state).into_next().map(|next| next.goto));
        let moves = RouterMoves { spec: *<N::Route as Route>::SPEC, reads, ..RouterMoves::default() };
        self.routers.push(RouterDraft { from, moves, choose });
        self
    }

    /// Describes a group of nodes with one entry: a stay inside begins again at the entry. Nodes that `describe` adds
    /// belong to the cluster; clusters may lie in each other.
    ///
    /// ```
    /// use graph_engine::{Graph, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn agent() {}
    /// async fn gate() {}
    ///
    /// let graph = Graph::<Trip>::builder("trip")
    ///     .cluster("explore", "agent", |c| c.node("agent", agent).node("gate", gate).edge("agent", "gate"))
    ///     .edge(START, "agent")
    ///     .compile()?;
    /// assert_eq!(graph.topology().clusters[0].entry, "agent");
    /// # Ok::<(), graph_engine::CompileError>(())
    /// ```
    pub fn cluster(
        mut self,
        name: impl Into<Name>,
        entry: impl Into<Name>,
        describe: impl FnOnce(Self) -> Self,
    ) -> Self {
        let around = self.open;
        self.clusters.push(ClusterDraft { name: name.into(), entry: entry.into(), parent: around });
        self.open = Some(self.clusters.len() - 1);
        let mut described = describe(self);
        described.open = around;
        described
    }

    /// Hands the description to a function and goes on with what it returns: for parts that are described elsewhere.
    pub fn with(self, describe: impl FnOnce(Self) -> Self) -> Self {
        describe(self)
    }

    /// Policies of all nodes that don't say otherwise themselves. The last call counts.
    pub fn defaults(mut self, defaults: NodeDefaults<S>) -> Self {
        self.defaults = Some(defaults);
        self
    }

    /// What happens to the other tasks of a super-step when one has failed for good (default: they finish).
    pub fn siblings(mut self, siblings: Siblings) -> Self {
        self.siblings = siblings;
        self
    }

    /// The only fields that the input of a turn may write; another one is refused with
    /// [`RunError::Input`](crate::RunError::Input). Without this call it may write all.
    ///
    /// ```
    /// use graph_engine::{Graph, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     query: String,
    ///     price: u32,
    /// }
    ///
    /// async fn search() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph =
    ///     Graph::<Trip>::builder("trip").input(Trip::QUERY).node("search", search).edge(START, "search").compile().unwrap();
    /// let refused = graph.runner().thread("guest-7").run(Trip::update().price(1)).await.unwrap_err();
    /// assert!(refused.to_string().contains("it writes field `price`"));
    /// # });
    /// ```
    pub fn input(mut self, fields: impl Into<Fields<S>>) -> Self {
        self.input.allow(fields.into().set());
        self
    }

    /// Checks the input of every turn before anything of it is merged. An error refuses the input with
    /// [`RunError::Input`](crate::RunError::Input), and nothing of it is kept. Several checks are asked in their
    /// order until one refuses.
    pub fn check_input<E: Into<BoxError>>(
        mut self,
        check: impl Fn(&S, &S::Update) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.input.check(move |state, input| check(state, input).map_err(Into::into));
        self
    }

    /// The version of the state's schema, written into every checkpoint; 0 if none is given. Raise it when stored fields
    /// need a [`migrate`](Self::migrate) to be read. A checkpoint of a newer version than this is refused.
    ///
    /// Without a migration a field that is new has the value of the graph's initial state, and one that is gone is
    /// ignored with a warning.
    pub fn schema(mut self, version: u32) -> Self {
        self.version.number = version;
        self
    }

    /// What to do with the fields of a checkpoint that has an older version than [`schema`](Self::schema), each time when
    /// one is read: it is given that version and the fields as JSON. What it changes is stored whole by the next commit,
    /// under the new version. An error, or a panic, refuses the checkpoint with
    /// [`RunError::Restore`](crate::RunError::Restore).
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, START, State};
    ///
    /// async fn explore() {}
    ///
    /// mod old {
    ///     #[derive(graph_engine::State, Clone, Default)]
    ///     pub struct Trip {
    ///         pub town: String,
    ///     }
    /// }
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let store = MemoryStore::new();
    /// let old = Graph::<old::Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// old.runner().store(store.clone()).thread("guest-7").run(old::Trip::update().town("Oslo")).await.unwrap();
    ///
    /// let graph = Graph::<Trip>::builder("trip")
    ///     .node("explore", explore)
    ///     .edge(START, "explore")
    ///     .schema(1)
    ///     .migrate(|_from, stored| {
    ///         stored.rename("town", "city");
    ///         Ok(())
    ///     })
    ///     .compile()
    ///     .unwrap();
    /// let thread = graph.runner().store(store).thread("guest-7");
    /// assert_eq!(thread.state().await.unwrap().state.city, "Oslo");
    /// # });
    /// ```
    pub fn migrate(
        mut self,
        migrate: impl Fn(u32, &mut StoredFields) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.version.migrate = Some(Box::new(migrate));
        self
    }

    /// Changes how much a kind of finding matters. The level of a [fixed](Lint::is_fixed) lint stays.
    pub fn lint(mut self, lint: Lint, level: Level) -> Self {
        self.levels.insert(lint, level);
        self
    }

    /// Checks everything and makes the graph.
    ///
    /// # Errors
    /// [`CompileError`] with every finding, if one of them has the level `Error`.
    pub fn compile(self) -> Result<Graph<S>, CompileError> {
        super::compile::compile(self)
    }
}

impl<S: State> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<_> = self.nodes.iter().map(|draft| &draft.name).collect();
        f.debug_struct("Builder").field("name", &self.name).field("nodes", &nodes).finish_non_exhaustive()
    }
}
