//! A memory store that notes every commit and fails where the plan says so.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::plan::Fault;
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Encoding, Filter, Keep, MemoryStore, Name, Place,
    SavedResult, Segment, StoreError, Stored, TaskId, ThreadFilter, ThreadInfo, async_trait,
};

/// One commit as the store saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Committed {
    /// Its id.
    pub id: CheckpointId,
    /// The checkpoint it follows.
    pub parent: Option<CheckpointId>,
    /// The turn that made it.
    pub turn: String,
    /// The super-step.
    pub step: u64,
    /// When, in milliseconds.
    pub time: u64,
    /// Name, form and text of each field.
    pub fields: Vec<(String, Encoding, String)>,
    /// The position.
    pub position: String,
    /// How it failed.
    pub fault: Option<Fault>,
}

/// What the store noted in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// All commits, in order.
    pub commits: Vec<Committed>,
    /// Results of single tasks, with the checkpoint that they belong to.
    pub saves: Vec<(CheckpointId, TaskId)>,
    /// The load failed.
    pub load_failed: bool,
}

#[derive(Debug, Default)]
struct Inner {
    noted: Noted,
    commit_fault: Option<(usize, Fault)>,
    load_fault: bool,
}

/// The store. Clones share everything.
#[derive(Clone, Debug)]
pub(super) struct SimStore {
    memory: MemoryStore,
    outlives: bool,
    delay: Duration,
    inner: Arc<Mutex<Inner>>,
}

impl SimStore {
    /// An empty store. A commit takes so many milliseconds.
    #[must_use]
    pub(super) fn new(outlives: bool, delay: u64) -> Self {
        let (memory, delay) = (MemoryStore::new(), Duration::from_millis(delay));
        Self { memory, outlives, delay, inner: Arc::default() }
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on this commit fails, and perhaps the next load.
    pub(super) fn arm(&self, commit_fault: Option<(usize, Fault)>, load_fault: bool) {
        *self.inner() = Inner { noted: Noted::default(), commit_fault, load_fault };
    }

    /// What was noted since it was armed; from here on nothing fails.
    #[must_use]
    pub(super) fn disarm(&self) -> Noted {
        std::mem::take(&mut *self.inner()).noted
    }

    fn note(&self, commit: &Commit) -> Option<Fault> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut inner = self.inner();
        let fault = inner.commit_fault.filter(|(at, _)| *at == inner.noted.commits.len()).map(|(_, fault)| fault);
        inner.noted.commits.push(Committed {
            id: commit.id,
            parent: commit.parent,
            turn: commit.turn.to_string(),
            step: commit.step,
            time: commit.time_ms,
            fields: commit
                .fields
                .iter()
                .map(|row| (row.name.to_string(), row.encoding, text(commit.field_bytes(row))))
                .collect(),
            position: text(commit.position()),
            fault,
        });
        fault
    }
}

#[async_trait]
impl CheckpointStore for SimStore {
    fn outlives_process(&self) -> bool {
        self.outlives
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        match self.note(commit) {
            None => self.memory.commit(place, commit).await,
            Some(Fault::Refused) => Err(StoreError::unavailable("nothing was stored")),
            Some(Fault::Lost) => {
                self.memory.commit(place, commit).await?;
                Err(StoreError::unavailable("the answer was lost"))
            }
        }
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        self.memory.save(place, head, results).await?;
        self.inner().noted.saves.extend(results.iter().map(|result| (head, result.task)));
        Ok(())
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let fails = std::mem::take(&mut self.inner().load_fault);
        if fails {
            self.inner().noted.load_failed = true;
            return Err(StoreError::unavailable("the disk is asleep"));
        }
        self.memory.load(place, at).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.memory.field(place, at, field, range).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.memory.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.memory.prune(place, keep).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.memory.row(place, id).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.memory.namespaces(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.memory.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.memory.clear(place).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.memory.copy(from, to).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.memory.delete(thread).await
    }
}
