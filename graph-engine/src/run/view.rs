//! What a turn gives its caller, when that isn't the whole state.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use super::end::{Status, TurnEnd};
use super::turn::Turn;
use crate::graph::Graph;
use crate::reply::Reply;
use crate::report::RunReport;
use crate::run_error::TurnError;
use crate::state::State;

/// A view of a graph's state: what its callers get. Made by [`Graph::output`].
///
/// ```
/// use graph_engine::{Graph, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     secret: u32,
/// }
///
/// async fn explore() -> TripUpdate {
///     Trip::update().city("Oslo").secret(7_u32)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let city = graph.output(|trip| trip.city.clone());
/// let end = city.of(graph.runner().thread("guest-7").run(Trip::update())).await.unwrap();
/// assert_eq!(end.output, "Oslo");
/// # });
/// ```
pub struct View<S: State, V>(Arc<dyn Fn(&S) -> V + Send + Sync>);

/// The end of a turn that did not fail, with a view instead of the state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ViewEnd<V> {
    /// How it ended.
    pub status: Status,
    /// What the view shows of the state at the end.
    pub output: V,
    /// Direct replies by (step, task).
    pub replies: Vec<Reply>,
    /// What the turn did.
    pub report: RunReport,
}

impl<S: State> Graph<S> {
    /// A view of this graph's state: what callers get instead of the whole.
    #[must_use]
    pub fn output<V>(&self, view: impl Fn(&S) -> V + Send + Sync + 'static) -> View<S, V> {
        View(Arc::new(view))
    }
}

impl<S: State, V> View<S, V> {
    /// What the view shows of a state.
    pub fn see(&self, state: &S) -> V {
        (self.0)(state)
    }

    /// Runs a turn and gives what the view shows of its end.
    ///
    /// # Errors
    /// The turn's own error.
    pub async fn of(&self, turn: Turn<S>) -> Result<ViewEnd<V>, TurnError> {
        let TurnEnd { status, state, replies, report } = turn.into_future().await?;
        Ok(ViewEnd { status, output: self.see(&state), replies, report })
    }
}

impl<S: State, V> Clone for View<S, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State, V> fmt::Debug for View<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({})", std::any::type_name::<V>())
    }
}
