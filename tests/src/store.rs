//! A memory store that pretends to outlive the process, counts, and fails on demand.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, MemoryStore, Name, Place, SavedResult,
    Segment, StoreError, Stored, TaskId, ThreadFilter, ThreadInfo, async_trait,
};

/// A [`MemoryStore`] with knobs. Clones share everything.
#[derive(Clone, Debug, Default)]
pub struct TestStore {
    inner: MemoryStore,
    knobs: Arc<Knobs>,
}

#[derive(Debug, Default)]
struct Knobs {
    outlives: bool,
    commits: AtomicUsize,
    fail_commit: Mutex<Option<usize>>,
    slow_commit: Mutex<Option<(usize, Duration)>>,
    only_newest: AtomicBool,
    saves: Mutex<Vec<TaskId>>,
    takes: Mutex<Duration>,
    refused: Mutex<Option<String>>,
}

impl TestStore {
    /// A store that says it lives no longer than the process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that says it outlives the process, so that results of single tasks are saved.
    #[must_use]
    pub fn lasting() -> Self {
        Self { knobs: Arc::new(Knobs { outlives: true, ..Knobs::default() }), ..Self::default() }
    }

    /// The commit after so many more ones fails, once.
    pub fn fail_commit_after(&self, commits: usize) {
        let at = self.commits() + commits;
        *self.knobs.fail_commit.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// From now on commits take so long.
    pub fn commits_take(&self, time: Duration) {
        *self.knobs.takes.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Saving is refused as long as there is a result with this key among what is to be saved.
    pub fn refuse_key(&self, key: &str) {
        *self.knobs.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.to_owned());
    }

    /// The commit after so many more ones arrives that much later, once.
    pub fn slow_commit_after(&self, commits: usize, late: Duration) {
        let at = self.commits() + commits;
        *self.knobs.slow_commit.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, late));
    }

    /// From now on only the newest checkpoint of a thread is kept.
    pub fn keep_only_the_newest(&self) {
        self.knobs.only_newest.store(true, Ordering::SeqCst);
    }

    /// The store behind the knobs, as another process would open it.
    #[must_use]
    pub fn inner(&self) -> MemoryStore {
        self.inner.clone()
    }

    /// Commits so far, the failed one included.
    #[must_use]
    pub fn commits(&self) -> usize {
        self.knobs.commits.load(Ordering::SeqCst)
    }

    /// The tasks whose results were saved, in order.
    #[must_use]
    pub fn saves(&self) -> Vec<TaskId> {
        self.knobs.saves.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl CheckpointStore for TestStore {
    fn outlives_process(&self) -> bool {
        self.knobs.outlives
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        let at = self.knobs.commits.fetch_add(1, Ordering::SeqCst);
        let fails = *self.knobs.fail_commit.lock().unwrap_or_else(PoisonError::into_inner) == Some(at);
        let takes = *self.knobs.takes.lock().unwrap_or_else(PoisonError::into_inner);
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        if fails {
            return Err(StoreError::unavailable("the disk is gone"));
        }
        let slow = *self.knobs.slow_commit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, late)) = slow.filter(|(slow, _)| *slow == at) {
            tokio::time::sleep(late).await;
        }
        self.inner.commit(place, commit).await?;
        if self.knobs.only_newest.load(Ordering::SeqCst) {
            self.inner.prune(place, Keep::Last(1)).await?;
        }
        Ok(())
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        self.knobs
            .saves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(results.iter().map(|result| result.task));
        let refused = self.knobs.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if refused.is_some_and(|key| results.iter().any(|result| result.key.ends_with(&key))) {
            return Err(StoreError::full("it is too large"));
        }
        self.inner.save(place, head, results).await
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        self.inner.load(place, at).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.inner.field(place, at, field, range).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.inner.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.inner.prune(place, keep).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.inner.row(place, id).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.inner.namespaces(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.inner.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.inner.clear(place).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.inner.copy(from, to).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.inner.delete(thread).await
    }
}
