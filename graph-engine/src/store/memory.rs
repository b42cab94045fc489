//! Checkpoints in the memory of this process: for tests, and for threads that need not outlive it.

use std::collections::{BTreeMap, HashMap, btree_map};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;

use super::CheckpointStore;
use super::checkpoint::{CheckpointInfo, CheckpointKind, Commit, FieldRow, Place, SavedResult, Segment, Stored, Tags};
use super::listing::{Filter, Keep, ThreadFilter, ThreadInfo};
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::state::Encoding;

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

/// All checkpoints of one namespace. Rows only say where their bytes are, so that a commit allocates nothing of its
/// own.
#[derive(Clone, Default)]
struct Rows {
    rows: Vec<Row>,
    /// Rows by id; only looked up, never walked.
    index: HashMap<CheckpointId, usize, BuildHasherDefault<IdHasher>>,
    fields: Vec<FieldRow>,
    bytes: Vec<u8>,
    head: Option<usize>,
    saved: Vec<(CheckpointId, SavedResult)>,
}

/// Ids are hashes already: their low half is as good as any other hash of them.
#[derive(Clone, Copy, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only whole ids are hashed, by the method below.
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, id: u128) {
        self.0 = id as u64;
    }
}

#[derive(Clone)]
struct Row {
    id: CheckpointId,
    /// The parent's id, kept when the parent itself is pruned.
    parent: Option<CheckpointId>,
    parent_row: Option<usize>,
    turn: Name,
    step: u64,
    time_ms: u64,
    kind: CheckpointKind,
    due_ms: Option<u64>,
    tags: Arc<Tags>,
    /// What it committed itself is at the end, behind what it took over from a parent that was pruned.
    fields: Range<usize>,
    /// How many of the fields it committed itself.
    own: usize,
    position: Range<usize>,
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
        self.threads.get(thread).map_or(0, |spaces| spaces.values().map(|rows| rows.bytes.len()).sum())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("threads", &self.threads.len()).finish()
    }
}

impl Rows {
    fn find(&self, id: CheckpointId) -> Option<usize> {
        self.index.get(&id).copied()
    }

    fn at(&self, at: Option<CheckpointId>) -> Option<usize> {
        at.map_or(self.head, |id| self.find(id))
    }

    fn commit(&mut self, thread: &str, commit: &Commit) -> Result<(), StoreError> {
        if let Some(known) = self.find(commit.id) {
            return self.repeated(thread, known, commit);
        }
        let head = self.head.map(|at| self.rows[at].id);
        if head != commit.parent && !commit.fork {
            let show = |id: Option<CheckpointId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
            let why = format!("the head is {}, the commit follows {}", show(head), show(commit.parent));
            return Err(StoreError::conflict(thread, why));
        }
        // A commit mostly follows the head, which needs no look-up.
        let parent_row = if head == commit.parent { self.head } else { commit.parent.and_then(|id| self.find(id)) };
        if parent_row.is_none() && commit.parent.is_some() {
            return Err(StoreError::conflict(thread, "the parent of the commit is not stored"));
        }
        let (first, offset) = (self.fields.len(), self.bytes.len());
        self.bytes.extend_from_slice(&commit.bytes);
        self.fields.extend(
            commit
                .fields
                .iter()
                .map(|row| FieldRow { bytes: row.bytes.start + offset..row.bytes.end + offset, ..row.clone() }),
        );
        let position = self.bytes.len() - commit.position().len()..self.bytes.len();
        self.index.insert(commit.id, self.rows.len());
        self.rows.push(Row {
            id: commit.id,
            parent: commit.parent,
            parent_row,
            turn: commit.turn.clone(),
            step: commit.step,
            time_ms: commit.time_ms,
            kind: commit.kind,
            due_ms: commit.due_ms,
            tags: commit.tags.clone(),
            fields: first..self.fields.len(),
            own: commit.fields.len(),
            position,
        });
        self.head = Some(self.rows.len() - 1);
        self.saved.clear();
        Ok(())
    }

    /// A commit that is known already: the same content is a success, other content a conflict.
    fn repeated(&self, thread: &str, known: usize, commit: &Commit) -> Result<(), StoreError> {
        let row = &self.rows[known];
        let fields = &self.fields[row.fields.end - row.own..row.fields.end];
        let same = row.parent == commit.parent
            && self.bytes[row.position.clone()] == *commit.position()
            && fields.len() == commit.fields.len()
            && fields.iter().zip(&commit.fields).all(|(stored, new)| {
                stored.name == new.name
                    && stored.encoding == new.encoding
                    && self.bytes[stored.bytes.clone()] == *commit.field_bytes(new)
            });
        if same {
            Ok(())
        } else {
            Err(StoreError::conflict(thread, format!("checkpoint {} has other content", row.id)))
        }
    }

