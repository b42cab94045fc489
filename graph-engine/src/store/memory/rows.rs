//! All checkpoints of one namespace. Rows only say where their bytes are, so that a commit allocates nothing of its own.
//!
//! Nobody walks back through the checkpoints to find a field. A field's rows are chained, newest first, from the base
//! that the last of them needs; and where each chain ends is known at the head, and written down in an index row every
//! so many checkpoints, so that it is found in as many steps as there are fields.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::successors;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunks::{Bytes, Chunks, Span};
use super::index::{Free, Index};
use super::row::{About, Link, MOST, NONE, Row, Shared, known, short};
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::state::Encoding;
use crate::store::checkpoint::{CheckpointInfo, Commit, FieldRow, SavedResult, Segment, Stored};
use crate::store::listing::Filter;
use crate::store::mark::Mark;
use crate::store::segments::Segments;

/// Checkpoints between two index rows of a state with few fields.
const DISTANCE: usize = 16;

#[derive(Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: Chunks<Row>,
    index: Index,
    fields: Chunks<Link>,
    bytes: Bytes,
    pub(super) head: Option<usize>,
    /// The head's id, which every commit is compared with.
    head_id: Option<CheckpointId>,
    pub(super) saved: Vec<(CheckpointId, SavedResult)>,
    /// What checkpoints one after the other share.
    turns: Vec<Shared>,
    /// When the questions of a checkpoint expire. Few have any.
    due: BTreeMap<usize, u64>,
    /// The ids of parents that were pruned.
    pruned: BTreeMap<usize, CheckpointId>,
    /// Every field that was ever stored. Its place here is its number.
    names: Vec<Cow<'static, str>>,
    /// By number, the newest row of each field as of the head.
    newest: Newest,
    /// The same as of older checkpoints, one after the other, each behind its length.
    indices: Vec<u32>,
    born: Born,
}

/// A number that no other rows of this process have. A copy goes its own way, so it has its own.
struct Born(u64);

impl Default for Born {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Born {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Rows of fields by the fields' numbers, or [`NONE`].
type Newest = Vec<u32>;

impl Rows {
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    pub(super) fn find(&self, id: CheckpointId) -> Option<usize> {
        self.index.find(id, self.rows.len(), |at| self.rows[at].id)
    }

    pub(super) fn at(&self, at: Option<CheckpointId>) -> Option<usize> {
        at.map_or(self.head, |id| self.find(id))
    }

    /// The head and when it is due.
    pub(super) fn head(&self) -> Option<(usize, Option<u64>)> {
        self.head.map(|head| (head, self.due(head)))
    }

    fn due(&self, at: usize) -> Option<u64> {
        if self.due.is_empty() { None } else { self.due.get(&at).copied() }
    }

    /// The id of the checkpoint before one, whether or not it was pruned.
    fn parent(&self, at: usize) -> Option<CheckpointId> {
        match self.rows[at].parent() {
            Some(parent) => Some(self.rows[parent].id),
            None => self.pruned.get(&at).copied(),
        }
    }

    pub(super) fn commit(&mut self, thread: &str, commit: &Commit) -> Result<(), StoreError> {
        let place = match self.index.place(commit.id, self.rows.len(), |at| self.rows[at].id) {
            Ok(place) => place,
            Err(known) => return self.repeated(thread, known, commit),
        };
        let head = self.head_id;
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
        let fields = self.fields.len() + commit.fields.len();
        if self.rows.len() >= MOST || fields >= MOST || self.indices.len() >= MOST {
            return Err(StoreError::unavailable("a thread in memory has two thousand million rows; prune it"));
        }
        if commit.bytes.len() > Bytes::LONGEST {
            return Err(StoreError::unavailable("a checkpoint in memory has at most 4 GiB"));
        }
        self.follow(parent_row);
        let first = self.fields.len();
        let bytes = self.bytes.add(&commit.bytes);
        for field in &commit.fields {
            let number = self.number(&field.name, || field.name.clone());
            self.push_field(number, field.encoding, field.items.clone(), bytes.part(field.bytes.clone()));
        }
        let position = commit.fields.last().map_or(0, |last| last.bytes.end);
        let about = About {
            id: commit.id,
            parent: commit.parent,
            parent_row,
            turn: &commit.turn,
            tags: &commit.tags,
            step: commit.step,
            time_ms: commit.time_ms,
            kind: commit.kind,
            due_ms: commit.due_ms,
            own: commit.fields.len(),
        };
        self.push(about, place, first, bytes.part(position..commit.bytes.len()));
        self.saved.clear();
        Ok(())
    }

