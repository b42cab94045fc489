//! A new thread that is filled row by row, and is there whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::run_error::RunError;
use crate::store::{CheckpointStore, Commit, Place, SavedResult};

/// How the ids of threads begin that are being filled; as with nodes, two underscores are the engine's.
const STAGING: &str = "__incomplete__ ";

/// Rows are put into a thread of another name, which is copied at the end: a process that is stopped in the middle
/// leaves nothing under the thread's own id.
pub(super) struct Intake {
    store: Arc<dyn CheckpointStore>,
    thread: Name,
    staging: Name,
    heads: BTreeMap<Name, CheckpointId>,
}

impl Intake {
    /// Whether it is a thread that is being filled, which is nothing to go on with.
    pub(super) fn is_staging(thread: &str) -> bool {
        thread.starts_with(STAGING)
    }

    /// Begins a thread that must not be there.
    pub(super) async fn begin(store: Arc<dyn CheckpointStore>, thread: Name) -> Result<Self, RunError> {
        let staging: Name = format!("{STAGING}{thread}").into();
        let intake = Self { store, thread, staging, heads: BTreeMap::new() };
        let known = intake.store.namespaces(&intake.thread).await.map_err(|cause| intake.failed(cause))?;
        if !known.is_empty() {
            return Err(RunError::ThreadExists { thread: intake.thread });
        }
        // What an earlier attempt may have left.
        intake.discard().await?;
        Ok(intake)
    }

    fn failed(&self, cause: StoreError) -> RunError {
        RunError::Store { thread: self.thread.clone(), cause }
    }

    fn place(&self, namespace: &Name) -> Place {
        Place::new(&self.staging, namespace)
    }

    /// Takes a checkpoint, after its parent.
    pub(super) async fn commit(&mut self, namespace: &Name, mut commit: Commit) -> Result<(), RunError> {
        commit.fork = self.heads.get(namespace).copied() != commit.parent;
        self.store.commit(&self.place(namespace), &commit).await.map_err(|cause| self.failed(cause))?;
        self.heads.insert(namespace.clone(), commit.id);
        Ok(())
    }

    /// Takes what was saved of single tasks after the head.
    pub(super) async fn save(&self, namespace: &Name, saved: &[SavedResult]) -> Result<(), RunError> {
        let Some(head) = self.heads.get(namespace) else { return Ok(()) };
        self.store.save(&self.place(namespace), *head, saved).await.map_err(|cause| self.failed(cause))
    }

    /// The thread is complete.
    pub(super) async fn finish(self) -> Result<Name, RunError> {
        self.store.copy(&self.staging, &self.thread).await.map_err(|cause| self.failed(cause))?;
        self.discard().await?;
        Ok(self.thread)
    }

    /// Nothing of it is kept.
    pub(super) async fn discard(&self) -> Result<(), RunError> {
        self.store.delete(&self.staging).await.map(|_| ()).map_err(|cause| self.failed(cause))
    }
}
