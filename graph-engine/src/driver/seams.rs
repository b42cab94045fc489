//! Clock, ids, randomness and spawning: the real ones, and whatever a test or another runtime puts in their place.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::checkpoint_id::digits;
use crate::name::Name;
use crate::task::{BlockingWork, Offload, on_tokio};

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
            ids: TurnIds::Random(Arc::new(RandomIds { key: random.hash_one(1), random })),
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
    pub(crate) fn turn_id(&self) -> Name {
        match &self.0.ids {
            TurnIds::Random(ids) => ids.turn(),
            TurnIds::Own(ids) => ids.turn().into(),
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
    Random(Arc<RandomIds>),
    Own(Arc<dyn Ids>),
}

/// 128 random bits: what the standard library's keyed hash, whose key is random, makes of a number that comes once, and that
/// number mixed with another key, which gives no two of them the same.
struct RandomIds {
    random: RandomState,
    key: u64,
}

impl RandomIds {
    fn turn(&self) -> Name {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = u128::from(self.random.hash_one(count)) << 64 | u128::from(mixed(count.wrapping_add(self.key)));
        // Digits are ASCII.
        str::from_utf8(&digits(id)).unwrap_or_default().into()
    }
}

/// Each step can be undone, so two numbers are never mixed to one.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

struct NumberedIds(AtomicU64);

impl Ids for NumberedIds {
    fn turn(&self) -> String {
        format!("turn-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}
