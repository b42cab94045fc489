//! What a turn answered.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::name::Name;
use crate::task_id::TaskId;

/// One direct reply of a turn.
///
/// ```
/// use graph_engine::{Reply, TaskId};
///
/// let reply = Reply { task: TaskId::default(), node: "explore".into(), value: "which city?".into() };
/// assert_eq!(reply.get::<String>()?, "which city?");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The task that replied.
    pub task: TaskId,
    /// Its node.
    pub node: Name,
    /// What it replied.
    pub value: Value,
}

impl Reply {
    /// The reply as a value of your own type.
    ///
    /// # Errors
    /// If the reply is no `T`.
    pub fn get<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        T::deserialize(&self.value)
    }
}
