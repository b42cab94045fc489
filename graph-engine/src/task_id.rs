//! What identifies a task within its thread.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a task: its super-step and its place in the frontier, which never changes once committed. The order of
/// ids is the order in which updates are merged.
///
/// ```
/// use graph_engine::TaskId;
///
/// assert!(TaskId { step: 1, rank: 9 } < TaskId { step: 2, rank: 0 });
/// assert_eq!(TaskId { step: 3, rank: 1 }.to_string(), "3.1");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskId {
    /// Super-steps before this one since the thread began.
    pub step: u64,
    /// Plain tasks by node name, then sends by (sender, index).
    pub rank: u32,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.step, self.rank)
    }
}
