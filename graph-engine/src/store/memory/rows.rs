//! All checkpoints of one namespace. Rows only say where their bytes are, so that a commit allocates nothing of its own.
//!
//! Nobody walks back through the checkpoints to find a field. A field's rows are chained, newest first, from the base
//! that the last of them needs; and where each chain ends is known at the head, and written down in an index row every
//! so many checkpoints, so that it is found in as many steps as there are fields.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::iter::successors;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::store::checkpoint::{CheckpointInfo, CheckpointKind, Commit, FieldRow, SavedResult, Segment, Stored, Tags};
use crate::store::listing::Filter;

/// Checkpoints between two index rows of a state with few fields.
const DISTANCE: usize = 16;

#[derive(Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Rows by id; only looked up, never walked.
    index: HashMap<CheckpointId, usize, BuildHasherDefault<IdHasher>>,
    fields: Vec<Link>,
    bytes: Vec<u8>,
    pub(super) head: Option<usize>,
    pub(super) saved: Vec<(CheckpointId, SavedResult)>,
    /// Every field that was ever stored. Its place here is its number.
    names: Vec<Cow<'static, str>>,
    /// By number, the newest row of each field as of the head.
    newest: Newest,
    /// The same as of older checkpoints, one after the other.
    indices: Newest,
}

/// Rows of fields by the fields' numbers.
type Newest = Vec<Option<usize>>;

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
pub(super) struct Row {
    id: CheckpointId,
    /// The parent's id, kept when the parent itself is pruned.
    parent: Option<CheckpointId>,
    pub(super) parent_row: Option<usize>,
    turn: Name,
    step: u64,
    pub(super) time_ms: u64,
    kind: CheckpointKind,
    due_ms: Option<u64>,
    tags: Arc<Tags>,
    /// What it committed itself is at the end, behind what it took over from a parent that was pruned.
    fields: Range<usize>,
    /// How many of the fields it committed itself.
    own: usize,
    position: Range<usize>,
    /// Checkpoints since the last index row; 0 for one.
    distance: usize,
    /// Where its index row is.
    newest: Range<usize>,
}

/// A row of a field, and those that it is added to.
#[derive(Clone)]
struct Link {
    row: FieldRow,
    number: usize,
    before: Option<usize>,
    /// A row further back, so that any is found in a logarithmic number of steps, and how many there are before it.
    jump: usize,
    depth: usize,
}

impl Rows {
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn find(&self, id: CheckpointId) -> Option<usize> {
        self.index.get(&id).copied()
    }

    pub(super) fn at(&self, at: Option<CheckpointId>) -> Option<usize> {
        at.map_or(self.head, |id| self.find(id))
    }

    /// The head and when it is due.
    pub(super) fn head(&self) -> Option<(usize, Option<u64>)> {
        self.head.map(|head| (head, self.rows[head].due_ms))
    }

    pub(super) fn commit(&mut self, thread: &str, commit: &Commit) -> Result<(), StoreError> {
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
        let row = Row {
            id: commit.id,
            parent: commit.parent,
            parent_row,
            turn: commit.turn.clone(),
            step: commit.step,
            time_ms: commit.time_ms,
            kind: commit.kind,
            due_ms: commit.due_ms,
            tags: commit.tags.clone(),
            fields: 0..0,
            own: commit.fields.len(),
            position: 0..0,
            distance: 0,
            newest: 0..0,
        };
        self.push(row, commit.fields.iter().map(|field| (field, commit.field_bytes(field))), commit.position());
        self.saved.clear();
        Ok(())
    }

