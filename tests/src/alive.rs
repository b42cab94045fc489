//! Work that must not leak: guards that are counted while they live, and futures that are dropped in the middle.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Counts guards that are alive.
#[derive(Clone, Debug, Default)]
pub struct Alive(Arc<AtomicUsize>);

/// Counted while it lives.
#[derive(Debug)]
pub struct Guard(Arc<AtomicUsize>);

impl Alive {
    /// Nothing lives.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more that lives until it is dropped.
    #[must_use]
    pub fn guard(&self) -> Guard {
        self.0.fetch_add(1, Ordering::SeqCst);
        Guard(self.0.clone())
    }

    /// How many live.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Polls a future at most so many times and drops it then. `None` says that it was dropped unfinished.
pub async fn poll_at_most<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut left = polls;
    poll_fn(move |cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
