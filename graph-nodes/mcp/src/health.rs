//! What happened to a server so far.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What happened to a server since it was connected, in counts.
///
/// ```
/// use graph_nodes_mcp::Health;
///
/// let health = Health::default();
/// assert_eq!((health.starts, health.deaths), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// How often it was started, or a connection made, the first time included.
    pub starts: u64,
    /// How often it ended, or its connection broke, without being asked to.
    pub deaths: u64,
    /// Calls that were sent to it, those that were sent again included.
    pub calls: u64,
    /// Calls that were sent again after it ended.
    pub resent: u64,
    /// Calls that took too long.
    pub timeouts: u64,
    /// How often it said that its tools are others now.
    pub list_changes: u64,
    /// How often it asked this program for something that it doesn't offer.
    pub refused_requests: u64,
    /// Failures since the last call that it answered.
    pub failures_in_a_row: u32,
}

/// The same while it is counted, and what the server let us know.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) starts: AtomicU64,
    pub(crate) deaths: AtomicU64,
    pub(crate) calls: AtomicU64,
    pub(crate) resent: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) list_changes: AtomicU64,
    pub(crate) refused_requests: AtomicU64,
    pub(crate) failures: AtomicU32,
    /// The list of tools that we hold is old.
    pub(crate) stale: AtomicBool,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn health(&self) -> Health {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Health {
            starts: of(&self.starts),
            deaths: of(&self.deaths),
            calls: of(&self.calls),
            resent: of(&self.resent),
            timeouts: of(&self.timeouts),
            list_changes: of(&self.list_changes),
            refused_requests: of(&self.refused_requests),
            failures_in_a_row: self.failures.load(Ordering::Relaxed),
        }
    }
}
