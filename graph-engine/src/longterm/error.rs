//! What a long-term store may answer when it can't do what it was asked.

use crate::error::BoxError;

/// Why a long-term store failed.
///
/// ```
/// use graph_engine::longterm::{LongTermError, Namespace};
///
/// let error = Namespace::new(["users", ""]).unwrap_err();
/// assert!(matches!(error, LongTermError::Invalid { .. }));
/// assert!(error.to_string().contains("label 2 of the namespace is empty"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LongTermError {
    /// What was asked for makes no sense. Nothing was done, also nothing of the rest of its batch.
    #[error("the long-term store was asked for something impossible: {why}; nothing was done")]
    Invalid {
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// A search by meaning, and the store was given no embedder.
    #[error(
        "a search by meaning needs vectors, and this long-term store makes none; give it an embedder with \
         `LongTermSettings::embed`, or search by text"
    )]
    NoEmbedder,
    /// The embedder failed or broke its contract. Nothing was done.
    #[error("the embedder of the long-term store failed: {cause}; nothing was stored, repeating the call is harmless")]
    Embedder {
        /// What it said, or what is wrong with its answer.
        cause: BoxError,
    },
    /// A stored item can't be understood. Other items are still readable.
    #[error("item `{key}` of `{namespace}` is corrupt: {why}; put it again or delete it")]
    Corrupt {
        /// The item's namespace.
        namespace: String,
        /// The item's key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The store can't be reached now; nothing is known of this call's effect. Repeating it is harmless.
    #[error("the long-term store is unavailable: {cause}; repeating the call is harmless")]
    Unavailable {
        /// What the backend said.
        cause: BoxError,
    },
    /// There is no room. What was stored before is intact.
    #[error("the long-term store is full: {cause}; what was stored before is intact, make room and try again")]
    Full {
        /// What the backend said.
        cause: BoxError,
    },
}

impl LongTermError {
    /// Something impossible was asked for.
    pub fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid { why: why.into() }
    }

    /// An embedder that failed.
    pub fn embedder(cause: impl Into<BoxError>) -> Self {
        Self::Embedder { cause: cause.into() }
    }

    /// A stored item that can't be understood.
    pub fn corrupt(namespace: impl Into<String>, key: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Corrupt { namespace: namespace.into(), key: key.into(), why: why.into() }
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
