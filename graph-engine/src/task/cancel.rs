//! Cancellation of a turn: a flag that costs nothing to look at, beside the token that others can wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// The cancellation of one turn. Clones cancel together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Looked at before every task; the token's own state is behind a lock.
    flag: AtomicBool,
    token: CancellationToken,
}

impl Cancel {
    pub(crate) fn cancel(&self) {
        self.0.flag.store(true, Ordering::Release);
        self.0.token.cancel();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::Acquire)
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.0.token
    }

    /// Cancels when it is dropped.
    pub(crate) fn guard(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// Cancels a turn that nobody waits for any more.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
