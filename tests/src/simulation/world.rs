//! What simulated nodes share: the number of the turn, the time, and the record of what they did.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use graph_engine::{BoxFuture, Clock};
use tokio::time::Instant;

use super::behave::Call;
use crate::{Alive, Guard};

/// How an attempt ended, as its node saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ending {
    /// It returned an outcome.
    Done,
    /// It returned a failure.
    Retryable,
    /// See above.
    Fatal,
    /// It panicked.
    Panicked,
    /// Its future was dropped.
    Dropped,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// What the node was given.
    pub call: Call,
    /// `Ctx::remaining_steps`
    pub remaining: u64,
    /// `Ctx::idempotency_key`
    pub key: String,
    /// When it began, in milliseconds.
    pub began: u64,
    /// When and how it ended; nothing while it runs.
    pub ended: Option<(u64, Ending)>,
}

/// What all nodes of a session share.
#[derive(Debug)]
pub(super) struct World {
    /// The seed.
    pub seed: u64,
    base: Instant,
    turn: AtomicU64,
    records: Mutex<Vec<Record>>,
    alive: Alive,
}

/// An attempt that runs; dropping it ends the record.
#[derive(Debug)]
pub(super) struct Running {
    world: Arc<World>,
    at: usize,
    ending: Ending,
    _alive: Guard,
}

impl World {
    /// A world that begins now.
    #[must_use]
    pub(super) fn new(seed: u64) -> Arc<Self> {
        let (turn, records) = (AtomicU64::new(0), Mutex::default());
        Arc::new(Self { seed, base: Instant::now(), turn, records, alive: Alive::new() })
    }

    /// Milliseconds since the beginning.
    #[must_use]
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The number of the turn.
    #[must_use]
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::SeqCst)
    }

    /// From here on it is this turn.
    pub(super) fn begin_turn(&self, turn: u64) {
        self.turn.store(turn, Ordering::SeqCst);
    }

    /// How many attempts run.
    #[must_use]
    pub(super) fn alive(&self) -> usize {
        self.alive.count()
    }

    fn records(&self) -> std::sync::MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an attempt begins.
    #[must_use]
    pub(super) fn begin(self: &Arc<Self>, call: Call, remaining: u64, key: String) -> Running {
        let mut records = self.records();
        records.push(Record { call, remaining, key, began: self.now(), ended: None });
        Running { world: self.clone(), at: records.len() - 1, ending: Ending::Dropped, _alive: self.alive.guard() }
    }

    /// The records since the last call.
    #[must_use]
    pub(super) fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut *self.records())
    }
}

impl Running {
    /// How the attempt is about to end.
    pub(super) fn ends(&mut self, ending: Ending) {
        self.ending = ending;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let now = self.world.now();
        if let Some(record) = self.world.records().get_mut(self.at) {
            record.ended = Some((now, self.ending));
        }
    }
}

/// A clock that shows the paused time as if the world had begun in 1970.
#[derive(Clone, Debug)]
pub(super) struct SimClock(pub Arc<World>);

impl Clock for SimClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.now())
    }

    fn elapsed(&self) -> Duration {
        self.0.base.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}
