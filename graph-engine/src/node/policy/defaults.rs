//! Policies for all nodes of a graph that don't say otherwise themselves.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::{Policy, Retry};
use crate::name::Name;
use crate::state::State;

/// Policies of every node of a graph, unless the node has its own.
///
/// A node that does its own retries (an agent) gets no default retry. The node of an error route gets no default error
/// route, so that it never takes over from itself.
///
/// ```
/// use std::time::Duration;
/// use graph_engine::{Graph, NodeDefaults, NodeExt, Retry, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// let graph = Graph::<Trip>::builder("trip")
///     .defaults(NodeDefaults::new().retry(Retry::fixed(3, Duration::from_secs(1))).timeout(Duration::from_secs(30)))
///     .node("explore", explore.timeout(Duration::from_secs(5)))
///     .edge(START, "explore")
///     .compile()?;
/// # let _ = graph;
/// # Ok::<(), graph_engine::CompileError>(())
/// ```
#[must_use]
pub struct NodeDefaults<S: State>(Policy<S>);

impl<S: State> NodeDefaults<S> {
    /// No policies.
    pub fn new() -> Self {
        Self(Policy::default())
    }

    /// See [`NodeExt::retry`](crate::NodeExt::retry).
    pub fn retry(mut self, retry: Retry) -> Self {
        self.0.retry = Some(retry);
        self
    }

    /// See [`NodeExt::timeout`](crate::NodeExt::timeout).
    pub fn timeout(mut self, after: Duration) -> Self {
        self.0.timeout = Some(after);
        self
    }

    /// See [`NodeExt::idle_timeout`](crate::NodeExt::idle_timeout).
    pub fn idle_timeout(mut self, after: Duration) -> Self {
        self.0.idle_timeout = Some(after);
        self
    }

    /// See [`NodeExt::limit`](crate::NodeExt::limit).
    pub fn limit(mut self, tasks: usize) -> Self {
        self.0.limit = NonZeroUsize::new(tasks.max(1));
        self
    }

    /// See [`NodeExt::on_error`](crate::NodeExt::on_error).
    pub fn on_error(mut self, handler: impl Into<Name>) -> Self {
        self.0.on_error = Some(handler.into());
        self
    }

    /// These policies, but for the cache.
    pub(crate) fn of(policy: Policy<S>) -> Self {
        Self(policy)
    }

    /// The error route.
    pub(crate) fn handler(&self) -> Option<&Name> {
        self.0.on_error.as_ref()
    }

    /// Fills in what a node doesn't say.
    pub(crate) fn fill(&self, policy: &mut Policy<S>, does_own_retries: bool, is_handler: bool) {
        let Policy { cache: _, limit, retry, timeout, idle_timeout, on_error } = &self.0;
        policy.limit = policy.limit.or(*limit);
        policy.timeout = policy.timeout.or(*timeout);
        policy.idle_timeout = policy.idle_timeout.or(*idle_timeout);
        if policy.retry.is_none() && !does_own_retries {
            policy.retry.clone_from(retry);
        }
        if policy.on_error.is_none() && !is_handler {
            policy.on_error.clone_from(on_error);
        }
    }
}

impl<S: State> Default for NodeDefaults<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: State> fmt::Debug for NodeDefaults<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeDefaults").field(&self.0).finish()
    }
}
