//! What a store is given and gives back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::state::Encoding;
use crate::task_id::TaskId;

/// Small texts by which checkpoints are found again, such as a tenant.
pub type Tags = BTreeMap<String, String>;

/// A thread and a namespace in it.
///
/// ```
/// use graph_engine::Place;
///
/// assert_eq!(Place::thread("guest-7").namespace, "");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// The thread.
    pub thread: Name,
    /// Empty for the thread itself, a path for a child graph.
    pub namespace: Name,
}

impl Place {
    /// The thread itself.
    pub fn thread(thread: impl Into<Name>) -> Self {
        Self { thread: thread.into(), namespace: "".into() }
    }

    /// A namespace of a thread.
    pub fn new(thread: impl Into<Name>, namespace: impl Into<Name>) -> Self {
        Self { thread: thread.into(), namespace: namespace.into() }
    }
}

/// One checkpoint on its way to a store. The buffers belong to the engine and are used again: a store copies what it
/// keeps.
///
/// ```
/// use graph_engine::Commit;
///
/// let commit = Commit::default();
/// assert!(commit.fields.is_empty() && commit.position().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Commit {
    /// Its id.
    pub id: CheckpointId,
    /// The checkpoint it follows.
    pub parent: Option<CheckpointId>,
    /// It may begin a new branch: the head moves whatever it is.
    pub fork: bool,
    /// The turn that made it.
    pub turn: Name,
    /// Super-steps merged since the thread began.
    pub step: u64,
    /// Milliseconds since 1970, for people; nothing is ordered by it.
    pub time_ms: u64,
    /// What the turn was tagged with.
    pub tags: Arc<Tags>,
    /// The changed fields.
    pub fields: Vec<FieldRow>,
    /// The bytes of all fields, one after the other, then the position.
    pub bytes: Vec<u8>,
}

impl Commit {
    /// The bytes of a field row.
    #[must_use]
    pub fn field_bytes(&self, row: &FieldRow) -> &[u8] {
        self.bytes.get(row.bytes.clone()).unwrap_or(&[])
    }

    /// What decides what comes next, as JSON.
    #[must_use]
    pub fn position(&self) -> &[u8] {
        let start = self.fields.last().map_or(0, |row| row.bytes.end);
        self.bytes.get(start..).unwrap_or(&[])
    }
}

/// One changed field of a commit.
///
/// ```
/// use graph_engine::{Encoding, FieldRow};
///
/// let row = FieldRow::new("notes", Encoding::Delta, 3..5, 0..10);
/// assert_eq!(row.items.end - row.items.start, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldRow {
    /// The field's name.
    pub name: Cow<'static, str>,
    /// A base or a delta.
    pub encoding: Encoding,
    /// Which items it holds, for fields that count them; else `0..0`.
    pub items: Range<u64>,
    /// Where its bytes are.
    pub bytes: Range<usize>,
}

impl FieldRow {
    /// A row of these items and bytes.
    pub fn new(name: impl Into<Cow<'static, str>>, encoding: Encoding, items: Range<u64>, bytes: Range<usize>) -> Self {
        Self { name: name.into(), encoding, items, bytes }
    }
}

/// A checkpoint as a store gives it back.
///
/// ```
/// use graph_engine::{CheckpointId, CheckpointInfo, Stored};
///
/// let id = CheckpointId::derive("t", "", None, "turn", 0);
/// let stored = Stored::new(CheckpointInfo::new(id, None, "turn", 0), b"{}".to_vec());
/// assert!(stored.fields.is_empty());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// Which one it is.
    pub info: CheckpointInfo,
    /// What decides what comes next, as JSON.
    pub position: Vec<u8>,
    /// For every stored field its base, then its deltas in order.
    pub fields: Vec<Segment>,
    /// Results of finished tasks of the super-step that follows.
    pub saved: Vec<(TaskId, Vec<u8>)>,
}

impl Stored {
    /// A checkpoint without fields.
    #[must_use]
    pub fn new(info: CheckpointInfo, position: Vec<u8>) -> Self {
        Self { info, position, fields: Vec::new(), saved: Vec::new() }
    }
}

/// Part of a field as stored.
///
/// ```
/// use graph_engine::{Encoding, Segment};
///
/// let segment = Segment::new("notes", Encoding::Base, 0..2, b"[1,2]".to_vec());
/// assert_eq!(segment.name, "notes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The field's name.
    pub name: Cow<'static, str>,
    /// A base or a delta.
    pub encoding: Encoding,
    /// Which items it holds, for fields that count them.
    pub items: Range<u64>,
    /// JSON.
    pub bytes: Vec<u8>,
}

impl Segment {
    /// A segment of these items and bytes.
    pub fn new(name: impl Into<Cow<'static, str>>, encoding: Encoding, items: Range<u64>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), encoding, items, bytes }
    }
}

/// What a list of checkpoints says of each.
///
/// ```
/// use graph_engine::{CheckpointId, CheckpointInfo};
///
/// let id = CheckpointId::derive("t", "", None, "turn", 4);
/// assert_eq!(CheckpointInfo::new(id, None, "turn", 4).step, 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckpointInfo {
    /// Its id.
    pub id: CheckpointId,
    /// The checkpoint it follows.
    pub parent: Option<CheckpointId>,
    /// The turn that made it.
    pub turn: Name,
    /// Super-steps merged since the thread began.
    pub step: u64,
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// What the turn was tagged with.
    pub tags: Tags,
}

impl CheckpointInfo {
    /// A checkpoint without a time and tags.
    pub fn new(id: CheckpointId, parent: Option<CheckpointId>, turn: impl Into<Name>, step: u64) -> Self {
        Self { id, parent, turn: turn.into(), step, time_ms: 0, tags: Tags::new() }
    }
}

/// Which checkpoints to list. The default passes all.
///
/// ```
/// use graph_engine::Filter;
///
/// let filter = Filter::default().limit(10).tag("tenant", "acme");
/// assert_eq!(filter.limit, Some(10));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only those made before this one.
    pub before: Option<CheckpointId>,
    /// At most so many.
    pub limit: Option<usize>,
    /// Only those of this turn.
    pub turn: Option<Name>,
    /// Only those of these steps.
    pub steps: Option<RangeInclusive<u64>>,
    /// Only those that carry all of these tags.
    pub tags: Tags,
}

impl Filter {
    /// Only those made before this one.
    #[must_use]
    pub fn before(mut self, id: CheckpointId) -> Self {
        self.before = Some(id);
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only those of this turn.
    #[must_use]
    pub fn turn(mut self, turn: impl Into<Name>) -> Self {
        self.turn = Some(turn.into());
        self
    }

    /// Only those of these steps.
    #[must_use]
    pub fn steps(mut self, steps: RangeInclusive<u64>) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Only those with this tag.
    #[must_use]
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Whether a checkpoint passes, `before` and `limit` aside.
    #[must_use]
    pub fn passes(&self, turn: &str, step: u64, tags: &Tags) -> bool {
        self.turn.as_ref().is_none_or(|wanted| wanted == turn)
            && self.steps.as_ref().is_none_or(|steps| steps.contains(&step))
            && self.tags.iter().all(|(key, value)| tags.get(key) == Some(value))
    }
}

/// What pruning keeps. The head is always kept.
///
/// ```
/// use graph_engine::Keep;
///
/// assert_ne!(Keep::Last(1), Keep::Since(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The newest so many of the head's chain.
    Last(usize),
    /// Those made at this time or later, in milliseconds since 1970.
    Since(u64),
}
