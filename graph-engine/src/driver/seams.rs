//! Clock, ids, randomness and spawning: the real ones, and whatever a test or another runtime puts in their place.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::name::Name;
use crate::task::{BlockingWork, Offload, RandomIds, TurnId, on_tokio};

/// A boxed future without a result.
pub type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Time, as a driver sees it.
pub trait Clock: Send + Sync + 'static {
    /// The time of day, for people. Nothing is decided by it.
    fn now(&self) -> SystemTime;

    /// Time since some fixed moment; never goes back.
    fn elapsed(&self) -> Duration;

    /// Resolves after so long.
    fn sleep(&self, duration: Duration) -> BoxFuture;
}

/// Milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().saturating_mul(1000).saturating_add(since.subsec_millis().into())
}

/// Ids of turns.
pub trait Ids: Send + Sync + 'static {
    /// A new id that no other turn of the same thread has.
    fn turn(&self) -> String;
}

/// Starts work beside the caller.
pub trait Spawn: Send + Sync + 'static {
    /// Runs the future to its end, or drops it. A dropped task counts as failed.
    fn spawn(&self, future: BoxFuture);

    /// Runs work that blocks its thread (default: on tokio's threads for blocking work).
    ///
    /// # Errors
    /// Why it can't be run; the task fails with it.
    fn spawn_blocking(&self, work: BlockingWork) -> Result<(), &'static str> {
        on_tokio(work)
    }
}

/// Hands blocking work to a user's [`Spawn`].
struct Elsewhere(Arc<dyn Spawn>);

impl Offload for Elsewhere {
    fn run(&self, work: BlockingWork) -> Result<(), &'static str> {
        self.0.spawn_blocking(work)
    }
}

/// What a driver takes from outside. Replace one to make a run repeatable.
///
/// ```
/// use graph_engine::Seams;
///
/// let seams = Seams::default().numbered_turns().seed(7);
/// # let _ = seams;
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Seams(pub(crate) Arc<Parts>);

/// Behind one pointer, because every turn takes them along.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) clock: Arc<dyn Clock>,
    ids: TurnIds,
    pub(crate) spawn: Option<Arc<dyn Spawn>>,
    pub(crate) seed: u64,
}

impl Default for Parts {
    fn default() -> Self {
        let random = RandomState::new();
        Self {
            clock: Arc::new(TokioClock::new()),
            seed: random.hash_one(0),
            ids: TurnIds::Random(RandomIds::new(random)),
            spawn: None,
        }
    }
}

impl Seams {
    /// Uses another clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        Arc::make_mut(&mut self.0).clock = Arc::new(clock);
        self
    }

    /// Uses other ids.
    pub fn ids(mut self, ids: impl Ids) -> Self {
        Arc::make_mut(&mut self.0).ids = TurnIds::Own(Arc::new(ids));
        self
    }

    /// Numbers turns `turn-1`, `turn-2`, .. instead of giving them random ids.
    pub fn numbered_turns(self) -> Self {
        self.ids(NumberedIds(AtomicU64::new(1)))
    }

    /// The id of a new turn.
    pub(crate) fn turn_id(&self) -> TurnId {
        match &self.0.ids {
            TurnIds::Random(ids) => ids.turn(),
            TurnIds::Own(ids) => Name::from(ids.turn()).into(),
        }
    }

    /// Where blocking work runs, if a user says so.
    pub(crate) fn offload(&self) -> Option<Arc<dyn Offload>> {
        let spawn = self.0.spawn.clone()?;
        Some(Arc::new(Elsewhere(spawn)))
    }

    /// Spawns tasks elsewhere than on the current tokio runtime.
    pub fn spawn(mut self, spawn: impl Spawn) -> Self {
        Arc::make_mut(&mut self.0).spawn = Some(Arc::new(spawn));
        self
    }

    /// The seed from which the jitter of retries is derived (default: random).
    pub fn seed(mut self, seed: u64) -> Self {
        Arc::make_mut(&mut self.0).seed = seed;
        self
    }
}

impl fmt::Debug for Seams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seams").field("own_spawn", &self.0.spawn.is_some()).finish_non_exhaustive()
    }
}

/// The tokio runtime's clock, which tests can pause.
struct TokioClock {
    start: tokio::time::Instant,
}

impl TokioClock {
    /// All clocks of the process begin at one moment, because runners may share a cache whose entries grow old. It lies
    /// in the past, before a paused clock may have been stopped.
    fn new() -> Self {
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        const BEFORE: Duration = Duration::from_secs(24 * 60 * 60);
        let start = START.get_or_init(|| {
            let now = std::time::Instant::now();
            now.checked_sub(BEFORE).unwrap_or(now)
        });
        Self { start: tokio::time::Instant::from_std(*start) }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Where ids of turns come from.
#[derive(Clone)]
enum TurnIds {
    Random(RandomIds),
    Own(Arc<dyn Ids>),
}

struct NumberedIds(AtomicU64);

impl Ids for NumberedIds {
    fn turn(&self) -> String {
        format!("turn-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}
