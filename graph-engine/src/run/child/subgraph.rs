//! A graph as a node of another one.

use std::fmt;
use std::sync::Arc;

use super::Keeping;
use super::nest::{Call, caught};
use super::space::escaped;
use crate::error::NodeError;
use crate::graph::Graph;
use crate::machine::Enter;
use crate::node::Node;
use crate::state::State;
use crate::task::{FromTask, Goto, In, NodeInfo, Outcome, PayloadType, Rare, Task};

type EnterFn<S, C> = dyn Fn(&Task<S>) -> Result<Enter<C>, NodeError> + Send + Sync;
type ExitFn<S, C> = dyn Fn(&C, <C as State>::Update) -> Result<<S as State>::Update, NodeError> + Send + Sync;

/// A graph as a node of a graph of the same state; see [`Subgraph`].
///
/// ```
/// use graph_engine::{Graph, START, State, child};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     said: Vec<String>,
/// }
///
/// async fn search() -> TripUpdate {
///     Trip::update().said(["found"])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let explore = Graph::<Trip>::builder("explore").node("search", search).edge(START, "search").compile().unwrap();
/// let trip = Graph::<Trip>::builder("trip").node("explore", child(&explore)).edge(START, "explore").compile().unwrap();
/// let end = trip.runner().thread("guest-7").run(Trip::update().said(["hello"])).await.unwrap();
/// assert_eq!(end.state.said, ["hello", "found"]);
/// # });
/// ```
pub fn child<S: State>(graph: &Graph<S>) -> Subgraph<S> {
    Subgraph::with(graph, |task: &Task<S>| Ok(Enter::State(task.state().clone())), |_, written| Ok(written))
}

/// A graph as a node of another one, which may have another state.
///
/// The child runs within the task of the node. A child of the same state type ([`child`]) begins on the snapshot of the
/// graph around it, and what its nodes write, composed in order, is the update of the task: only changes come back, by
/// way of the merge rules. Another type is entered and left by functions.
///
/// What is stored of a child is kept for one call by default, so that it may pause, fail and go on where it was, and the
/// next call begins anew; see [`per_thread`](Self::per_thread) and [`not_kept`](Self::not_kept).
///
/// ```
/// use graph_engine::{Graph, START, State, Subgraph};
///
/// #[derive(State, Clone, Default)]
/// struct Search {
///     query: String,
///     #[state(append)]
///     hits: Vec<String>,
/// }
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     #[state(append)]
///     hotels: Vec<String>,
/// }
///
/// async fn look(search: graph_engine::Snap<Search>) -> SearchUpdate {
///     Search::update().hits([format!("Palace of {}", search.query)])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let search = Graph::<Search>::builder("search").node("look", look).edge(START, "look").compile().unwrap();
/// let find = Subgraph::new(
///     &search,
///     |trip: &Trip| Search::update().query(trip.city.clone()),
///     |search: &Search, _written| Trip::update().hotels(search.hits.clone()),
/// );
/// let trip = Graph::<Trip>::builder("trip").node("find", find).edge(START, "find").compile().unwrap();
/// let end = trip.runner().thread("guest-7").run(Trip::update().city("Oslo")).await.unwrap();
/// assert_eq!(end.state.hotels, ["Palace of Oslo"]);
/// # });
/// ```
#[must_use = "a subgraph does nothing until it is a node"]
pub struct Subgraph<S: State, C: State = S> {
    graph: Graph<C>,
    enter: Arc<EnterFn<S, C>>,
    exit: Arc<ExitFn<S, C>>,
    payload: Option<PayloadType>,
    keeping: Keeping,
    step_limit: Option<u64>,
    replies: bool,
}

