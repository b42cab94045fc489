//! Where checkpoints are kept.

mod cache;
mod checkpoint;
mod listing;
mod mark;
mod memory;
mod segments;

pub use cache::{CacheKey, MemoryCache, NodeCache};
pub(crate) use checkpoint::no_tags;
pub use checkpoint::{CheckpointInfo, CheckpointKind, Commit, FieldRow, Place, SavedResult, Segment, Stored, Tags};
pub use listing::{Filter, Keep, ThreadFilter, ThreadInfo};
pub use mark::Mark;
pub use memory::MemoryStore;
pub use segments::{SegmentRef, Segments};

use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;

/// Keeps the checkpoints of threads.
///
/// # Contract
/// - Every call names a thread and a namespace (empty for the thread itself, a path for a child graph); nothing of one
///   is ever visible in another.
/// - A commit is stored whole or not at all. It is known by its id: a second commit with the same id and content
///   succeeds and changes nothing, with other content it is a [`StoreError::Conflict`].
/// - A commit moves the head only if the head is the parent that it names, or if it is a declared fork; else it is a
///   conflict and nothing is stored. So a stale writer is fenced and a repeated call is harmless.
/// - Field rows are never changed. A base replaces what came before in its chain of parents, anything else is added to
///   it.
/// - What a commit costs doesn't grow with the number of checkpoints, and loading one costs what its state holds.
/// - Ids of threads are data: they are compared byte by byte and never become part of a query or path.
/// - What is in fields, positions and results is the engine's business. It is JSON, but a store doesn't look into it: it
///   gives back the very bytes that it was given.
///
/// The macro `checkpoint_store_conformance!` (feature `testing`) tests all of this for a store of your own.
///
/// ```
/// use graph_engine::{CheckpointStore, MemoryStore, Place};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// assert!(store.load(&Place::thread("guest-7"), None).await.unwrap().is_none());
/// # });
/// ```
#[async_trait::async_trait]
pub trait CheckpointStore: Send + Sync + 'static {
    /// Whether what is stored survives the process. Only then is it worth saving the results of single tasks.
    fn outlives_process(&self) -> bool;

    /// Stores one checkpoint and makes it the head.
    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError>;

    /// What stores checkpoints of a place without waiting, if this store can; the engine then awaits no future for each of
    /// them. `None`, the default, is always right: also for a place of which nothing is stored yet.
    fn at_once(&self, place: &Place) -> Option<Arc<dyn AtOnce>> {
        let _ = place;
        None
    }

    /// Stores results of single tasks of the unfinished super-step that follows `head`: all of them or none. The first
    /// result of a task and key stands. They are gone once a commit moves the head.
    ///
    /// A head that is not `head` is a [`StoreError::Conflict`].
    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError>;

    /// A checkpoint with all its fields and the results saved after it; the head if none is named.
    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError>;

    /// The head, for a caller who has what was stored at a mark that this store gave ([`Stored::mark`]).
    ///
    /// If that very checkpoint, with all that it saw, is still stored and led to the head, the answer may leave out what
    /// it saw: [`Stored::since`] is the mark then, and the fields are only what was stored later. Whatever is in doubt is
    /// answered in full, with `since` empty, which is always right and the default. Everything but the fields is as
    /// [`load`](Self::load) gives it. A store that wraps another one and changes what it loads needs nothing for it.
    async fn load_since(&self, place: &Place, mark: Mark) -> Result<Option<Stored>, StoreError> {
        let _ = mark;
        self.load(place, None).await
    }

    /// The segments of one field that touch a range of its items, as of a checkpoint (the head if none is named).
    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError>;

    /// What one checkpoint itself changed, as it was committed; `None` if it is not stored. A checkpoint whose parent was
    /// pruned has taken over all that it needs.
    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError>;

    /// Checkpoints that pass the filter, the newest first.
    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError>;

    /// Drops old checkpoints of a thread's namespace and returns how many. The head is always kept, and every kept
    /// checkpoint stays whole.
    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError>;

    /// The namespaces of a thread, in the order of their bytes: the empty one first.
    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError>;

    /// Threads that pass the filter, in the order of their bytes. What has no checkpoint of its own is no thread.
    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError>;

    /// Drops one namespace of a thread with everything in it; `false` if there was nothing.
    async fn clear(&self, place: &Place) -> Result<bool, StoreError>;

    /// Copies a thread with all its namespaces to a new one. An unknown thread, and one that is there already, is a
    /// [`StoreError::Conflict`].
    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError>;

    /// Deletes a thread with all its namespaces; `false` if there was none.
    async fn delete(&self, thread: &str) -> Result<bool, StoreError>;
}

/// Stores checkpoints of one place without waiting: see [`CheckpointStore::at_once`].
///
/// ```
/// use graph_engine::{CheckpointStore, Commit, MemoryStore, Place};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (store, place) = (MemoryStore::new(), Place::thread("guest-7"));
/// assert!(store.at_once(&place).is_none(), "nothing is stored of it");
/// store.commit(&place, &Commit::default()).await.unwrap();
/// let at_once = store.at_once(&place).unwrap();
/// assert!(at_once.commit(&Commit::default()).unwrap().is_ok(), "it is the same commit again");
/// store.delete("guest-7").await.unwrap();
/// assert!(at_once.commit(&Commit::default()).is_none());
/// # });
/// ```
pub trait AtOnce: Send + Sync {
    /// Does what [`CheckpointStore::commit`] does. `None` if the place was deleted meanwhile: then nothing was done, and
    /// the store itself is to be asked.
    fn commit(&self, commit: &Commit) -> Option<Result<(), StoreError>>;
}
