//! Blocking work that nobody could stop.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::task_id::TaskId;

/// Blocking work that was given up after a timeout or a cancellation and still runs: its thread can't be stopped, and
/// its result will be dropped.
///
/// ```
/// use graph_engine::{StuckTask, TaskId};
///
/// let stuck = StuckTask { node: "scan".into(), task: TaskId { step: 2, rank: 0 }, attempt: 1 };
/// assert_eq!(stuck.to_string(), "`scan` (task 2.0, attempt 1)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StuckTask {
    /// The node.
    pub node: Name,
    /// The task.
    pub task: TaskId,
    /// The attempt, from 1.
    pub attempt: u32,
}

impl fmt::Display for StuckTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (task {}, attempt {})", self.node, self.task, self.attempt)
    }
}
