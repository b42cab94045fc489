//! The fields of a checkpoint: what was written since the last one and how it goes out, and the way back.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::Machine;
use super::merge::{Refused, apply};
use crate::run_error::RunError;
use crate::state::{CodecError, Deltas, Encoding, FieldSet, State};
use crate::store::{Commit, FieldRow, SegmentRef, Segments};

/// What the next commit must hold of the fields.
pub(super) struct Changes {
    /// Written since the last commit.
    dirty: FieldSet,
    /// Must be stored whole: never stored before, overwritten, or the writes would be larger.
    whole: FieldSet,
    /// Changed by a migration.
    rewritten: FieldSet,
    /// Of these the writes themselves are stored.
    by_writes: FieldSet,
    /// One for each field, where anything is stored.
    stored: Vec<StoredField>,
    /// Fields that a migration has taken out.
    removed: Vec<String>,
    /// The writes of the super-step that is being merged, which don't count before it is.
    notes: Vec<u8>,
    parts: Vec<(usize, Range<usize>)>,
}

/// How a field is stored so far.
#[derive(Clone, Default)]
struct StoredField {
    mark: u64,
    /// Bytes of the last base, and of everything after it.
    base: u64,
    added: u64,
    /// The writes since the last commit, as a JSON array without its end.
    writes: Vec<u8>,
}

impl StoredField {
    fn size(&self) -> u64 {
        self.base + self.added
    }

    /// What it is once the row is stored.
    fn with(&self, row: &FieldRow) -> (u64, u64) {
        let bytes = row.bytes.len() as u64;
        if row.encoding.is_whole() { (bytes, 0) } else { (self.base, self.added + bytes) }
    }
}

