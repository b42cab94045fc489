//! What a store is given and gives back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::mark::Mark;
use super::segments::Segments;
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::state::Encoding;
use crate::task_id::TaskId;

/// Small texts by which checkpoints are found again, such as a tenant.
pub type Tags = BTreeMap<String, String>;

/// What a checkpoint without tags has: one for all, because most have none.
pub(crate) fn no_tags() -> Arc<Tags> {
    static NONE: OnceLock<Arc<Tags>> = OnceLock::new();
    NONE.get_or_init(Arc::default).clone()
}

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

/// Why a checkpoint was made.
///
/// ```
/// use graph_engine::CheckpointKind;
///
/// assert_eq!(serde_json::to_string(&CheckpointKind::Step)?, "\"step\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CheckpointKind {
    /// The input of a turn was merged.
    Input,
    /// A super-step was merged.
    #[default]
    Step,
    /// A super-step stopped before it was finished: a failure, a pause, a cancellation; or it goes on.
    Pending,
    /// Somebody wrote from outside.
    Edit,
    /// A new branch or thread begins here.
    Fork,
    /// What was unfinished was dropped.
    Abandon,
}

impl CheckpointKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Step => "step",
            Self::Pending => "pending",
            Self::Edit => "edit",
            Self::Fork => "fork",
            Self::Abandon => "abandon",
        }
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Commit {
    /// Its id.
    pub id: CheckpointId,
    /// The checkpoint it follows.
    pub parent: Option<CheckpointId>,
    /// It may begin a new branch: the head moves whatever it is.
    pub fork: bool,
    /// Why it was made.
    pub kind: CheckpointKind,
    /// The turn that made it.
    pub turn: Name,
    /// Super-steps merged since the thread began.
    pub step: u64,
    /// Milliseconds since 1970, for people; nothing is ordered by it.
    pub time_ms: u64,
    /// When the first of the open questions expires, in milliseconds since 1970, so that the thread is found then.
    pub due_ms: Option<u64>,
    /// What the turn was tagged with.
    pub tags: Arc<Tags>,
    /// The changed fields.
    pub fields: Vec<FieldRow>,
    /// The bytes of all fields, one after the other, then the position.
    pub bytes: Vec<u8>,
}

impl Default for Commit {
    fn default() -> Self {
        Self {
            id: CheckpointId::default(),
            parent: None,
            fork: false,
            kind: CheckpointKind::default(),
            turn: Name::default(),
            step: 0,
            time_ms: 0,
            due_ms: None,
            tags: no_tags(),
            fields: Vec::new(),
            bytes: Vec::new(),
        }
    }
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
    pub fields: Segments,
    /// What was saved of single tasks of the super-step that follows.
    pub saved: Vec<SavedResult>,
    /// By what the store is asked later for what came since; `None` if it can't say that.
    pub mark: Option<Mark>,
    /// The fields are only what was stored since this mark; `None` if they are all.
    pub since: Option<Mark>,
}

impl Stored {
    /// A checkpoint without fields.
    #[must_use]
    pub fn new(info: CheckpointInfo, position: Vec<u8>) -> Self {
        Self { info, position, fields: Segments::new(), saved: Vec::new(), mark: None, since: None }
    }
}

/// What is saved of one task while its super-step is unfinished.
///
/// ```
/// use graph_engine::{SavedResult, TaskId};
///
/// let saved = SavedResult::new(TaskId { step: 2, rank: 0 }, "", b"{}".to_vec());
/// assert_eq!(saved.key, "");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedResult {
    /// The task.
    pub task: TaskId,
    /// Empty for the result of the whole task, else the name of one of several results within it.
    pub key: Name,
    /// JSON.
    pub bytes: Vec<u8>,
}

impl SavedResult {
    /// A result of these bytes.
    pub fn new(task: TaskId, key: impl Into<Name>, bytes: Vec<u8>) -> Self {
        Self { task, key: key.into(), bytes }
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
    /// Why it was made.
    pub kind: CheckpointKind,
    /// What the turn was tagged with.
    pub tags: Tags,
}

impl CheckpointInfo {
    /// A checkpoint without a time and tags.
    pub fn new(id: CheckpointId, parent: Option<CheckpointId>, turn: impl Into<Name>, step: u64) -> Self {
        Self { id, parent, turn: turn.into(), step, time_ms: 0, kind: CheckpointKind::default(), tags: Tags::new() }
    }
}
