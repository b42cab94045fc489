//! What a user wraps around a node: logging, guards, measuring.

use std::sync::Arc;

use crate::node::Node;
use crate::state::State;

/// Wraps a node into another one. Layers stand inside of the engine's own policies: each attempt passes through them.
///
/// # Contract
/// The engine asks the inner node what it needs and declares; a layer that asks for more, writes more, or moves
/// elsewhere says so in the [`describe`](Node::describe) of the node that it makes. Whatever a layer changes of the outcome is checked
/// like an outcome of the node.
///
/// ```
/// use std::sync::Arc;
/// use graph_engine::{Layer, Node, NodeError, NodeExt, Outcome, State, Task};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     seen: Vec<String>,
/// }
///
/// /// Notes the name of every node that succeeded.
/// struct Note;
///
/// struct Noted(Arc<dyn Node<Trip>>);
///
/// #[graph_engine::async_trait]
/// impl Node<Trip> for Noted {
///     async fn run(&self, task: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
///         let mut outcome = self.0.run(task).await?;
///         outcome.update = Trip::compose(outcome.update, Trip::update().seen([task.node().to_string()]));
///         Ok(outcome)
///     }
/// }
///
/// impl Layer<Trip> for Note {
///     fn wrap(&self, inner: Arc<dyn Node<Trip>>) -> Arc<dyn Node<Trip>> {
///         Arc::new(Noted(inner))
///     }
/// }
///
/// async fn explore() {}
///
/// let node = explore.layer(Note);
/// # let _ = node;
/// ```
pub trait Layer<S: State>: Send + Sync + 'static {
    /// The node to run in place of the inner one.
    fn wrap(&self, inner: Arc<dyn Node<S>>) -> Arc<dyn Node<S>>;
}
