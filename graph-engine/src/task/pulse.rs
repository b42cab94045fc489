//! Signs of life of one attempt, for its idle timeout.

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use futures_util::task::AtomicWaker;

/// Counts the signs of life of an attempt, and wakes whoever watches it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: AtomicU64,
    watcher: AtomicWaker,
}

impl Pulse {
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Release);
        self.watcher.wake();
    }

    /// The beats so far; the waker is woken at the next one.
    pub(crate) fn watch(&self, waker: &Waker) -> u64 {
        self.watcher.register(waker);
        self.beats.load(Ordering::Acquire)
    }
}
