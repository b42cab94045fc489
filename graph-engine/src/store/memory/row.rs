//! What is kept of each checkpoint, and of each of its fields: small, because there are many. A thread that is written to
//! mostly touches memory for the first time.

use std::ops::Range;
use std::sync::Arc;

use super::chunks::Span;
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::state::Encoding;
use crate::store::checkpoint::{CheckpointKind, Tags};

/// A turn, its tags, and from where its super-steps and milliseconds are counted.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) turn: Name,
    pub(super) tags: Arc<Tags>,
    pub(super) step: u64,
    pub(super) time_ms: u64,
}

impl Shared {
    /// Steps and milliseconds of a checkpoint of it, if they can be counted from here.
    pub(super) fn since(&self, about: &About<'_>) -> Option<[u32; 2]> {
        let same_turn = self.turn.is(about.turn) || self.turn == *about.turn;
        let same_tags = Arc::ptr_eq(&self.tags, about.tags) || self.tags == *about.tags;
        let since = |now: u64, first: u64| now.checked_sub(first).and_then(|since| u32::try_from(since).ok());
        let [step, time_ms] = [since(about.step, self.step), since(about.time_ms, self.time_ms)];
        if same_turn && same_tags { Some([step?, time_ms?]) } else { None }
    }
}

/// A checkpoint.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: CheckpointId,
    /// Counted from what it shares with others.
    pub(super) step: u32,
    pub(super) time_ms: u32,
    pub(super) position: Span,
    pub(super) parent: u32,
    pub(super) turn: u32,
    /// The first of its fields, which end where those of the next row begin. What it committed itself is at the end,
    /// behind what it took over from a parent that was pruned.
    pub(super) fields: u32,
    /// How many of the fields it committed itself.
    pub(super) own: u32,
    /// Where its index row is, if it has one.
    pub(super) newest: u32,
    /// Checkpoints since the last index row; 0 for one.
    pub(super) distance: u16,
    pub(super) kind: CheckpointKind,
}

// One line of a cache.
const _: () = assert!(size_of::<Row>() == 64 && size_of::<Link>() == 48);

impl Row {
    pub(super) fn parent(&self) -> Option<usize> {
        known(self.parent)
    }
}

/// What a row says besides where its bytes are.
pub(super) struct About<'a> {
    pub(super) id: CheckpointId,
    pub(super) parent: Option<CheckpointId>,
    pub(super) parent_row: Option<usize>,
    pub(super) turn: &'a Name,
    pub(super) tags: &'a Arc<Tags>,
    pub(super) step: u64,
    pub(super) time_ms: u64,
    pub(super) kind: CheckpointKind,
    pub(super) due_ms: Option<u64>,
    pub(super) own: usize,
}

/// A row of a field, and those that it is added to.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) items: Range<u64>,
    pub(super) bytes: Span,
    pub(super) encoding: Encoding,
    pub(super) number: u32,
    pub(super) before: u32,
    /// A row further back, so that any is found in a logarithmic number of steps, and how many there are before it.
    pub(super) jump: u32,
    pub(super) depth: u32,
}

/// Most rows of a namespace, of checkpoints and of fields.
pub(super) const MOST: usize = u32::MAX as usize / 2;

pub(super) const NONE: u32 = u32::MAX;

/// A number of a row. There are no more than [`MOST`].
pub(super) fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

pub(super) fn known(number: u32) -> Option<usize> {
    (number != NONE).then_some(number as usize)
}