    /// What was said of a row.
    pub(super) fn about(&self, at: usize) -> About<'_> {
        let row = &self.rows[at];
        let Shared { turn, tags, step, time_ms } = &self.turns[row.turn as usize];
        About {
            id: row.id,
            parent: self.parent(at),
            parent_row: row.parent(),
            turn,
            tags,
            step: step + u64::from(row.step),
            time_ms: time_ms + u64::from(row.time_ms),
            kind: row.kind,
            due_ms: self.due(at),
            own: row.own as usize,
        }
    }

    /// Adds a checkpoint behind its parent with what these fields of another one hold, and makes it the head.
    pub(super) fn take_over(&mut self, about: About<'_>, other: &Self, fields: &[usize], position: &[u8]) {
        self.follow(about.parent_row);
        let first = self.fields.len();
        for field in fields {
            let link = &other.fields[*field];
            let bytes = self.bytes.add(other.bytes.get(link.bytes));
            let name = &other.names[link.number as usize];
            let number = self.number(name, || name.clone());
            self.push_field(number, link.encoding, link.items.clone(), bytes);
        }
        let position = self.bytes.add(position);
        // Rows that are taken over have ids that differ.
        let place = self.index.place(about.id, self.rows.len(), |at| self.rows[at].id).unwrap_or_default();
        self.push(about, place, first, position);
    }

    /// What is added next comes behind this row.
    #[inline]
    fn follow(&mut self, parent_row: Option<usize>) {
        if parent_row != self.head {
            self.branch(parent_row);
        }
    }

    #[cold]
    fn branch(&mut self, parent_row: Option<usize>) {
        self.newest = parent_row.map_or_else(Vec::new, |parent| self.newest_at(parent).into_owned());
    }

    /// Adds a checkpoint whose fields are there, and makes it the head.
    fn push(&mut self, about: About<'_>, place: Free, first: usize, position: Span) {
        let at = self.rows.len();
        let mut distance = about.parent_row.map_or(0, |parent| self.rows[parent].distance.saturating_add(1));
        if usize::from(distance) >= self.newest.len().max(DISTANCE) || distance == u16::MAX {
            distance = 0;
        }
        let mut newest = NONE;
        // Without a field there is nothing to write down, and nothing is found.
        if distance == 0 && !self.newest.is_empty() {
            newest = short(self.indices.len());
            self.indices.push(short(self.newest.len()));
            self.indices.extend_from_slice(&self.newest);
        }
        let [step, time_ms] = self.turns.last().and_then(|last| last.since(&about)).unwrap_or_else(|| {
            let (turn, tags) = (about.turn.clone(), about.tags.clone());
            self.turns.push(Shared { turn, tags, step: about.step, time_ms: about.time_ms });
            [0, 0]
        });
        if let Some(due) = about.due_ms {
            self.due.insert(at, due);
        }
        if let (None, Some(parent)) = (about.parent_row, about.parent) {
            self.pruned.insert(at, parent);
        }
        self.rows.push(Row {
            id: about.id,
            step,
            time_ms,
            position,
            parent: about.parent_row.map_or(NONE, short),
            turn: short(self.turns.len() - 1),
            kind: about.kind,
            own: short(about.own.min(self.fields.len() - first)),
            fields: short(first),
            distance,
            newest,
        });
        self.index.put(place, at);
        (self.head, self.head_id) = (Some(at), Some(about.id));
    }

    /// Makes another checkpoint the head.
    pub(super) fn become_head(&mut self, head: Option<usize>) {
        self.newest = head.map_or_else(Vec::new, |head| self.newest_at(head).into_owned());
        self.head_id = head.map(|head| self.rows[head].id);
        self.head = head;
    }

    /// The number of a field; `own` is its name, to be kept with the first row of it.
    fn number(&mut self, name: &str, own: impl FnOnce() -> Cow<'static, str>) -> usize {
        // A field's name is mostly the same text at the same place.
        let is = |known: &Cow<'static, str>| std::ptr::eq(&**known, name) || known == name;
        self.names.iter().position(is).unwrap_or_else(|| {
            self.names.push(own());
            self.names.len() - 1
        })
    }

