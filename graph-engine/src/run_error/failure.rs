//! Which task failed, how often it was tried, and what it said.

use std::fmt;
use std::sync::Arc;

use crate::error::{BoxError, FaultKind};
use crate::name::Name;
use crate::task_id::TaskId;

/// A task in an error: the node's name and its place in the super-step.
///
/// ```
/// use graph_engine::{TaskId, TaskRef};
///
/// let task = TaskRef { node: "quote".into(), id: TaskId { step: 2, rank: 1 } };
/// assert_eq!(task.to_string(), "`quote` (task 2.1)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRef {
    /// The node.
    pub node: Name,
    /// The task.
    pub id: TaskId,
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (task {})", self.node, self.id)
    }
}

/// One task that failed for good.
///
/// ```
/// use graph_engine::{Graph, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() -> Result<(), NodeError> {
///     Err(NodeError::fatal("no map"))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
/// assert_eq!(error.failures()[0].to_string(), "`explore` (task 0.0) failed after 1 attempt: no map");
/// # });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskFailure {
    /// Which task.
    pub task: TaskRef,
    /// How often it was tried.
    pub attempts: u32,
    /// What kind of failure the last one was.
    pub kind: FaultKind,
    /// What the node said.
    pub source: Arc<BoxError>,
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.attempts == 1 { "attempt" } else { "attempts" };
        write!(f, "{} failed after {} {times}: {}", self.task, self.attempts, self.source)
    }
}
