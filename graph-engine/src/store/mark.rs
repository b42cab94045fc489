//! A place in a thread to which a store can be asked to go on from.

use crate::checkpoint_id::CheckpointId;

/// A checkpoint in the words of the store that keeps it: see
/// [`CheckpointStore::load_since`](super::CheckpointStore::load_since).
///
/// The engine keeps it and gives it back, and never looks at the numbers. Together they must tell this very record from any
/// other one that the store has, had, or will have, also from one with the same id in a thread that was deleted and made
/// again.
///
/// ```
/// use graph_engine::{CheckpointId, Mark};
///
/// let id = CheckpointId::derive("t", "", None, "turn", 0);
/// let mark = Mark::new(id, [7, 0, 3]);
/// assert_eq!((mark.checkpoint(), mark.numbers()), (id, [7, 0, 3]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    checkpoint: CheckpointId,
    numbers: [u64; 3],
}

impl Mark {
    /// The mark of a checkpoint, with numbers that the store chooses.
    #[must_use]
    pub const fn new(checkpoint: CheckpointId, numbers: [u64; 3]) -> Self {
        Self { checkpoint, numbers }
    }

    /// The checkpoint.
    #[must_use]
    pub const fn checkpoint(self) -> CheckpointId {
        self.checkpoint
    }

    /// What the store chose.
    #[must_use]
    pub const fn numbers(self) -> [u64; 3] {
        self.numbers
    }
}
