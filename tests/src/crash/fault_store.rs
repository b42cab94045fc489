//! A store that fails at one of its operations: before it did anything, after it did it, or when half of it was done.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Name, Place, SavedResult, Segment, StoreError,
    Stored, ThreadFilter, ThreadInfo, async_trait,
};
use tokio::task::yield_now;

/// What of the failing operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing.
    Before,
    /// All of it, but nobody is told.
    After,
    /// The first half, where an operation has parts; else nothing.
    Torn,
}

/// Hands everything to another store, awaits before and after, and fails once.
#[derive(Clone)]
pub struct FaultStore {
    inner: Arc<dyn CheckpointStore>,
    operations: Arc<AtomicUsize>,
    fails_at: usize,
    when: When,
}

impl FaultStore {
    /// Fails at its n-th operation, from 0.
    pub fn new(inner: Arc<dyn CheckpointStore>, fails_at: usize, when: When) -> Self {
        Self { inner, operations: Arc::default(), fails_at, when }
    }

    /// Whether it has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.operations.load(Ordering::SeqCst) > self.fails_at
    }

    fn fault(&self) -> Option<When> {
        (self.operations.fetch_add(1, Ordering::SeqCst) == self.fails_at).then_some(self.when)
    }

    async fn run<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        yield_now().await;
        match self.fault() {
            None => {
                let done = work.await;
                yield_now().await;
                done
            }
            Some(When::After) => {
                work.await?;
                Err(StoreError::unavailable("the answer was lost"))
            }
            Some(When::Before | When::Torn) => Err(StoreError::unavailable("nothing was done")),
        }
    }
}

#[async_trait]
impl CheckpointStore for FaultStore {
    fn outlives_process(&self) -> bool {
        self.inner.outlives_process()
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        self.run(self.inner.commit(place, commit)).await
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        match self.fault() {
            None => {
                yield_now().await;
                let done = self.inner.save(place, head, results).await;
                yield_now().await;
                done
            }
            Some(When::Before) => Err(StoreError::unavailable("nothing was done")),
            Some(When::After) => {
                self.inner.save(place, head, results).await?;
                Err(StoreError::unavailable("the answer was lost"))
            }
            // No store may do so, and nothing must come of it.
            Some(When::Torn) => {
                self.inner.save(place, head, &results[..results.len() / 2]).await?;
                Err(StoreError::unavailable("half of it was done"))
            }
        }
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        self.run(self.inner.load(place, at)).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.run(self.inner.field(place, at, field, range)).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.run(self.inner.row(place, id)).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.run(self.inner.list(place, filter)).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.run(self.inner.prune(place, keep)).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.run(self.inner.namespaces(thread)).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.run(self.inner.threads(filter)).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.run(self.inner.clear(place)).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.run(self.inner.copy(from, to)).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.run(self.inner.delete(thread)).await
    }
}

impl std::fmt::Debug for FaultStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultStore").field("fails_at", &self.fails_at).field("when", &self.when).finish_non_exhaustive()
    }
}
