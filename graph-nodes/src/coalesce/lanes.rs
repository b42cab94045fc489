//! Who waits for which key: plain data behind one lock, without a clock, a task or an await.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CoalescerMetrics;
use super::batch::Batch;
use super::builder::Config;

/// When a window ends that is too long for the clock: in thirty years.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// All tenants that wait for something.
pub(super) struct Lanes<K, V> {
    lanes: HashMap<Arc<str>, Lane<K, V>>,
    next_id: u64,
    pub(super) closed: bool,
    pub(super) metrics: CoalescerMetrics,
}

/// One tenant. Forgotten when nobody waits and nothing is loaded.
struct Lane<K, V> {
    open: Option<Open<K, V>>,
    flights: HashMap<u64, Sent<K, V>>,
    /// In which flight a key is that may be joined.
    joinable: HashMap<K, u64>,
    /// Until when keys are late for a batch that was full.
    crowded_until: Option<Instant>,
}

/// The batch that still takes keys.
struct Open<K, V> {
    batch: Arc<Batch<K, V>>,
    /// In the order of arrival.
    keys: BTreeMap<u64, K>,
    /// The place of a key, and how many want it.
    waiters: HashMap<K, (u64, usize)>,
    next_place: u64,
    ends: Instant,
}

/// A batch whose keys are fixed.
struct Sent<K, V> {
    batch: Arc<Batch<K, V>>,
    keys: Vec<K>,
    waiters: usize,
    /// Whether the loader was called.
    departed: bool,
}

/// Where a waiter found its place.
pub(super) struct Entered<K, V> {
    pub(super) batch: Arc<Batch<K, V>>,
    /// When the window ends, if this waiter opened the batch and has to start its task.
    pub(super) opened: Option<Instant>,
    pub(super) is_full: bool,
}

impl<K: Eq + Hash + Clone, V> Lanes<K, V> {
    pub(super) fn new() -> Self {
        Self { lanes: HashMap::new(), next_id: 0, closed: false, metrics: CoalescerMetrics::default() }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.lanes.is_empty()
    }

    pub(super) fn tenants(&self) -> usize {
        self.lanes.len()
    }

    /// One more waiter; `None` when closed.
    pub(super) fn enter(&mut self, tenant: &Arc<str>, key: &K, now: Instant, config: &Config) -> Option<Entered<K, V>> {
        if self.closed {
            return None;
        }
        let mut late = false;
        if let Some(lane) = self.lanes.get_mut(tenant) {
            if let Some(open) = &mut lane.open
                && let Some((_, waiters)) = open.waiters.get_mut(key)
            {
                *waiters += 1;
                self.metrics.waiters += 1;
                self.metrics.joined_pending += 1;
                return Some(Entered { batch: open.batch.clone(), opened: None, is_full: false });
            }
            if let Some(flight) = lane.joinable.get(key).and_then(|id| lane.flights.get_mut(id)) {
                flight.waiters += 1;
                self.metrics.waiters += 1;
                self.metrics.joined_in_flight += 1;
                return Some(Entered { batch: flight.batch.clone(), opened: None, is_full: false });
            }
            late = lane.crowded_until.is_some_and(|until| now < until);
        }
        // The key's own code runs before anything is changed: if it panics, nobody else is touched.
        let (kept, waiting) = (key.clone(), key.clone());
        let open = self.lanes.get_mut(tenant).and_then(|lane| lane.open.as_mut());
        let opened = match open {
            Some(open) => {
                open.waiters.insert(waiting, (open.next_place, 1));
                open.keys.insert(open.next_place, kept);
                open.next_place += 1;
                None
            }
            None => {
                let batch = Arc::new(Batch::new(self.next_id + 1));
                let (keys, waiters) = ([(0, kept)].into(), [(waiting, (0, 1))].into());
                let ends = now.checked_add(config.window).unwrap_or_else(|| now + FAR);
                let lane = self.lanes.entry(tenant.clone()).or_insert_with(Lane::new);
                lane.open = Some(Open { batch, keys, waiters, next_place: 1, ends });
                self.next_id += 1;
                Some(ends)
            }
        };
        self.metrics.waiters += 1;
        self.metrics.deferred += u64::from(late);
        let lane = self.lanes.get_mut(tenant)?;
        let open = lane.open.as_ref()?;
        let batch = open.batch.clone();
        let is_full = open.keys.len() >= config.max_keys;
        if is_full {
            lane.crowded_until = Some(open.ends);
            lane.take_off(config.join_in_flight);
        }
        Some(Entered { batch, opened, is_full })
    }

