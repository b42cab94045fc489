//! Why a key has no value.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Why a key could not be loaded. All waiters of a batch get the same error, and nothing is remembered of it: asking
/// again makes a new call.
///
/// ```
/// use graph_nodes::coalesce::CoalesceError;
///
/// assert!(CoalesceError::Timeout { keys: 10, after: std::time::Duration::from_secs(2) }.is_retryable());
/// assert!(!CoalesceError::BlankTenant.is_retryable());
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoalesceError {
    /// The tenant's name is blank, and there is no default tenant.
    #[error("a key was asked for without a tenant; give `Coalescer::tenant` a name that is not blank")]
    BlankTenant,
    /// The coalescer was closed before the key was sent.
    #[error("the coalescer is closed, so the key was not sent; ask before `close` or `shutdown`")]
    Closed,
    /// The call was made outside of a tokio runtime.
    #[error("there is no tokio runtime to load keys on; ask for keys inside of one")]
    NoRuntime,
    /// The loader failed.
    #[error("loading failed for a batch of {keys}: {source}; ask again later")]
    Failed {
        /// How many keys the batch had.
        keys: usize,
        /// What the loader said.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The loader panicked, before or after its first await.
    #[error("the loader panicked for a batch of {keys}: {message}; correct the loader")]
    Panicked {
        /// How many keys the batch had.
        keys: usize,
        /// The message of the panic.
        message: String,
    },
    /// The loader took too long, and was dropped.
    #[error("loading a batch of {keys} took longer than {after:?}; ask again, or raise `CoalescerBuilder::timeout`")]
    Timeout {
        /// How many keys the batch had.
        keys: usize,
        /// How long it was allowed to take.
        after: Duration,
    },
    /// The task that loaded was ended from outside, as when its runtime is shut down.
    #[error(
        "loading ended before there was an answer; ask again on a tokio runtime that lives and has its timer enabled"
    )]
    Lost,
}

impl CoalesceError {
    /// Whether the same key may be had by asking again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Panicked { .. } | Self::Timeout { .. } | Self::Lost)
    }
}
