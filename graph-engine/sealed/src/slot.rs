//! Where a row stands: what is sealed with it so that it can't stand anywhere else.

use std::fmt;

use graph_engine::{CheckpointId, Encoding, FieldRow, Place, SavedResult, Segment, TaskId};

/// A row within a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot<'a> {
    Position,
    Field {
        name: &'a str,
        encoding: Encoding,
        items: (u64, u64),
    },
    Saved {
        task: TaskId,
        key: &'a str,
    },
    /// Which threads' rows a copy may hold.
    Copy,
}

impl<'a> Slot<'a> {
    pub(crate) fn row(row: &'a FieldRow) -> Self {
        Self::Field { name: &row.name, encoding: row.encoding, items: (row.items.start, row.items.end) }
    }

    pub(crate) fn segment(segment: &'a Segment) -> Self {
        let items = (segment.items.start, segment.items.end);
        Self::Field { name: &segment.name, encoding: segment.encoding, items }
    }

    pub(crate) fn saved(saved: &'a SavedResult) -> Self {
        Self::Saved { task: saved.task, key: &saved.key }
    }

    /// What is sealed with a row of this place and checkpoint. Every part has its length in front, so no two places give
    /// the same bytes.
    pub(crate) fn bound(self, place: &Place, checkpoint: CheckpointId) -> Vec<u8> {
        let mut bound = Vec::with_capacity(128);
        let text = |bound: &mut Vec<u8>, text: &str| {
            bound.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bound.extend_from_slice(text.as_bytes());
        };
        text(&mut bound, &place.thread);
        text(&mut bound, &place.namespace);
        bound.extend_from_slice(&checkpoint.to_bytes());
        match self {
            Self::Position => bound.push(0),
            Self::Field { name, encoding, items } => {
                bound.push(1);
                bound.push(encoding.code());
                text(&mut bound, name);
                bound.extend_from_slice(&items.0.to_le_bytes());
                bound.extend_from_slice(&items.1.to_le_bytes());
            }
            Self::Saved { task, key } => {
                bound.push(2);
                text(&mut bound, key);
                bound.extend_from_slice(&task.step.to_le_bytes());
                bound.extend_from_slice(&task.rank.to_le_bytes());
            }
            Self::Copy => bound.push(3),
        }
        bound
    }
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position => f.write_str("the position"),
            Self::Field { name, .. } => write!(f, "field `{name}`"),
            Self::Saved { task, key: "" } => write!(f, "the result of task {task}"),
            Self::Saved { task, key } => write!(f, "the result `{key}` of task {task}"),
            Self::Copy => f.write_str("the note about a copy"),
        }
    }
}
