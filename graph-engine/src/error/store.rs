//! What a checkpoint store may answer when it can't do what it was asked.

use super::BoxError;

/// Why a checkpoint store failed. The kinds ask for different things: reload, look at the data, bring the
/// key, wait, make room.
///
/// ```
/// use graph_engine::StoreError;
///
/// let error = StoreError::corrupt("guest-7", "row 3 is cut off");
/// assert!(error.to_string().starts_with("the checkpoints of thread `guest-7` are corrupt: row 3 is cut off"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer moved the thread's head; nothing of this commit was stored. Load the thread again.
    #[error("thread `{thread}` was changed by another writer ({why}); load it again and repeat the turn")]
    Conflict {
        /// The thread.
        thread: String,
        /// What differs.
        why: String,
    },
    /// Stored data can't be understood. Older checkpoints may still be readable.
    #[error(
        "the checkpoints of thread `{thread}` are corrupt: {why}; read an older one with `state_at`, restore a backup or \
         `delete` the thread"
    )]
    Corrupt {
        /// The thread.
        thread: String,
        /// What is wrong.
        why: String,
    },
    /// Stored data is sealed with a key that this program doesn't have. Nothing is lost.
    #[error(
        "checkpoint {checkpoint} of thread `{thread}` is sealed with key `{key}`, which is not among the keys of the \
         store; nothing is lost, add the key and try again"
    )]
    UnknownKey {
        /// The thread.
        thread: String,
        /// The checkpoint that the row was written for.
        checkpoint: String,
        /// The name or number of the key.
        key: String,
    },
    /// The store can't be reached now; nothing is known of this call's effect. Repeating it is harmless.
    #[error("the checkpoint store is unavailable: {cause}; repeating the call is harmless")]
    Unavailable {
        /// What the backend said.
        cause: BoxError,
    },
    /// There is no room. The last checkpoint is intact.
    #[error("the checkpoint store is full: {cause}; the last checkpoint is intact, make room and proceed")]
    Full {
        /// What the backend said.
        cause: BoxError,
    },
}

impl StoreError {
    /// Another writer was faster.
    pub fn conflict(thread: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Conflict { thread: thread.into(), why: why.into() }
    }

    /// Stored data that can't be understood.
    pub fn corrupt(thread: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Corrupt { thread: thread.into(), why: why.into() }
    }

    /// Data that is sealed with a key that isn't there.
    pub fn unknown_key(thread: impl Into<String>, checkpoint: impl Into<String>, key: impl Into<String>) -> Self {
        Self::UnknownKey { thread: thread.into(), checkpoint: checkpoint.into(), key: key.into() }
    }

    /// A backend that can't be reached.
    pub fn unavailable(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable { cause: cause.into() }
    }

    /// A backend without room.
    pub fn full(cause: impl Into<BoxError>) -> Self {
        Self::Full { cause: cause.into() }
    }
}
