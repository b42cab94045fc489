//! States of threads that were read lately, so that the next turn reads only what was stored since.
//!
//! What is kept was made by reading and by nothing else: no live value of a turn comes in here. It counts only if the store
//! says that the checkpoint of which it is a part is still there and led to the head; whatever is unusual is read anew.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::runner::Runner;
use crate::machine::{Machine, ReadFields};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointStore, Mark, Place, Stored};

/// How much of the threads that it read lately a runner keeps in memory: see
/// [`Runner::kept_states`](super::Runner::kept_states).
///
/// ```
/// use graph_engine::{Graph, KeptStates, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     said: Vec<String>,
/// }
///
/// async fn listen() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("listen", listen).edge(START, "listen").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new()).kept_states(KeptStates::default().threads(10));
/// let thread = runner.thread("guest-7");
/// for said in ["hello", "Oslo", "in May"] {
///     thread.run(Trip::update().said([said])).await.unwrap();
/// }
/// assert_eq!(thread.state().await.unwrap().state.said, ["hello", "Oslo", "in May"]);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptStates {
    threads: usize,
    bytes: u64,
    least: u64,
}

impl Default for KeptStates {
    /// 256 threads, together 16 MiB as they are stored, none of less than 1 KiB.
    fn default() -> Self {
        Self { threads: 256, bytes: 16 << 20, least: 1 << 10 }
    }
}

impl KeptStates {
    /// None: each turn reads its whole thread.
    #[must_use]
    pub const fn none() -> Self {
        Self { threads: 0, bytes: 0, least: 0 }
    }

    /// At most so many threads.
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// At most so many bytes of all of them together, counted as they are stored. In memory a state may take several times
    /// as much.
    #[must_use]
    pub const fn bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// Only threads of so many bytes: a smaller one is as soon read.
    #[must_use]
    pub const fn at_least(self, bytes: u64) -> Self {
        Self { least: bytes, ..self }
    }

    fn takes(self, bytes: u64) -> bool {
        self.threads > 0 && (self.least..=self.bytes).contains(&bytes)
    }
}

/// The states that a runner and its clones keep.
pub(super) struct Kept<S> {
    limits: KeptStates,
    table: Arc<Mutex<Table<S>>>,
}

struct Table<S> {
    threads: HashMap<Name, Entry<S>>,
    /// The threads by when they were put here, the oldest first.
    ages: BTreeMap<u64, Name>,
    next: u64,
    bytes: u64,
}

struct Entry<S> {
    age: u64,
    mark: Mark,
    fields: ReadFields<S>,
}

impl<S> Clone for Kept<S> {
    fn clone(&self) -> Self {
        Self { limits: self.limits, table: self.table.clone() }
    }
}

impl<S> Kept<S> {
    pub(super) fn new(limits: KeptStates) -> Self {
        let table = Table { threads: HashMap::new(), ages: BTreeMap::new(), next: 0, bytes: 0 };
        Self { limits, table: Arc::new(Mutex::new(table)) }
    }

    /// As many of another store.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.limits)
    }
}

impl<S: State> Kept<S> {
    /// Whoever reads the thread has it alone until it is put back.
    fn take(&self, thread: &Name) -> Option<(Mark, ReadFields<S>)> {
        if self.limits.threads == 0 {
            return None;
        }
        // A panic while it is held, of which there is none, would leave at most a thread that is read anew.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.remove(thread).map(|entry| (entry.mark, entry.fields))
    }

    fn put(&self, thread: &Name, mark: Mark, fields: ReadFields<S>) {
        let bytes = fields.bytes();
        if !self.limits.takes(bytes) {
            return;
        }
        // Dropped when nobody waits for the table any more.
        let mut gone = Vec::new();
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        gone.extend(table.remove(thread));
        let age = table.next;
        table.next += 1;
        table.bytes += bytes;
        table.ages.insert(age, thread.clone());
        table.threads.insert(thread.clone(), Entry { age, mark, fields });
        while table.threads.len() > self.limits.threads || table.bytes > self.limits.bytes {
            let Some((_, oldest)) = table.ages.pop_first() else { break };
            gone.extend(table.remove(&oldest));
        }
        drop(table);
    }

    /// Nothing of a thread is to be left in memory.
    pub(super) fn forget(&self, thread: &Name) {
        drop(self.take(thread));
    }
}

impl<S: State> Table<S> {
    fn remove(&mut self, thread: &Name) -> Option<Entry<S>> {
        let entry = self.threads.remove(thread)?;
        self.ages.remove(&entry.age);
        self.bytes -= entry.fields.bytes();
        Some(entry)
    }
}

impl<S: State> Runner<S> {
    /// Brings a new machine to the head of a thread; `false` if nothing is stored of it.
    pub(super) async fn restore_head(
        &self,
        store: &dyn CheckpointStore,
        thread: &Name,
        machine: &mut Machine<S>,
    ) -> Result<bool, RunError> {
        let (kept, place) = (self.kept(), Place::thread(thread));
        let failed = |cause| RunError::Store { thread: thread.clone(), cause };
        if let Some((mark, mut fields)) = kept.take(thread) {
            let Some(stored) = store.load_since(&place, mark).await.map_err(failed)? else { return Ok(false) };
            if stored.since != Some(mark) {
                return self.restore_all(stored, thread, machine).map(|()| true);
            }
            let now = stored.mark;
            if fields.read_since(&stored.fields) && machine.restore_read(stored, &fields)? {
                if let Some(now) = now {
                    kept.put(thread, now, fields);
                }
                return Ok(true);
            }
        }
        let Some(stored) = store.load(&place, None).await.map_err(failed)? else { return Ok(false) };
        self.restore_all(stored, thread, machine).map(|()| true)
    }

    /// The same from everything that is stored of the head.
    fn restore_all(&self, stored: Stored, thread: &Name, machine: &mut Machine<S>) -> Result<(), RunError> {
        let kept = self.kept();
        let bytes = stored.fields.iter().map(|segment| segment.bytes.len() as u64).sum();
        let Some(mark) = stored.mark.filter(|_| kept.limits.takes(bytes)) else { return machine.restore(stored) };
        if let Some(fields) = machine.restore_to_keep(stored)? {
            kept.put(thread, mark, fields);
        }
        Ok(())
    }
}

impl<S> fmt::Debug for Kept<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("limits", &self.limits).finish_non_exhaustive()
    }
}
