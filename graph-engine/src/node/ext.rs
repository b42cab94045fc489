//! Policies and declarations on a node, written behind it: `explore.writes(..).retry(..).timeout(..)`.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::{Cache, IntoNode, Layer, Node, Policy, Retry};
use crate::name::Name;
use crate::state::{Fields, State};
use crate::task::{NodeInfo, NodeKind};

/// A node with its policies.
///
/// ```
/// use std::time::Duration;
/// use graph_engine::{NodeExt, NodeSpec, Retry, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// let node: NodeSpec<Trip> = explore
///     .writes(Trip::CITY)
///     .retry(Retry::exponential(3, Duration::from_millis(200)))
///     .timeout(Duration::from_secs(30));
/// # let _ = node;
/// ```
pub struct NodeSpec<S: State> {
    pub(crate) node: Arc<dyn Node<S>>,
    pub(crate) info: NodeInfo,
    pub(crate) policy: Policy<S>,
    pub(crate) deferred: bool,
}

impl<S: State> NodeSpec<S> {
    /// A node without policies.
    #[must_use]
    pub fn new(node: Arc<dyn Node<S>>) -> Self {
        Self { info: node.describe(), node, policy: Policy::default(), deferred: false }
    }

    /// What the node says of itself.
    #[must_use]
    pub fn info(&self) -> &NodeInfo {
        &self.info
    }

    /// The node with its layers and without its policies, for a node that runs another one inside of its own task.
    #[must_use]
    pub fn node(&self) -> &Arc<dyn Node<S>> {
        &self.node
    }

    /// The node's policies.
    #[must_use]
    pub fn policy(&self) -> &Policy<S> {
        &self.policy
    }
}

impl<S: State> Clone for NodeSpec<S> {
    fn clone(&self) -> Self {
        Self { node: self.node.clone(), info: self.info.clone(), policy: self.policy.clone(), deferred: self.deferred }
    }
}

impl<S: State> fmt::Debug for NodeSpec<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeSpec").field("info", &self.info).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Declarations and policies for every node, in any order. The last one of a kind counts, except for layers, which are
/// all applied.
///
/// However they are written, they stand around the node in this order, the outermost first: [`cache`](Self::cache),
/// [`limit`](Self::limit), [`retry`](Self::retry), [`timeout`](Self::timeout) and
/// [`idle_timeout`](Self::idle_timeout) of each attempt, [`layer`](Self::layer)s, the node.
pub trait NodeExt<S: State, M>: IntoNode<S, M> {
    /// Declares the only fields that this node writes. `compile()` then finds conflicts before the first run; a write
    /// to another field fails the task.
    fn writes(self, fields: impl Into<Fields<S>>) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.info.writes = Some(fields.into().set());
        spec
    }

    /// Tries the node again when it fails.
    fn retry(self, retry: Retry) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.retry = Some(retry);
        spec
    }

    /// Limits how long one attempt may run. A timed-out attempt is a retryable failure.
    ///
    /// An attempt is stopped at its next await. Work that blocks its thread can't be stopped: make it a node with
    /// [`blocking`](crate::blocking), so that others go on meanwhile.
    fn timeout(self, after: Duration) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.timeout = Some(after);
        spec
    }

    /// Limits how long one attempt may be silent. Every emit, token and [`Ctx::heartbeat`](crate::Ctx::heartbeat)
    /// begins the time anew. A timed-out attempt is a retryable failure.
    fn idle_timeout(self, after: Duration) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.idle_timeout = Some(after);
        spec
    }

    /// Limits how many tasks of this node run at once in a turn; the others wait in task order. 0 counts as 1. A task
    /// keeps its place while it waits for its next attempt.
    fn limit(self, tasks: usize) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.limit = NonZeroUsize::new(tasks.max(1));
        spec
    }

    /// Takes the result of an earlier task with the same key instead of running the node.
    fn cache(self, cache: Cache<S>) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.cache = Some(cache);
        spec
    }

    /// When a task has failed for good, it counts as finished without update and edges, and this node runs in the next
    /// super-step with a [`FailedTask`](crate::FailedTask) as its payload, once for each failed task.
    fn on_error(self, handler: impl Into<Name>) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.on_error = Some(handler.into());
        spec
    }

    /// Wraps the node. The last layer is the outermost.
    fn layer(self, layer: impl Layer<S>) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.node = layer.wrap(spec.node);
        // What was declared behind the node stays; what the layer needs and writes comes on top.
        let described = spec.node.describe();
        if let (Some(declared), Some(more)) = (&mut spec.info.writes, described.writes) {
            declared.insert(more);
        }
        spec.info.add(described);
        spec
    }

    /// Says how diagrams draw the node.
    fn kind(self, kind: NodeKind) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.info.kind = kind;
        spec
    }

    /// The node waits until nothing else would run.
    fn deferred(self) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.deferred = true;
        spec
    }
}

impl<S: State, M, N: IntoNode<S, M>> NodeExt<S, M> for N {}
