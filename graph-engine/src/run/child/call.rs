//! Child graphs that a node calls by itself.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use super::Keeping;
use super::nest::{Call, Ran};
use super::space::escaped;
use crate::error::NodeError;
use crate::graph::Graph;
use crate::machine::Enter;
use crate::name::Name;
use crate::reply::Reply;
use crate::state::State;
use crate::task::{Ctx, Snap};

/// A call of a child graph that has not begun: `.await` it. Made by [`Ctx::call`].
///
/// ```
/// use graph_engine::{Ctx, Graph, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Search {
///     hits: u32,
/// }
///
/// async fn count(ctx: Ctx, search: &Graph<Search>) -> Result<u32, NodeError> {
///     let end = ctx.call(search, Search::update()).per_thread().step_limit(5).await?;
///     Ok(end.state.hits)
/// }
/// # let _ = count;
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct ChildCall<'a, C: State> {
    ctx: &'a Ctx,
    graph: &'a Graph<C>,
    input: C::Update,
    keeping: Keeping,
    step_limit: Option<u64>,
    number: u32,
}

/// What came of a call of a child graph.
///
/// ```
/// use graph_engine::{Ctx, Graph, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     hits: u32,
/// }
///
/// async fn look() -> TripUpdate {
///     Trip::update().hits(2_u32)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let search = Graph::<Trip>::builder("search").node("look", look).edge(START, "look").compile().unwrap();
/// let node = move |ctx: Ctx| {
///     let search = search.clone();
///     async move { Ok::<_, NodeError>(Trip::update().hits(ctx.call(&search, Trip::update()).await?.state.hits + 1)) }
/// };
/// let trip = Graph::<Trip>::builder("trip").node("twice", node).edge(START, "twice").compile().unwrap();
/// assert_eq!(trip.runner().thread("guest-7").run(Trip::update()).await.unwrap().state.hits, 3);
/// # });
/// ```
#[non_exhaustive]
pub struct ChildEnd<C: State> {
    /// Its state at the end.
    pub state: Snap<C>,
    /// What its nodes have written in this call, composed in order.
    pub written: C::Update,
    /// Its replies, by (step, task).
    pub replies: Vec<Reply>,
    /// The nodes around it to which it went out; nobody goes there unless the node does.
    pub exits: Vec<Name>,
}

impl Ctx {
    /// Runs a graph within this task, on its initial state with this input.
    ///
    /// It is stored apart from the task: when the task runs again, after a failure, a pause or a crash, a call that has
    /// ended gives its result again, and one that has not goes on where it was. The n-th call of a graph within a
    /// [`scope`](Self::scope) is known by its number, so what is called must not depend on chance, and the input of a
    /// call that has begun counts for nothing later. Its questions are those of the turn, as everywhere; the error of a
    /// call that waits must be passed on.
    ///
    /// # Errors
    /// The failure of the child ([`ChildError`](crate::ChildError)), the one that pauses, and a fatal one if a resource is
    /// missing or graphs are nested too deeply.
    pub fn call<'a, C: State>(&'a self, graph: &'a Graph<C>, input: C::Update) -> ChildCall<'a, C> {
        let scoped = format!("{}{}", self.scope.as_deref().unwrap_or_default(), graph.name());
        let number = self.turn.journals.number_call(self.id, &scoped);
        ChildCall { ctx: self, graph, input, keeping: Keeping::default(), step_limit: None, number }
    }
}

impl<C: State> ChildCall<'_, C> {
    /// As [`Subgraph::per_thread`](crate::Subgraph::per_thread): the n-th call of this node goes on with what its n-th
    /// call of an earlier turn left.
    pub fn per_thread(mut self) -> Self {
        self.keeping = Keeping::PerThread;
        self
    }

    /// As [`Subgraph::not_kept`](crate::Subgraph::not_kept).
    pub fn not_kept(mut self) -> Self {
        self.keeping = Keeping::Nothing;
        self
    }

    /// As [`Subgraph::step_limit`](crate::Subgraph::step_limit).
    pub fn step_limit(mut self, limit: u64) -> Self {
        self.step_limit = Some(limit.max(1));
        self
    }
}

impl<'a, C: State> IntoFuture for ChildCall<'a, C> {
    type Output = Result<ChildEnd<C>, NodeError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { ctx, graph, input, keeping, step_limit, number } = self;
        let mut name = format!("{}/{}", escaped(ctx.node()), escaped(graph.name()));
        if let Some(scope) = &ctx.scope {
            name = format!("{name}@{}", escaped(scope));
        }
        if number > 0 {
            name = format!("{name}#{number}");
        }
        let key = format!("{}/{}#{number}", ctx.scope.as_deref().unwrap_or_default(), graph.name());
        Box::pin(async move {
            let vertices = graph.inner().vertices.iter().zip(graph.inner().names.iter());
            let needs = vertices.flat_map(|(vertex, name)| vertex.info.needs.iter().map(move |need| (name, *need)));
            if let Some((node, need)) = ctx.turn.resources.missing(needs) {
                return Err(NodeError::fatal(format!(
                    "child graph `{}` can't run: `{node}` needs a `{}`; provide it with `Runner::provide` or `Turn::with`",
                    graph.name(),
                    need.type_name()
                )));
            }
            let call = Call { graph, keeping, step_limit, name, key, alone: true, again: ctx.retried };
            let Ran { state, written, replies, left, .. } = call.run(ctx, || Ok(Enter::Input(input))).await?;
            let exits = left.iter().map(|hop| hop.to.name().into()).collect();
            Ok(ChildEnd { state, written, replies, exits })
        })
    }
}

impl<C: State> fmt::Debug for ChildCall<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildCall")
            .field("graph", self.graph.name())
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl<C: State> fmt::Debug for ChildEnd<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildEnd").field("replies", &self.replies).field("exits", &self.exits).finish_non_exhaustive()
    }
}