    /// The rows from a checkpoint back to the first one.
    fn chain(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| self.rows[*at].parent_row)
    }

    /// For each field of a checkpoint its base and the deltas after it, in order.
    fn segments(&self, at: usize) -> Vec<&FieldRow> {
        let mut complete: Vec<&str> = Vec::new();
        let mut found: Vec<&FieldRow> = Vec::new();
        for row in self.chain(at) {
            for field in self.fields[self.rows[row].fields.clone()].iter().rev() {
                if complete.contains(&&*field.name) {
                    continue;
                }
                found.push(field);
                if field.encoding == Encoding::Base {
                    complete.push(&field.name);
                }
            }
        }
        found.reverse();
        found
    }

    fn segment(&self, row: &FieldRow) -> Segment {
        Segment {
            name: row.name.clone(),
            encoding: row.encoding,
            items: row.items.clone(),
            bytes: self.bytes[row.bytes.clone()].to_vec(),
        }
    }

    fn info(&self, at: usize) -> CheckpointInfo {
        let Row { id, parent, turn, step, time_ms, kind, tags, .. } = &self.rows[at];
        CheckpointInfo {
            id: *id,
            parent: *parent,
            turn: turn.clone(),
            step: *step,
            time_ms: *time_ms,
            kind: *kind,
            tags: (**tags).clone(),
        }
    }

    /// A checkpoint as it was committed.
    fn row(&self, at: usize) -> Commit {
        let row = &self.rows[at];
        let mut commit = Commit {
            id: row.id,
            parent: row.parent,
            turn: row.turn.clone(),
            step: row.step,
            time_ms: row.time_ms,
            kind: row.kind,
            due_ms: row.due_ms,
            tags: row.tags.clone(),
            ..Commit::default()
        };
        for field in &self.fields[row.fields.clone()] {
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(&self.bytes[field.bytes.clone()]);
            commit.fields.push(FieldRow { bytes: start..commit.bytes.len(), ..field.clone() });
        }
        commit.bytes.extend_from_slice(&self.bytes[row.position.clone()]);
        commit
    }

    fn prune(&mut self, keep: Keep) -> u64 {
        let Some(head) = self.head else { return 0 };
        let newest: Vec<usize> = match keep {
            Keep::Last(count) => self.chain(head).take(count.max(1)).collect(),
            Keep::Since(_) => vec![head],
        };
        let kept: Vec<usize> = (0..self.rows.len())
            .filter(|at| {
                *at == head
                    || match keep {
                        Keep::Last(_) => newest.contains(at),
                        Keep::Since(time) => self.rows[*at].time_ms >= time,
                    }
            })
            .collect();
        let mut pruned = Self { saved: std::mem::take(&mut self.saved), ..Self::default() };
        for at in &kept {
            let row = &self.rows[*at];
            // A row whose parent goes takes over all that its chain says of the fields.
            let parent_row = row.parent_row.and_then(|parent| kept.binary_search(&parent).ok());
            let fields = match parent_row {
                Some(_) => self.fields[row.fields.clone()].iter().collect(),
                None => self.segments(*at),
            };
            let first = pruned.fields.len();
            for field in fields {
                let start = pruned.bytes.len();
                pruned.bytes.extend_from_slice(&self.bytes[field.bytes.clone()]);
                pruned.fields.push(FieldRow { bytes: start..pruned.bytes.len(), ..field.clone() });
            }
            let start = pruned.bytes.len();
            pruned.bytes.extend_from_slice(&self.bytes[row.position.clone()]);
            pruned.index.insert(row.id, pruned.rows.len());
            pruned.rows.push(Row {
                parent_row,
                own: row.own.min(pruned.fields.len() - first),
                fields: first..pruned.fields.len(),
                position: start..pruned.bytes.len(),
                ..row.clone()
            });
        }
        pruned.head = kept.binary_search(&head).ok();
        let dropped = self.rows.len() - kept.len();
        *self = pruned;
        dropped as u64
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
        if rows.head.map(|at| rows.rows[at].id) != Some(head) {
            return Err(moved());
        }
        for result in results {
            let same = |(at, saved): &(CheckpointId, SavedResult)| {
                *at == head && saved.task == result.task && saved.key == result.key
            };
            if !rows.saved.iter().any(same) {
                rows.saved.push((head, result.clone()));
            }
        }
        Ok(())
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(None) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        let Some(at) = rows.at(at) else { return Ok(None) };
        let info = rows.info(at);
        let saved = rows.saved.iter().filter(|(id, _)| *id == info.id).map(|(_, result)| result.clone());
        Ok(Some(Stored {
            position: rows.bytes[rows.rows[at].position.clone()].to_vec(),
            fields: rows.segments(at).into_iter().map(|row| rows.segment(row)).collect(),
            saved: saved.collect(),
            info,
        }))
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
        let Some(at) = rows.at(at) else { return Ok(Vec::new()) };
        let wanted = |row: &&FieldRow| {
            // A field that doesn't count its items is one segment, whatever the range.
            row.name == field && (row.items.is_empty() || (row.items.start < range.end && range.start < row.items.end))
        };
        Ok(rows.segments(at).into_iter().filter(wanted).map(|row| rows.segment(row)).collect())
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(None) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(None) };
        Ok(rows.find(id).map(|at| rows.row(at)))
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        let Some(spaces) = self.threads.get(&place.thread) else { return Ok(Vec::new()) };
        let Some(rows) = spaces.get(&place.namespace) else { return Ok(Vec::new()) };
        let end = filter.before.map_or(Some(rows.rows.len()), |id| rows.find(id)).unwrap_or(0);
        let passing = (0..end).rev().filter(|at| {
            let row = &rows.rows[*at];
            filter.passes(&row.turn, row.step, &row.tags)
        });
        Ok(passing.take(filter.limit.unwrap_or(usize::MAX)).map(|at| rows.info(at)).collect())
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
                let head = rows.head?;
                let due_ms = rows.rows[head].due_ms;
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