impl Changes {
    /// Nothing was stored and nothing was written.
    pub(super) fn new<S: State>(state: &S, durable: bool) -> Self {
        let fields = state.fields().len();
        Self {
            dirty: FieldSet::EMPTY,
            rewritten: FieldSet::EMPTY,
            whole: (0..fields).fold(FieldSet::EMPTY, |set, field| set | FieldSet::of(field)),
            by_writes: state.stored_by_writes(),
            stored: if durable { vec![StoredField::default(); fields] } else { Vec::new() },
            removed: Vec::new(),
            notes: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Nothing of what is stored is kept in memory.
    pub(super) fn drop_stored(&mut self) {
        if !self.stored.is_empty() {
            (self.stored, self.removed, self.notes, self.parts) = Default::default();
        }
    }

    /// Notes what an update writes, before reducers take it. Updates come in task order.
    pub(super) fn note<S: State>(&mut self, state: &S, update: &S::Update) {
        let noted = self.by_writes.without(self.whole);
        if noted.is_empty() {
            return;
        }
        for field in state.written(update).and(noted).iter() {
            let start = self.notes.len();
            // A write that can't be stored may still make a value that can.
            let fits = state.encode_write(field, update, &mut self.notes).is_ok();
            if !fits {
                self.notes.truncate(start);
            }
            self.parts.push((field, start..self.notes.len()));
        }
    }

    /// The super-step was merged: its writes go out with the next commit.
    pub(super) fn keep(&mut self, written: FieldSet, overwritten: FieldSet) {
        self.dirty.insert(written);
        self.whole.insert(overwritten);
        for (field, part) in self.parts.drain(..) {
            let stored = &mut self.stored[field];
            let longer = stored.writes.len() + part.len() + 2;
            // A part without bytes is one that could not be stored.
            if part.is_empty() || stored.added + longer as u64 > stored.base {
                self.whole.insert(FieldSet::of(field));
            }
            if !self.whole.contains(field) {
                stored.writes.push(if stored.writes.is_empty() { b'[' } else { b',' });
                stored.writes.extend_from_slice(&self.notes[part]);
            }
        }
        for field in self.whole.and(self.by_writes).and(self.dirty).iter() {
            self.stored[field].writes.clear();
        }
        self.notes.clear();
    }

    /// The super-step was not merged: nothing of it is left.
    pub(super) fn forget(&mut self) {
        self.notes.clear();
        self.parts.clear();
    }

    /// These fields were read from a checkpoint, which holds them as they are.
    fn take_read<S: State>(&mut self, state: &S, read: FieldSet) {
        for field in read.iter() {
            self.stored[field].mark = state.mark(field);
        }
        let rewritten = std::mem::take(&mut self.rewritten);
        self.whole = self.whole.without(read) | rewritten;
        self.dirty.insert(rewritten);
    }

    /// Whether the last commit holds everything.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.removed.is_empty()
    }

    /// The next commit says that the field is gone.
    pub(super) fn remove(&mut self, field: String) {
        self.removed.push(field);
    }

    /// The next commit holds the field whole.
    pub(super) fn rewrite<S: State>(&mut self, state: &S, field: &str) {
        if let Some(field) = position(state, field) {
            self.rewritten.insert(FieldSet::of(field));
        }
    }

    /// Appends the rows of these fields to a commit.
    fn encode<S: State>(&self, state: &S, fields: FieldSet, commit: &mut Commit) -> Result<(), CodecError> {
        for index in fields.iter() {
            let (field, stored) = (&state.fields()[index], &self.stored[index]);
            if field.transient {
                continue;
            }
            let start = commit.bytes.len();
            let whole = self.whole.contains(index);
            let encoding = if !whole && !stored.writes.is_empty() {
                commit.bytes.extend_from_slice(&stored.writes);
                commit.bytes.push(b']');
                Encoding::Writes
            } else {
                let since = (!whole && !self.by_writes.contains(index)).then_some(stored.mark);
                state.encode(index, since, &mut commit.bytes)?
            };
            let from = if encoding == Encoding::Delta { stored.mark } else { 0 };
            let (items, bytes) = (from..state.mark(index), start..commit.bytes.len());
            commit.fields.push(FieldRow { name: field.name.clone(), encoding, items, bytes });
        }
        // A field that came back since is stored by itself.
        for name in &self.removed {
            if commit.fields.iter().any(|row| row.name == *name) {
                continue;
            }
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(b"null");
            let bytes = start..commit.bytes.len();
            commit.fields.push(FieldRow { name: name.clone().into(), encoding: Encoding::Removed, items: 0..0, bytes });
        }
        Ok(())
    }

    /// Bytes of the stored state once the commit with these fields is stored.
    fn size_with<S: State>(&self, state: &S, fields: FieldSet, commit: &Commit) -> u64 {
        let mut bytes: u64 = self.stored.iter().map(StoredField::size).sum();
        for (field, row) in rows(state, fields, commit) {
            let (base, added) = self.stored[field].with(row);
            bytes = bytes - self.stored[field].size() + base + added;
        }
        bytes
    }

    /// Fields whose writes since the last base take up room that a new base wouldn't.
    fn compactable(&self) -> FieldSet {
        if self.by_writes.is_empty() {
            return FieldSet::EMPTY;
        }
        let added = self.stored.iter().enumerate().filter(|(_, stored)| stored.added > 0 || !stored.writes.is_empty());
        added.fold(FieldSet::EMPTY, |set, (field, _)| set | FieldSet::of(field)).and(self.by_writes)
    }

    /// The commit is on its way: the next one follows it.
    fn sent<S: State>(&mut self, state: &S, fields: FieldSet, commit: &Commit) {
        self.removed.clear();
        for (field, row) in rows(state, fields, commit) {
            let stored = &mut self.stored[field];
            (stored.base, stored.added) = stored.with(row);
            stored.mark = row.items.end;
            stored.writes.clear();
            self.whole = self.whole.without(FieldSet::of(field));
        }
    }
}

/// The rows of a commit that [`Changes::encode`] has made for these fields. They come in the order of the fields, those of
/// fields that are gone behind them.
fn rows<'a, S: State>(
    state: &'a S,
    fields: FieldSet,
    commit: &'a Commit,
) -> impl Iterator<Item = (usize, &'a FieldRow)> {
    let specs = state.fields();
    fields.iter().filter(|field| !specs[*field].transient).zip(&commit.fields)
}

/// The stored field of that name.
fn position<S: State>(state: &S, name: &str) -> Option<usize> {
    state.fields().iter().position(|field| field.name == name && !field.transient)
}

