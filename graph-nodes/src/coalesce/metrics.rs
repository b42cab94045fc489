//! What a coalescer counted.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a coalescer counted since it was made, over all tenants (whose names are never part of it).
///
/// ```
/// use graph_nodes::coalesce::CoalescerMetrics;
///
/// let metrics = CoalescerMetrics { batch_sizes: [(10, 3), (2, 1)].into(), ..CoalescerMetrics::default() };
/// assert_eq!((metrics.batches(), metrics.keys()), (4, 32));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoalescerMetrics {
    /// How many calls had how many keys; export it as the histogram `coalescer_batch_size`. Only ones here mean that
    /// callers wait for each other, and nothing is coalesced.
    pub batch_sizes: BTreeMap<usize, u64>,
    /// How often a key was asked for.
    pub waiters: u64,
    /// Waiters who joined a key that was not sent yet.
    pub joined_pending: u64,
    /// Waiters who joined a key that was being loaded.
    pub joined_in_flight: u64,
    /// Keys that had to wait for a later call because the batch of their window was full. Counted while the window,
    /// or a load of this tenant, is not over.
    pub deferred: u64,
    /// Keys that were never sent because everybody who wanted them was gone.
    pub dropped: u64,
    /// Calls that were cancelled because everybody who waited was gone.
    pub cancelled: u64,
    /// Calls that failed, panicked, took too long or were ended from outside.
    pub failed: u64,
    /// Keys that the loader answered without being asked; they are ignored.
    pub unasked: u64,
}

impl CoalescerMetrics {
    /// How many calls the loader got.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batch_sizes.values().sum()
    }

    /// How many keys the loader was asked for.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.batch_sizes.iter().map(|(size, batches)| u64::try_from(*size).unwrap_or(u64::MAX) * batches).sum()
    }
}
