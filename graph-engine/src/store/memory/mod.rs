//! Checkpoints in the memory of this process: for tests, and for threads that need not outlive it.

mod prune;
mod rows;

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;

use self::rows::Rows;
use super::CheckpointStore;
use super::checkpoint::{CheckpointInfo, Commit, Place, SavedResult, Segment, Stored};
use super::listing::{Filter, Keep, ThreadFilter, ThreadInfo};
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;

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
    threads: Arc<DashMap<Name, BTreeMap<Name, Rows>>>,
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
        self.threads.get(thread).map_or(0, |spaces| spaces.values().map(Rows::bytes).sum())
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
        if let Some(mut spaces) = self.threads.get_mut(&place.thread)
            && let Some(rows) = spaces.get_mut(&place.namespace)
        {
            return rows.commit(&place.thread, commit);
        }
        // A commit that is refused leaves no empty namespace behind.
        let mut rows = Rows::default();
        rows.commit(&place.thread, commit)?;
        match self.threads.entry(place.thread.clone()).or_default().entry(place.namespace.clone()) {
            // Somebody else was here between the two looks.
            btree_map::Entry::Occupied(mut found) => found.get_mut().commit(&place.thread, commit),
            btree_map::Entry::Vacant(vacant) => {
                vacant.insert(rows);
                Ok(())
            }
        }
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        let mut spaces = self
            .threads
            .get_mut(&place.thread)
            .ok_or_else(|| StoreError::conflict(&*place.thread, "the thread is not stored"))?;
        let moved = || StoreError::conflict(&*place.thread, "the head moved");
        let rows = spaces.get_mut(&place.namespace).ok_or_else(moved)?;
        rows.save(&place.thread, head, results)
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(None) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        Ok(rows.at(at).map(|at| rows.load(at)))
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(Vec::new()) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(Vec::new()) };
        Ok(rows.at(at).map_or_else(Vec::new, |at| rows.field(at, field, &range)))
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(None) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        Ok(rows.find(id).map(|at| rows.row(at)))
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(Vec::new()) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(Vec::new()) };
        Ok(rows.list(filter))
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        let Some(mut spaces) = self.threads.get_mut(&place.thread) else { return Ok(0) };
        Ok(spaces.get_mut(&place.namespace).map_or(0, |rows| rows.prune(keep)))
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        Ok(self.threads.get(thread).map_or_else(Vec::new, |spaces| spaces.keys().cloned().collect()))
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut found: Vec<ThreadInfo> = self
            .threads
            .iter()
            .filter_map(|spaces| {
                let rows = spaces.get("")?;
                let (head, due_ms) = rows.head()?;
                let info = || ThreadInfo { thread: spaces.key().clone(), head: rows.info(head), due_ms };
                filter.passes(spaces.key(), due_ms).then(info)
            })
            .collect();
        found.sort_by(|a, b| a.thread.cmp(&b.thread));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        let Some(mut spaces) = self.threads.get_mut(&place.thread) else { return Ok(false) };
        let found = spaces.remove(&place.namespace).is_some();
        drop(spaces);
        // A thread without namespaces is none.
        self.threads.remove_if(&place.thread, |_, spaces| spaces.is_empty());
        Ok(found)
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let Some(spaces) = self.threads.get(from).map(|spaces| spaces.clone()) else {
            return Err(StoreError::conflict(from, "the thread is not stored"));
        };
        match self.threads.entry(to.into()) {
            dashmap::Entry::Occupied(_) => Err(StoreError::conflict(to, "the thread exists already")),
            dashmap::Entry::Vacant(vacant) => {
                vacant.insert(spaces);
                Ok(())
            }
        }
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        Ok(self.threads.remove(thread).is_some())
    }
}