    /// One waiter less, of a batch without an answer; the batch if nobody is left, so that its task can be ended.
    pub(super) fn leave(&mut self, tenant: &str, id: u64, key: &K) -> Option<Arc<Batch<K, V>>> {
        let lane = self.lanes.get_mut(tenant)?;
        let abandoned = match &mut lane.open {
            Some(open) if open.batch.id == id => {
                let (place, waiters) = open.waiters.get_mut(key)?;
                *waiters -= 1;
                if *waiters > 0 {
                    return None;
                }
                open.keys.remove(place);
                open.waiters.remove(key);
                self.metrics.dropped += 1;
                open.keys.is_empty().then(|| open.batch.clone())
            }
            _ => {
                let flight = lane.flights.get_mut(&id)?;
                flight.waiters -= 1;
                if flight.waiters > 0 {
                    return None;
                }
                match flight.departed {
                    true => self.metrics.cancelled += 1,
                    false => self.metrics.dropped += count(flight.keys.len()),
                }
                Some(flight.batch.clone())
            }
        }?;
        self.remove(tenant, id);
        Some(abandoned)
    }

    /// The window of a batch is over, or it is full: its keys, in the order of arrival.
    pub(super) fn depart(&mut self, tenant: &str, id: u64, config: &Config) -> Option<Vec<K>> {
        let lane = self.lanes.get_mut(tenant)?;
        if lane.open.as_ref().is_some_and(|open| open.batch.id == id) {
            lane.take_off(config.join_in_flight);
        }
        let flight = lane.flights.get_mut(&id)?;
        flight.departed = true;
        let keys = flight.keys.clone();
        *self.metrics.batch_sizes.entry(keys.len()).or_default() += 1;
        Some(keys)
    }

    /// Forgets a batch; its keys can be asked for anew.
    pub(super) fn remove(&mut self, tenant: &str, id: u64) {
        let Some(lane) = self.lanes.get_mut(tenant) else { return };
        if lane.open.as_ref().is_some_and(|open| open.batch.id == id) {
            lane.open = None;
        }
        if let Some(flight) = lane.flights.remove(&id) {
            for key in &flight.keys {
                // The key may be in a later flight by now.
                if lane.joinable.get(key) == Some(&id) {
                    lane.joinable.remove(key);
                }
            }
        }
        if lane.open.is_none() && lane.flights.is_empty() {
            self.lanes.remove(tenant);
        }
    }

    /// Takes no more keys. The open batches leave at once.
    pub(super) fn flush(&mut self, config: &Config) -> Vec<Arc<Batch<K, V>>> {
        self.closed = true;
        in_order(self.lanes.values_mut().filter_map(|lane| lane.take_off(config.join_in_flight)).collect())
    }

    /// Takes no more keys. The open batches are forgotten.
    pub(super) fn close(&mut self) -> Vec<Arc<Batch<K, V>>> {
        self.closed = true;
        let mut closed = Vec::new();
        self.lanes.retain(|_, lane| {
            if let Some(open) = lane.open.take() {
                self.metrics.dropped += count(open.keys.len());
                closed.push(open.batch);
            }
            !lane.flights.is_empty()
        });
        in_order(closed)
    }
}

/// In the order in which they were opened, whatever the order of the map.
fn in_order<K, V>(mut batches: Vec<Arc<Batch<K, V>>>) -> Vec<Arc<Batch<K, V>>> {
    batches.sort_unstable_by_key(|batch| batch.id);
    batches
}

fn count(keys: usize) -> u64 {
    u64::try_from(keys).unwrap_or(u64::MAX)
}

impl<K: Eq + Hash + Clone, V> Lane<K, V> {
    fn new() -> Self {
        Self { open: None, flights: HashMap::new(), joinable: HashMap::new(), crowded_until: None }
    }

    /// The open batch takes no more keys.
    fn take_off(&mut self, join_in_flight: bool) -> Option<Arc<Batch<K, V>>> {
        let Open { batch, keys, waiters, .. } = self.open.take()?;
        let keys: Vec<K> = keys.into_values().collect();
        let waiters = waiters.values().map(|(_, waiters)| waiters).sum();
        let id = batch.id;
        let sent = Sent { batch: batch.clone(), keys, waiters, departed: false };
        let sent = self.flights.entry(id).insert_entry(sent).into_mut();
        // Last, because a key's own code may panic: the batch is on its way then, and can only not be joined.
        if join_in_flight {
            self.joinable.extend(sent.keys.iter().map(|key| (key.clone(), id)));
        }
        Some(batch)
    }
}