    /// Adds a checkpoint behind its parent and makes it the head.
    pub(super) fn push<'a>(
        &mut self,
        mut row: Row,
        fields: impl Iterator<Item = (&'a FieldRow, &'a [u8])>,
        position: &[u8],
    ) {
        if row.parent_row != self.head {
            self.newest = row.parent_row.map_or_else(Vec::new, |parent| self.newest_at(parent));
        }
        let first = self.fields.len();
        for (field, bytes) in fields {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            self.push_field(FieldRow { bytes: start..self.bytes.len(), ..field.clone() });
        }
        row.fields = first..self.fields.len();
        row.own = row.own.min(row.fields.len());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(position);
        row.position = start..self.bytes.len();
        row.distance = row.parent_row.map_or(0, |parent| self.rows[parent].distance + 1);
        if row.distance >= self.newest.len().max(DISTANCE) {
            row.distance = 0;
        }
        let first = self.indices.len();
        if row.distance == 0 {
            self.indices.extend_from_slice(&self.newest);
        }
        row.newest = first..self.indices.len();
        self.index.insert(row.id, self.rows.len());
        self.rows.push(row);
        self.head = Some(self.rows.len() - 1);
    }

    /// Makes another checkpoint the head.
    pub(super) fn become_head(&mut self, head: Option<usize>) {
        self.newest = head.map_or_else(Vec::new, |head| self.newest_at(head));
        self.head = head;
    }

    fn push_field(&mut self, row: FieldRow) {
        let number = self.names.iter().position(|name| *name == row.name).unwrap_or_else(|| {
            self.names.push(row.name.clone());
            self.names.len() - 1
        });
        if self.newest.len() <= number {
            self.newest.resize(self.names.len(), None);
        }
        let own = self.fields.len();
        let before = self.newest[number].filter(|_| !row.encoding.is_whole());
        let (jump, depth) = match before {
            None => (own, 0),
            Some(before) => {
                let (link, jump) = (&self.fields[before], &self.fields[self.fields[before].jump]);
                let even = link.depth - jump.depth == jump.depth - self.fields[jump.jump].depth;
                (if even { jump.jump } else { before }, link.depth + 1)
            }
        };
        self.fields.push(Link { row, number, before, jump, depth });
        self.newest[number] = Some(own);
    }

    /// A commit that is known already: the same content is a success, other content a conflict.
    fn repeated(&self, thread: &str, known: usize, commit: &Commit) -> Result<(), StoreError> {
        let row = &self.rows[known];
        let fields = &self.fields[row.fields.end - row.own..row.fields.end];
        let same = row.parent == commit.parent
            && self.bytes[row.position.clone()] == *commit.position()
            && fields.len() == commit.fields.len()
            && fields.iter().zip(&commit.fields).all(|(Link { row: stored, .. }, new)| {
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

    pub(super) fn save(&mut self, thread: &str, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        if self.head.map(|at| self.rows[at].id) != Some(head) {
            return Err(StoreError::conflict(thread, "the head moved"));
        }
        for result in results {
            let same = |(at, saved): &(CheckpointId, SavedResult)| {
                *at == head && saved.task == result.task && saved.key == result.key
            };
            if !self.saved.iter().any(same) {
                self.saved.push((head, result.clone()));
            }
        }
        Ok(())
    }

    /// The rows from a checkpoint back to the first one.
    pub(super) fn chain(&self, at: usize) -> impl Iterator<Item = usize> {
        successors(Some(at), |at| self.rows[*at].parent_row)
    }

    /// The newest row of each field as of a checkpoint.
    fn newest_at(&self, at: usize) -> Newest {
        if self.head == Some(at) {
            return self.newest.clone();
        }
        let mut newest = vec![None; self.names.len()];
        for row in self.chain(at).map(|at| &self.rows[at]) {
            visit();
            let indexed = row.distance == 0;
            let own = row.fields.clone().rev().map(|link| (self.fields[link].number, Some(link)));
            let index = self.indices[row.newest.clone()].iter().copied().enumerate();
            for (number, link) in own.chain(index) {
                newest[number] = newest[number].or(link);
            }
            if indexed {
                break;
            }
        }
        newest
    }

    /// A row of a field and all that it is added to, newest first.
    fn links(&self, newest: Option<usize>) -> impl Iterator<Item = usize> {
        visit();
        successors(newest, |link| self.fields[*link].before).inspect(|_| visit())
    }

    /// For each field of a checkpoint its base and what was added to it, in order.
    pub(super) fn segments(&self, at: usize) -> Vec<usize> {
        let newest = self.newest_at(at);
        let mut found: Vec<usize> = newest.into_iter().flat_map(|newest| self.links(newest)).collect();
        found.sort_unstable();
        found
    }

    /// The segments of one field that touch a range of its items.
    pub(super) fn field(&self, at: usize, field: &str, range: &Range<u64>) -> Vec<Segment> {
        let number = self.names.iter().position(|name| name == field);
        let newest = number.and_then(|number| self.newest_at(at).get(number).copied().flatten());
        let Some(newest) = newest else { return Vec::new() };
        // A field that doesn't count its items is given whole, whatever the range.
        let counted = self.fields[newest].row.items.end > 0;
        let last = if counted { self.last_before(newest, range.end) } else { Some(newest) };
        let touches = |row: &FieldRow| !counted || row.items.is_empty() || range.start < row.items.end;
        let found = self.links(last).take_while(|link| touches(&self.fields[*link].row));
        let mut found: Vec<Segment> = found.map(|link| self.segment(link)).collect();
        found.reverse();
        found
    }

    /// Going back from a row of a field, the first that begins before an item.
    fn last_before(&self, newest: usize, end: u64) -> Option<usize> {
        let behind = |link: usize| self.fields[link].row.items.start >= end;
        let mut at = newest;
        while behind(at) {
            visit();
            let jump = self.fields[at].jump;
            at = if jump != at && behind(jump) { jump } else { self.fields[at].before? };
        }
        Some(at)
    }

    fn segment(&self, link: usize) -> Segment {
        let row = &self.fields[link].row;
        Segment {
            name: row.name.clone(),
            encoding: row.encoding,
            items: row.items.clone(),
            bytes: self.bytes[row.bytes.clone()].to_vec(),
        }
    }

    /// A checkpoint with all its fields.
    pub(super) fn load(&self, at: usize) -> Stored {
        let info = self.info(at);
        let saved = self.saved.iter().filter(|(id, _)| *id == info.id).map(|(_, result)| result.clone());
        Stored {
            position: self.position(at).to_vec(),
            fields: self.segments(at).into_iter().map(|link| self.segment(link)).collect(),
            saved: saved.collect(),
            info,
        }
    }

    pub(super) fn position(&self, at: usize) -> &[u8] {
        &self.bytes[self.rows[at].position.clone()]
    }

    /// The rows of its own fields.
    pub(super) fn own_fields(&self, at: usize) -> Range<usize> {
        self.rows[at].fields.clone()
    }

    pub(super) fn field_row(&self, link: usize) -> (&FieldRow, &[u8]) {
        let row = &self.fields[link].row;
        (row, &self.bytes[row.bytes.clone()])
    }

    pub(super) fn info(&self, at: usize) -> CheckpointInfo {
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
    pub(super) fn row(&self, at: usize) -> Commit {
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
        for link in row.fields.clone() {
            let (field, bytes) = self.field_row(link);
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(bytes);
            commit.fields.push(FieldRow { bytes: start..commit.bytes.len(), ..field.clone() });
        }
        commit.bytes.extend_from_slice(self.position(at));
        commit
    }

    pub(super) fn list(&self, filter: &Filter) -> Vec<CheckpointInfo> {
        let end = filter.before.map_or(Some(self.rows.len()), |id| self.find(id)).unwrap_or(0);
        let passing = (0..end).rev().filter(|at| {
            let row = &self.rows[*at];
            filter.passes(&row.turn, row.step, &row.tags)
        });
        passing.take(filter.limit.unwrap_or(usize::MAX)).map(|at| self.info(at)).collect()
    }
}

/// Counts how many rows are looked at, in the tests of this module.
fn visit() {
    #[cfg(test)]
    tests::VISITED.set(tests::VISITED.get() + 1);
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
