//! When things happened, on tokio's clock.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

/// Notes what happened at which millisecond since it was made.
#[derive(Clone, Debug)]
pub struct Times {
    begin: Instant,
    marks: Arc<Mutex<Vec<(u64, String)>>>,
}

impl Times {
    /// The time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self { begin: Instant::now(), marks: Arc::default() }
    }

    /// Milliseconds since the beginning.
    #[must_use]
    pub fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Notes that something happens now.
    pub fn mark(&self, what: impl Into<String>) {
        let mark = (self.now(), what.into());
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }

    /// Everything since the last call as `time what`, in the order in which it was noted.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        let marks = std::mem::take(&mut *self.marks.lock().unwrap_or_else(PoisonError::into_inner));
        marks.into_iter().map(|(at, what)| format!("{at} {what}")).collect()
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}
