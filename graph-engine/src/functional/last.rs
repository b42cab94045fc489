//! What a workflow returns and what it saves.

/// What a workflow returns to its caller, and what it saves for the next run of its thread. Returned by the function of
/// [`Entrypoint::saving`](crate::Entrypoint::saving).
///
/// ```
/// use graph_engine::{Entrypoint, Final, MemoryStore, Workflow};
///
/// // Returns what was saved before, and saves the double of its input.
/// let doubled = Entrypoint::saving("doubled", |workflow: Workflow<u32>, n: u32| async move {
///     let before = workflow.previous().copied().unwrap_or_default();
///     Ok(Final { value: before, save: 2 * n })
/// });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let thread = doubled.runner().unwrap().store(MemoryStore::new()).thread("t");
/// assert_eq!(thread.run(&3).await.unwrap().output, Some(0));
/// assert_eq!(thread.run(&1).await.unwrap().output, Some(6));
/// # });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Final<O, V> {
    /// What the caller gets.
    pub value: O,
    /// What the next run gets as [`previous`](crate::Workflow::previous).
    pub save: V,
}