    fn push_field(&mut self, number: usize, encoding: Encoding, items: Range<u64>, bytes: Span) {
        if self.newest.len() <= number {
            self.newest.resize(self.names.len(), NONE);
        }
        let own = self.fields.len();
        let before = known(self.newest[number]).filter(|_| !encoding.is_whole());
        let (jump, depth) = match before {
            None => (short(own), 0),
            Some(before) => {
                let link = &self.fields[before];
                let jump = &self.fields[link.jump as usize];
                let even = link.depth - jump.depth == jump.depth - self.fields[jump.jump as usize].depth;
                (if even { jump.jump } else { short(before) }, link.depth + 1)
            }
        };
        let before = before.map_or(NONE, short);
        self.fields.push(Link { items, bytes, encoding, number: short(number), before, jump, depth });
        self.newest[number] = short(own);
    }

    /// A commit that is known already: the same content is a success, other content a conflict.
    fn repeated(&self, thread: &str, known: usize, commit: &Commit) -> Result<(), StoreError> {
        let row = &self.rows[known];
        let fields = self.own_fields(known);
        let mut own = fields.end - row.own as usize..fields.end;
        let same = self.parent(known) == commit.parent
            && *self.position(known) == *commit.position()
            && own.len() == commit.fields.len()
            && commit.fields.iter().all(|new| {
                own.next().is_some_and(|stored| {
                    let stored = self.link(stored);
                    *stored.name == new.name
                        && stored.encoding == new.encoding
                        && *stored.bytes == *commit.field_bytes(new)
                })
            });
        if same {
            Ok(())
        } else {
            Err(StoreError::conflict(thread, format!("checkpoint {} has other content", row.id)))
        }
    }

    pub(super) fn save(&mut self, thread: &str, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        if self.head_id != Some(head) {
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
        successors(Some(at), |at| self.rows[*at].parent())
    }

    /// The newest row of each field as of a checkpoint.
    fn newest_at(&self, at: usize) -> Cow<'_, [u32]> {
        if self.head == Some(at) {
            return Cow::Borrowed(&self.newest);
        }
        let mut newest = vec![NONE; self.names.len()];
        for at in self.chain(at) {
            visit();
            let row = &self.rows[at];
            let own = self.own_fields(at).rev().map(|link| (self.fields[link].number as usize, short(link)));
            let index = match known(row.newest) {
                None => &[],
                Some(index) => &self.indices[index + 1..][..self.indices[index] as usize],
            };
            for (number, link) in own.chain(index.iter().copied().enumerate()) {
                if newest[number] == NONE {
                    newest[number] = link;
                }
            }
            if row.distance == 0 {
                break;
            }
        }
        Cow::Owned(newest)
    }

    /// A row of a field and all that it is added to, newest first.
    fn links(&self, newest: Option<usize>) -> impl Iterator<Item = usize> {
        visit();
        successors(newest, |link| known(self.fields[*link].before)).inspect(|_| visit())
    }

    /// For each field of a checkpoint its base and what was added to it, in order.
    pub(super) fn segments(&self, at: usize) -> Vec<usize> {
        self.segments_since(at, 0)
    }

    /// Those of them from a row on.
    fn segments_since(&self, at: usize, first: usize) -> Vec<usize> {
        let newest = self.newest_at(at);
        let since = |newest: &u32| self.links(known(*newest)).take_while(|link| *link >= first);
        let mut found: Vec<usize> = newest.iter().flat_map(since).collect();
        found.sort_unstable();
        found
    }

    /// The segments of one field that touch a range of its items.
    pub(super) fn field(&self, at: usize, field: &str, range: &Range<u64>) -> Vec<Segment> {
        let number = self.names.iter().position(|name| name == field);
        let newest = number.and_then(|number| self.newest_at(at).get(number).copied().and_then(known));
        let Some(newest) = newest else { return Vec::new() };
        // A field that doesn't count its items is given whole, whatever the range.
        let counted = self.fields[newest].items.end > 0;
        let last = if counted { self.last_before(newest, range.end) } else { Some(newest) };
        let touches = |row: &Link| !counted || row.items.is_empty() || range.start < row.items.end;
        let found = self.links(last).take_while(|link| touches(&self.fields[*link]));
        let mut found: Vec<Segment> = found.map(|link| self.segment(link)).collect();
        found.reverse();
        found
    }

    /// Going back from a row of a field, the first that begins before an item.
    fn last_before(&self, newest: usize, end: u64) -> Option<usize> {
        let behind = |link: usize| self.fields[link].items.start >= end;
        let mut at = newest;
        while behind(at) {
            visit();
            let jump = self.fields[at].jump as usize;
            at = if jump != at && behind(jump) { jump } else { known(self.fields[at].before)? };
        }
        Some(at)
    }

