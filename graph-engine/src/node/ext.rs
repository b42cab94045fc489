//! Policies and declarations on a node, written behind it: `explore.writes(..).retry(..).timeout(..)`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{IntoNode, Node, Policy, Retry};
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
    pub(crate) policy: Policy,
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

    /// The node's policies.
    #[must_use]
    pub fn policy(&self) -> &Policy {
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

/// Declarations and policies for every node. Each of them may be given once; the last one counts.
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
    fn timeout(self, after: Duration) -> NodeSpec<S> {
        let mut spec = self.into_node();
        spec.policy.timeout = Some(after);
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
