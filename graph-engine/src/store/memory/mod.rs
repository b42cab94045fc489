//! Checkpoints in the memory of this process: for tests, and for threads that need not outlive it.

mod chunks;
mod index;
mod prune;
mod row;
mod rows;
mod thread;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;

use self::thread::{Spaces, Thread};
use super::checkpoint::{CheckpointInfo, Commit, Place, SavedResult, Segment, Stored};
use super::listing::{Filter, Keep, ThreadFilter, ThreadInfo};
use super::mark::Mark;
use super::{AtOnce, CheckpointStore};
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::{Name, NameHash};

/// Checkpoints in memory. Cloning it gives another handle to the same data.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     cities: Vec<String>,
/// }
///
/// async fn explore() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new());
/// let thread = runner.thread("guest-7");
/// thread.run(Trip::update().cities(["Oslo"])).await.unwrap();
/// let end = thread.run(Trip::update().cities(["Bergen"])).await.unwrap();
/// assert_eq!(end.state.cities, ["Oslo", "Bergen"]);
/// # });
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    threads: Arc<DashMap<Name, Arc<Thread>, NameHash>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes held for one thread, all namespaces together.
    #[must_use]
    pub fn bytes(&self, thread: &str) -> usize {
        self.threads.get(thread).map_or(0, |found| found.spaces().bytes())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("threads", &self.threads.len()).finish()
    }
}

#[async_trait::async_trait]
impl CheckpointStore for MemoryStore {
    fn outlives_process(&self) -> bool {
        false
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        if let Some(found) = self.threads.get(&place.thread)
            && let Some(done) = found.commit(&place.namespace, commit)
        {
            return done;
        }
        // A commit that is refused leaves no empty thread behind.
        let new = Arc::new(Thread::new(place.thread.clone(), Spaces::default()));
        new.commit(&place.namespace, commit).unwrap_or(Ok(()))?;
        match self.threads.entry(place.thread.clone()) {
            // Somebody else was here between the two looks; or it is one that is about to be taken out.
            dashmap::Entry::Occupied(mut found) => match found.get().commit(&place.namespace, commit) {
                Some(done) => return done,
                None => drop(found.insert(new)),
            },
            dashmap::Entry::Vacant(vacant) => drop(vacant.insert(new)),
        }
        Ok(())
    }

    fn at_once(&self, place: &Place) -> Option<Arc<dyn AtOnce>> {
        let found = place.namespace.is_empty().then(|| self.threads.get(&place.thread))??;
        Some(found.clone())
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        let found = self
            .threads
            .get(&place.thread)
            .ok_or_else(|| StoreError::conflict(&*place.thread, "the thread is not stored"))?;
        let moved = || StoreError::conflict(&*place.thread, "the head moved");
        let mut spaces = found.spaces();
        let rows = spaces.get_mut(&place.namespace).ok_or_else(moved)?;
        rows.save(&place.thread, head, results)
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(None) };
        let spaces = found.spaces();
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        Ok(rows.at(at).map(|at| rows.load(at)))
    }

    async fn load_since(&self, place: &Place, mark: Mark) -> Result<Option<Stored>, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(None) };
        let spaces = found.spaces();
        Ok(spaces.get(&place.namespace).and_then(|rows| rows.load_since(mark)))
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(Vec::new()) };
        let spaces = found.spaces();
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(Vec::new()) };
        Ok(rows.at(at).map_or_else(Vec::new, |at| rows.field(at, field, &range)))
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(None) };
        let spaces = found.spaces();
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        Ok(rows.find(id).map(|at| rows.row(at)))
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(Vec::new()) };
        let spaces = found.spaces();
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(Vec::new()) };
        Ok(rows.list(filter))
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(0) };
        Ok(found.spaces().get_mut(&place.namespace).map_or(0, |rows| rows.prune(keep)))
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        Ok(self.threads.get(thread).map_or_else(Vec::new, |found| found.spaces().names().collect()))
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut found: Vec<ThreadInfo> = self
            .threads
            .iter()
            .filter_map(|found| {
                let spaces = found.spaces();
                let rows = spaces.get("")?;
                let (head, due_ms) = rows.head()?;
                let info = || ThreadInfo { thread: found.key().clone(), head: rows.info(head), due_ms };
                filter.passes(found.key(), due_ms).then(info)
            })
            .collect();
        found.sort_by(|a, b| a.thread.cmp(&b.thread));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        let Some(found) = self.threads.get(&place.thread) else { return Ok(false) };
        let mut spaces = found.spaces();
        let was_there = spaces.remove(&place.namespace);
        // A thread without namespaces is none.
        spaces.gone = spaces.is_empty();
        drop(spaces);
        drop(found);
        self.threads.remove_if(&place.thread, |_, found| found.spaces().gone);
        Ok(was_there)
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let spaces = self.threads.get(from).map(|found| found.spaces().clone()).filter(|spaces| !spaces.is_empty());
        let Some(spaces) = spaces else {
            return Err(StoreError::conflict(from, "the thread is not stored"));
        };
        let new = Arc::new(Thread::new(to.into(), spaces));
        match self.threads.entry(to.into()) {
            dashmap::Entry::Occupied(found) if !found.get().spaces().gone => {
                return Err(StoreError::conflict(to, "the thread exists already"));
            }
            dashmap::Entry::Occupied(mut found) => drop(found.insert(new)),
            dashmap::Entry::Vacant(vacant) => drop(vacant.insert(new)),
        }
        Ok(())
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        let Some((_, found)) = self.threads.remove(thread) else { return Ok(false) };
        Ok(!std::mem::replace(&mut found.spaces().gone, true))
    }
}
