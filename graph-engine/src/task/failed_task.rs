//! What an error route hands to its node: who failed, how, and with which payload.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::payload::Payload;
use crate::error::{FaultKind, NodeError};
use crate::name::Name;
use crate::task_id::TaskId;

/// A task that failed for good and was taken over by an error route: the payload of the task that takes over.
///
/// ```
/// use graph_engine::{FailedTask, Graph, In, NodeError, NodeExt, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     answer: String,
/// }
///
/// async fn search() -> Result<(), NodeError> {
///     Err(NodeError::fatal("the catalogue is closed"))
/// }
///
/// async fn apologise(In(failed): In<FailedTask>) -> TripUpdate {
///     Trip::update().answer(format!("Sorry: {}", failed.message))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("search", search.on_error("apologise"))
///     .node("apologise", apologise)
///     .edge(START, "search")
///     .compile()
///     .unwrap();
/// let end = graph.runner().thread("guest-7").run(Trip::update()).await.unwrap();
/// assert_eq!(end.state.answer, "Sorry: the catalogue is closed");
/// # });
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedTask {
    /// The node that failed.
    pub node: Name,
    /// Its task.
    pub task: TaskId,
    /// How often it was tried.
    pub attempts: u32,
    /// What kind of failure the last one was.
    pub kind: FaultKind,
    /// What the node said.
    pub message: String,
    /// In a list of one, because a payload may itself be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<[Payload; 1]>,
}

impl FailedTask {
    /// A failure without a payload, for tests of nodes that take over.
    pub fn new(node: impl Into<Name>, kind: FaultKind, message: impl Into<String>) -> Self {
        let (node, message) = (node.into(), message.into());
        Self { node, task: TaskId::default(), attempts: 1, kind, message, payload: None }
    }

    /// Adds the payload that the failed task was given.
    #[must_use]
    pub fn with_payload<T: Serialize + Send + Sync + 'static>(mut self, payload: T) -> Self {
        self.payload = Some([Payload::new(payload)]);
        self
    }

    pub(crate) fn of(task: (Name, TaskId, u32), kind: FaultKind, message: String, payload: Option<Payload>) -> Self {
        let (node, task, attempts) = task;
        Self { node, task, attempts, kind, message, payload: payload.map(|payload| [payload]) }
    }

    /// The payload that the failed task was given, if it was given one.
    ///
    /// # Errors
    /// A fatal error if the payload is no `T`.
    pub fn payload<T: DeserializeOwned + Send + Sync + 'static>(&self) -> Result<Option<Arc<T>>, NodeError> {
        self.payload.as_ref().map(|[payload]| payload.get()).transpose()
    }
}