impl<S: State> Machine<S> {
    /// Puts the changed fields into a commit.
    pub(super) fn encode_fields(&mut self, commit: &mut Commit) -> Result<(), CodecError> {
        commit.fields.clear();
        commit.bytes.clear();
        let (state, changes) = (&self.shared.state, &mut self.changes);
        let mut fields = std::mem::take(&mut changes.dirty);
        changes.encode(state, fields, commit)?;
        // Writes beside their base may be twice the value: before that is too much they become one base.
        let compactable = changes.compactable();
        if !compactable.is_empty()
            && self.options.state_limit.is_some_and(|limit| changes.size_with(state, fields, commit) > limit)
        {
            commit.fields.clear();
            commit.bytes.clear();
            changes.whole.insert(compactable);
            fields.insert(compactable);
            changes.encode(state, fields, commit)?;
        }
        changes.sent(state, fields, commit);
        Ok(())
    }

    /// Whether the stored state is larger than it may be. What was stored before stands.
    pub(super) fn too_large(&self) -> Option<RunError> {
        let limit = self.options.state_limit?;
        let stored = &self.changes.stored;
        let bytes: u64 = stored.iter().map(StoredField::size).sum();
        if bytes <= limit {
            return None;
        }
        let fields = self.shared.state.fields();
        let (largest, _) = fields.iter().zip(stored).max_by_key(|(_, stored)| stored.size())?;
        let field = largest.name.to_string();
        Some(RunError::StateLimit { thread: self.thread(), step: self.step, bytes, limit, field })
    }

    /// Reads the fields of a checkpoint.
    pub(super) fn load_fields(&mut self, segments: &Segments) -> Result<(), String> {
        let state = &mut Arc::make_mut(&mut self.shared).state;
        let mut read = FieldSet::EMPTY;
        let warnings = &mut self.report.warnings;
        read_fields(state, &mut self.changes.stored, &mut read, segments, warnings)?;
        self.changes.take_read(state, read);
        Ok(())
    }

    /// Takes the fields of a checkpoint that were read before.
    pub(super) fn take_fields(&mut self, fields: &ReadFields<S>) {
        let state = &mut Arc::make_mut(&mut self.shared).state;
        state.clone_from(&fields.state);
        self.changes.stored.clone_from(&fields.stored);
        self.changes.take_read(state, fields.read);
    }
}

/// The fields of a checkpoint as they were read, to go on from when more is stored.
pub(crate) struct ReadFields<S> {
    state: S,
    stored: Vec<StoredField>,
    read: FieldSet,
}

impl<S: State> ReadFields<S> {
    pub(super) fn new(initial: &S) -> Self {
        let stored = vec![StoredField::default(); initial.fields().len()];
        Self { state: initial.clone(), stored, read: FieldSet::EMPTY }
    }

    /// Bytes of the state as it is stored.
    pub(crate) fn bytes(&self) -> u64 {
        self.stored.iter().map(StoredField::size).sum()
    }

    pub(super) fn read(&mut self, segments: &Segments, warnings: &mut Vec<String>) -> Result<(), String> {
        read_fields(&mut self.state, &mut self.stored, &mut self.read, segments, warnings)
    }

    /// Reads what was stored since. `false` if there is anything unusual: then all has to be read anew.
    pub(crate) fn read_since(&mut self, segments: &Segments) -> bool {
        // What is gone has no value to go back to here.
        if segments.iter().any(|segment| segment.encoding == Encoding::Removed) {
            return false;
        }
        let mut warnings = Vec::new();
        self.read(segments, &mut warnings).is_ok() && warnings.is_empty()
    }
}

/// As many deltas as are sooner read together than each alone.
const MANY: usize = 4;