impl<S: State, C: State> Subgraph<S, C> {
    fn with(
        graph: &Graph<C>,
        enter: impl Fn(&Task<S>) -> Result<Enter<C>, NodeError> + Send + Sync + 'static,
        exit: impl Fn(&C, C::Update) -> Result<S::Update, NodeError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            graph: graph.clone(),
            enter: Arc::new(enter),
            exit: Arc::new(exit),
            payload: None,
            keeping: Keeping::default(),
            step_limit: None,
            replies: false,
        }
    }

    /// A child of another state: `enter` makes its input of the state around it, `exit` makes the update of its state at
    /// the end and of what it has written in this call. A panic in one of them is the failure of the task.
    pub fn new(
        graph: &Graph<C>,
        enter: impl Fn(&S) -> C::Update + Send + Sync + 'static,
        exit: impl Fn(&C, C::Update) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        Self::fallible(graph, move |state| Ok(enter(state)), move |state, written| Ok(exit(state, written)))
    }

    /// The same with functions that may fail, which fails the task.
    pub fn fallible(
        graph: &Graph<C>,
        enter: impl Fn(&S) -> Result<C::Update, NodeError> + Send + Sync + 'static,
        exit: impl Fn(&C, C::Update) -> Result<S::Update, NodeError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(graph, move |task| enter(task.state()).map(Enter::Input), exit)
    }

    /// A child of which one task is sent for each payload: `enter` gets the payload beside the state.
    ///
    /// ```
    /// use graph_engine::{Graph, Next, Route, START, State, Subgraph};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Quote {
    ///     hotel: String,
    ///     price: usize,
    /// }
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     #[state(append)]
    ///     prices: Vec<usize>,
    /// }
    ///
    /// #[derive(Route)]
    /// enum Ask {
    ///     Price(String),
    /// }
    ///
    /// async fn ask() -> Next<Ask> {
    ///     Next::fan_out(["Inn", "Palace"].map(|hotel| Ask::Price(hotel.to_owned())))
    /// }
    ///
    /// async fn price(quote: graph_engine::Snap<Quote>) -> QuoteUpdate {
    ///     Quote::update().price(quote.hotel.len())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let quote = Graph::<Quote>::builder("quote").node("price", price).edge(START, "price").compile().unwrap();
    /// let each = Subgraph::for_each(
    ///     &quote,
    ///     |_: &Trip, hotel: String| Quote::update().hotel(hotel),
    ///     |quote: &Quote, _| Trip::update().prices([quote.price]),
    /// );
    /// let trip =
    ///     Graph::<Trip>::builder("trip").node("ask", ask).node("price", each).edge(START, "ask").compile().unwrap();
    /// assert_eq!(trip.runner().thread("guest-7").run(Trip::update()).await.unwrap().state.prices, [3, 6]);
    /// # });
    /// ```
    pub fn for_each<T>(
        graph: &Graph<C>,
        enter: impl Fn(&S, T) -> C::Update + Send + Sync + 'static,
        exit: impl Fn(&C, C::Update) -> S::Update + Send + Sync + 'static,
    ) -> Self
    where
        T: Clone + Send + Sync + 'static,
        In<T>: FromTask<S>,
    {
        let mut info = NodeInfo::default();
        <In<T> as FromTask<S>>::describe(&mut info);
        let enter = move |task: &Task<S>| {
            let payload = In::<T>::from_task(task)?;
            Ok(Enter::Input(enter(task.state(), (*payload).clone())))
        };
        Self { payload: info.payload, ..Self::with(graph, enter, move |state, written| Ok(exit(state, written))) }
    }

    /// Its state is kept over all turns of the thread: each call goes on with what the last one left. Several tasks of one
    /// super-step can't call it at once, which fails each of them. A child of the same state type shares the state with
    /// the graph around it anyway; only its history goes on.
    pub fn per_thread(mut self) -> Self {
        self.keeping = Keeping::PerThread;
        self
    }

    /// Its state is kept for one call: the default.
    pub fn per_turn(mut self) -> Self {
        self.keeping = Keeping::PerTurn;
        self
    }

    /// Nothing of it is kept but the answers to its questions: after a pause, a failure or a crash it begins again with
    /// its first node, and its memos last for one attempt.
    pub fn not_kept(mut self) -> Self {
        self.keeping = Keeping::Nothing;
        self
    }

    /// How many super-steps one call may make (default: as many as the turn still may; they count there too).
    pub fn step_limit(mut self, limit: u64) -> Self {
        self.step_limit = Some(limit.max(1));
        self
    }

    /// A reply that a node of the child gives directly is a reply of the task as well, and ends its branch; a `finish` in
    /// the child completes the thread (default: both only end the child, and the declared edges follow).
    pub fn replies(mut self) -> Self {
        self.replies = true;
        self
    }
}

#[async_trait::async_trait]
impl<S: State, C: State> Node<S> for Subgraph<S, C> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let ctx = task.ctx();
        let call = Call {
            graph: &self.graph,
            keeping: self.keeping,
            step_limit: self.step_limit,
            name: escaped(task.node()),
            key: "node".to_owned(),
            alone: task.alone,
            again: task.again.by_policy || task.again.by_node,
        };
        let ran = call.run(&ctx, || (self.enter)(task)).await?;
        let update = caught("`exit`", || (self.exit)(&ran.state, ran.written))?;
        let goto = match ran.replies.into_iter().next() {
            _ if !ran.left.is_empty() => Goto::rare(Rare::Many(ran.left, None)),
            Some(reply) if self.replies && ran.completed => Goto::rare(Rare::Finish(reply.value)),
            Some(reply) if self.replies => Goto::rare(Rare::Direct(reply.value)),
            _ => Goto::Declared,
        };
        Ok(Outcome { update, goto })
    }

    fn describe(&self) -> NodeInfo {
        let graph = self.graph.inner();
        let mut info = NodeInfo { payload: self.payload, ..NodeInfo::default() };
        for need in graph.vertices.iter().flat_map(|vertex| &vertex.info.needs) {
            if !info.needs.contains(need) {
                info.needs.push(*need);
            }
        }
        info.named_targets.clone_from(&graph.exits);
        (info.direct, info.finish) = (self.replies, self.replies);
        info.alone = self.keeping == Keeping::PerThread;
        info.child = Some(Arc::new(graph.topology.clone()));
        info
    }

    fn is_child_graph(&self) -> bool {
        true
    }
}

impl<S: State, C: State> Clone for Subgraph<S, C> {
    fn clone(&self) -> Self {
        let (graph, enter, exit) = (self.graph.clone(), self.enter.clone(), self.exit.clone());
        Self { graph, enter, exit, ..*self }
    }
}

impl<S: State, C: State> fmt::Debug for Subgraph<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subgraph")
            .field("graph", self.graph.name())
            .field("keeping", &self.keeping)
            .finish_non_exhaustive()
    }
}
