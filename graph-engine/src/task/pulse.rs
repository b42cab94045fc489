//! Signs of life of one attempt, for its idle timeout.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Waker;

use futures_util::task::AtomicWaker;

/// Counts the signs of life of an attempt, and wakes whoever watches it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: AtomicU64,
    /// Events that wait for a reader: whoever emits is alive.
    emitting: AtomicU32,
    watcher: AtomicWaker,
}

impl Pulse {
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Release);
        self.watcher.wake();
    }

    /// The attempt is alive as long as the guard is.
    pub(crate) fn emitting(&self) -> Emitting<'_> {
        self.emitting.fetch_add(1, Ordering::AcqRel);
        self.beat();
        Emitting(self)
    }

    pub(crate) fn is_emitting(&self) -> bool {
        self.emitting.load(Ordering::Acquire) > 0
    }

    /// The beats so far; the waker is woken at the next one.
    pub(crate) fn watch(&self, waker: &Waker) -> u64 {
        self.watcher.register(waker);
        self.beats.load(Ordering::Acquire)
    }
}

/// An event is on its way to its readers.
pub(crate) struct Emitting<'a>(&'a Pulse);

impl Drop for Emitting<'_> {
    fn drop(&mut self) {
        self.0.emitting.fetch_sub(1, Ordering::AcqRel);
        self.0.beat();
    }
}