/// Reads segments after those of which a state was made already, `read` among its fields.
fn read_fields<S: State>(
    state: &mut S,
    stored: &mut [StoredField],
    read: &mut FieldSet,
    segments: &Segments,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let fields: Vec<Option<usize>> = segments.names().map(|name| position(state, name)).collect();
    // What is gone, or stored whole later, need not be readable.
    let mut first = vec![0; state.fields().len()];
    for (at, (name, encoding)) in segments.encodings().enumerate() {
        if let (true, Some(field)) = (encoding.is_whole(), fields[name]) {
            first[field] = at;
        }
    }
    let mut next = 0;
    while let Some((name, segment)) = segments.numbered(next) {
        let at = next;
        next += 1;
        let Some(field) = fields[name] else {
            let warning = format!("the state has no field `{}` any more; what was stored is ignored", segment.name);
            if segment.encoding != Encoding::Removed && !warnings.contains(&warning) {
                warnings.push(warning);
            }
            continue;
        };
        if segment.encoding == Encoding::Removed || at < first[field] {
            continue;
        }
        let stored = &mut stored[field];
        let together = if segment.encoding == Encoding::Delta { segments.deltas(at) } else { 0 };
        if together >= MANY {
            follows(&segment, read.contains(field), stored.mark)?;
            let (bytes, ends) = segments.together(at..at + together);
            state.decode_deltas(field, Deltas::new(bytes, &ends)).map_err(|error| error.to_string())?;
            stored.added += bytes.len() as u64;
            next = at + together;
            stored.mark = segments.get(next - 1).map_or(segment.items.end, |last| last.items.end);
            continue;
        }
        let bytes = segment.bytes.len() as u64;
        if segment.encoding == Encoding::Base {
            (stored.base, stored.added) = (bytes, 0);
        } else {
            follows(&segment, read.contains(field), stored.mark)?;
            stored.added += bytes;
        }
        match segment.encoding {
            Encoding::Writes => merge_again(state, &segment)?,
            encoding => state.decode(field, encoding, segment.bytes).map_err(|error| error.to_string())?,
        }
        stored.mark = segment.items.end;
        read.insert(FieldSet::of(field));
    }
    Ok(())
}

/// Whether something may be added here: after a base, and after the items before it.
fn follows(segment: &SegmentRef<'_>, base: bool, mark: u64) -> Result<(), String> {
    let (name, Range { start, end }) = (segment.name, &segment.items);
    if !base {
        return Err(format!(
            "field `{name}` is incomplete: something was added to it, but what it was added to is missing"
        ));
    }
    if segment.encoding == Encoding::Delta && *start != mark {
        return Err(format!("field `{name}` is incomplete: items {start}..{end} are stored after the first {mark}"));
    }
    Ok(())
}

/// Gives stored writes to the reducers again.
pub(super) fn merge_again<S: State>(state: &mut S, segment: &SegmentRef<'_>) -> Result<(), String> {
    let name = segment.name;
    let wrong = |cause| CodecError::decode(name, cause).to_string();
    let writes: Vec<&RawValue> = serde_json::from_slice(segment.bytes).map_err(wrong)?;
    let key = serde_json::to_string(name).map_err(wrong)?;
    let update = |write: &RawValue| state.decode_update(format!("{{{key}:{write}}}").as_bytes());
    let updates: Result<Vec<S::Update>, CodecError> = writes.into_iter().map(update).collect();
    let mut updates = updates.map_err(|error| error.to_string())?;
    let merged = apply(state, updates.iter_mut());
    let why = |Refused { cause, .. }| format!("field `{name}`: merging its stored writes again failed: {cause}");
    merged.map(|_| ()).map_err(why)
}

/// The update of a stored result. A field that the state has no more is left out, with a warning: the rest of the
/// result still holds, and its task need not run twice.
pub(super) fn decode_update<S: State>(
    state: &S,
    json: &RawValue,
    warnings: &mut Vec<String>,
) -> Result<S::Update, CodecError> {
    let json = json.get().as_bytes();
    let strict = state.decode_update(json);
    if !matches!(strict, Err(CodecError::UnknownField { .. })) {
        return strict;
    }
    let wrong = |cause| CodecError::decode("(update)", cause);
    let mut writes: std::collections::BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(json).map_err(wrong)?;
    writes.retain(|name, _| {
        let known = position(state, name).is_some();
        let warning = format!("the state has no field `{name}` any more; what a finished task wrote to it is ignored");
        if !known && !warnings.contains(&warning) {
            warnings.push(warning);
        }
        known
    });
    state.decode_update(&serde_json::to_vec(&writes).map_err(wrong)?)
}
