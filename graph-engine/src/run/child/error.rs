//! A child graph that failed, as the task around it tells it.

use std::fmt;

use crate::error::{FaultKind, NodeError};
use crate::name::Name;
use crate::run_error::RunError;

/// Why a child graph failed. It is what the failure of the task around it holds
/// ([`TaskFailure::source`](crate::TaskFailure)), and the failure may be tried again if all that failed in the child may.
///
/// ```
/// use graph_engine::{ChildError, Graph, NodeError, RunError, START, State, child};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn search() -> Result<(), NodeError> {
///     Err(NodeError::fatal("no map"))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let explore = Graph::<Trip>::builder("explore").node("search", search).edge(START, "search").compile().unwrap();
/// let trip = Graph::<Trip>::builder("trip").node("find", child(&explore)).edge(START, "find").compile().unwrap();
/// let failed = trip.runner().thread("guest-7").run(Trip::update()).await.unwrap_err();
/// let error: &ChildError = failed.failures()[0].source.downcast_ref().unwrap();
/// let RunError::Step { failures, .. } = &*error.error else { panic!("a task failed") };
/// assert_eq!((&*error.graph, &*failures[0].task.node), ("explore", "search"));
/// # });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ChildError {
    /// The name of the child graph.
    pub graph: Name,
    /// Its namespace.
    pub namespace: Name,
    /// Why it failed; the super-step is that of the child.
    pub error: Box<RunError>,
}

impl ChildError {
    /// The failure of the task around the child.
    pub(super) fn fail(graph: &Name, namespace: &Name, error: RunError) -> NodeError {
        let retryable = match &error {
            RunError::Step { failures, .. } => failures
                .iter()
                .all(|failure| matches!(failure.kind, FaultKind::Retryable | FaultKind::TimedOut | FaultKind::Idle)),
            RunError::Store { .. } => true,
            _ => false,
        };
        let kind = if retryable { FaultKind::Retryable } else { FaultKind::Fatal };
        let error = Self { graph: graph.clone(), namespace: namespace.clone(), error: Box::new(error) };
        NodeError::new(kind, error.into())
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "child graph `{}` at `{}`: {}", self.graph, self.namespace, self.error)
    }
}

impl std::error::Error for ChildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
