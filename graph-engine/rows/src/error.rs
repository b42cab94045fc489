//! Why a row can't be read.

use graph_engine::{CheckpointId, StoreError};

/// Why a row can't be read.
///
/// ```
/// use graph_engine_rows::{RowError, decode};
///
/// let error = decode(&[0x1f]).unwrap_err();
/// assert_eq!(error, RowError::Format(15));
/// assert_eq!(error.to_string(), "the row has format 15, which this program doesn't know; read it with a newer one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Not even the first byte is there.
    #[error("the row is empty; each has at least a byte that says how it is written")]
    Empty,
    /// Another version of the layout, or no row at all.
    #[error("the row has version {0}, this program reads version 1; read it with the program that wrote it")]
    Version(u8),
    /// A format that was added later, or no row at all.
    #[error("the row has format {0}, which this program doesn't know; read it with a newer one")]
    Format(u8),
    /// The MessagePack is cut off or no image of JSON.
    #[error("the row is damaged: {0}")]
    Damaged(String),
}

impl RowError {
    /// The store's error for it: it names the thread, the checkpoint and what the row holds.
    ///
    /// ```
    /// use graph_engine::CheckpointId;
    /// use graph_engine_rows::RowError;
    ///
    /// let id = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
    /// let error = RowError::Empty.corrupt("guest-7", Some(id), "field `notes`").to_string();
    /// assert!(error.contains("thread `guest-7`") && error.contains(&format!("field `notes` of checkpoint {id}")));
    /// ```
    #[must_use]
    pub fn corrupt(&self, thread: &str, checkpoint: Option<CheckpointId>, what: &str) -> StoreError {
        let of = checkpoint.map_or_else(String::new, |id| format!(" of checkpoint {id}"));
        StoreError::corrupt(thread, format!("{what}{of}: {self}"))
    }
}
