//! A run that doesn't repeat what it did before.

/// A resumed run calls another task than the run before it did at this place: what is stored can't be its result.
///
/// The order of a workflow's calls may depend on its input, on what its tasks returned and on answers; on nothing else.
/// Calls whose order depends on which of several concurrent parts is faster need a [key](crate::TaskCall::key) or a
/// [branch](crate::Workflow::branch).
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use graph_engine::{Entrypoint, MemoryStore, NodeError, TaskDiverged, Workflow, WorkflowError};
///
/// static AGAIN: AtomicBool = AtomicBool::new(false);
///
/// let trip = Entrypoint::new("trip", |workflow: Workflow<bool>, (): ()| async move {
///     let name = if AGAIN.swap(true, Ordering::Relaxed) { "rail" } else { "flight" };
///     workflow.task(name, || async { Ok::<_, NodeError>(1) }).await?;
///     workflow.interrupt::<bool>("Book?")
/// });
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let thread = trip.runner().unwrap().store(MemoryStore::new()).thread("guest-7");
/// thread.run(&()).await.unwrap();
/// let Err(WorkflowError::Turn(failed)) = thread.resume(true).await else { panic!("it diverged") };
/// let diverged: &TaskDiverged = failed.failures()[0].source.downcast_ref().unwrap();
/// assert_eq!((diverged.stored.as_str(), diverged.called.as_str(), diverged.number), ("flight", "rail", 0));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "call {number} of the workflow is task `{called}`, but the run before it called `{stored}` there; make the order of \
     calls depend on input, results and answers only, or give the calls keys; `abandon` drops the unfinished run"
)]
#[non_exhaustive]
pub struct TaskDiverged {
    /// Which call of the workflow it is, from 0.
    pub number: u32,
    /// The task whose result is stored.
    pub stored: String,
    /// The task that is called now.
    pub called: String,
}