    fn segment(&self, link: usize) -> Segment {
        let LinkRow { name, encoding, items, bytes } = self.link(link);
        Segment { name: name.clone(), encoding, items, bytes: bytes.to_vec() }
    }

    /// A checkpoint with all its fields.
    pub(super) fn load(&self, at: usize) -> Stored {
        self.stored(at, self.segments(at))
    }

    /// The head, without what was there at a mark.
    pub(super) fn load_since(&self, mark: Mark) -> Option<Stored> {
        let head = self.head?;
        let [born, known, _] = mark.numbers();
        let known = usize::try_from(known).ok().filter(|known| born == self.born.0 && *known <= head);
        // Parents come before their children, so this ends at the mark or passes it by.
        let led = |known: &usize| self.chain(head).find(|at| at <= known) == Some(*known);
        let Some(known) = known.filter(led).filter(|known| self.rows[*known].id == mark.checkpoint()) else {
            return Some(self.load(head));
        };
        let first = self.own_fields(known).end;
        Some(Stored { since: Some(mark), ..self.stored(head, self.segments_since(head, first)) })
    }

    fn stored(&self, at: usize, links: Vec<usize>) -> Stored {
        let info = self.info(at);
        let saved = self.saved.iter().filter(|(id, _)| *id == info.id).map(|(_, result)| result.clone());
        let mut fields = Segments::new();
        fields.reserve(links.len(), links.iter().map(|link| self.fields[*link].bytes.len()).sum());
        for link in links {
            let LinkRow { name, encoding, items, bytes } = self.link(link);
            fields.push_named(name, encoding, items, bytes);
        }
        let saved = saved.collect();
        let mark = Some(Mark::new(info.id, [self.born.0, at as u64, 0]));
        Stored { position: self.position(at).to_vec(), fields, saved, mark, since: None, info }
    }

    pub(super) fn position(&self, at: usize) -> &[u8] {
        self.bytes.get(self.rows[at].position)
    }

    /// The rows of its own fields.
    pub(super) fn own_fields(&self, at: usize) -> Range<usize> {
        let end = self.rows.get(at + 1).map_or(self.fields.len(), |next| next.fields as usize);
        self.rows[at].fields as usize..end
    }

    fn link(&self, link: usize) -> LinkRow<'_> {
        let Link { items, bytes, encoding, number, .. } = &self.fields[link];
        LinkRow {
            name: &self.names[*number as usize],
            encoding: *encoding,
            items: items.clone(),
            bytes: self.bytes.get(*bytes),
        }
    }

    pub(super) fn info(&self, at: usize) -> CheckpointInfo {
        let About { id, parent, turn, tags, step, time_ms, kind, .. } = self.about(at);
        CheckpointInfo { id, parent, turn: turn.clone(), step, time_ms, kind, tags: (**tags).clone() }
    }

    /// A checkpoint as it was committed.
    pub(super) fn row(&self, at: usize) -> Commit {
        let About { id, parent, turn, tags, step, time_ms, kind, due_ms, .. } = self.about(at);
        let (turn, tags) = (turn.clone(), tags.clone());
        let mut commit = Commit { id, parent, turn, step, time_ms, kind, due_ms, tags, ..Commit::default() };
        for link in self.own_fields(at) {
            let LinkRow { name, encoding, items, bytes } = self.link(link);
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(bytes);
            commit.fields.push(FieldRow::new(name.clone(), encoding, items, start..commit.bytes.len()));
        }
        commit.bytes.extend_from_slice(self.position(at));
        commit
    }

    pub(super) fn list(&self, filter: &Filter) -> Vec<CheckpointInfo> {
        let end = filter.before.map_or(Some(self.rows.len()), |id| self.find(id)).unwrap_or(0);
        let passing = (0..end).rev().filter(|at| {
            let row = &self.rows[*at];
            let Shared { turn, tags, step, .. } = &self.turns[row.turn as usize];
            filter.passes(turn, step + u64::from(row.step), tags)
        });
        passing.take(filter.limit.unwrap_or(usize::MAX)).map(|at| self.info(at)).collect()
    }
}

/// A row of a field with its name and bytes.
struct LinkRow<'a> {
    name: &'a Cow<'static, str>,
    encoding: Encoding,
    items: Range<u64>,
    bytes: &'a [u8],
}

/// Counts how many rows are looked at, in the tests of this module.
fn visit() {
    #[cfg(test)]
    tests::VISITED.set(tests::VISITED.get() + 1);
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
