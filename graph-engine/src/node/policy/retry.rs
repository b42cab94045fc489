//! When a failed attempt is made again, as data: the machine counts, the driver waits.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::error::NodeError;

type Predicate = Arc<dyn Fn(&NodeError) -> bool + Send + Sync>;

/// Tries a task again that failed and may be tried again.
///
/// The wait before attempt `n + 1` is `base * factor^(n - 1)`, at most `max`, then spread by `jitter` (0 to 1: up to
/// so much of the wait is added). The spread comes from the runner's seed, so that a run can be repeated exactly.
///
/// ```
/// use std::time::Duration;
/// use graph_engine::Retry;
///
/// let retry = Retry::exponential(4, Duration::from_millis(100)).max_wait(Duration::from_millis(250));
/// let waits: Vec<_> = (1..4).map(|attempt| retry.wait(attempt, 0.0).as_millis()).collect();
/// assert_eq!(waits, [100, 200, 250]);
/// ```
#[derive(Clone)]
pub struct Retry {
    attempts: NonZeroU32,
    base: Duration,
    factor: f64,
    max: Duration,
    jitter: f64,
    when: Option<Predicate>,
    /// What counts for failures that this one doesn't accept.
    otherwise: Option<Arc<Retry>>,
}

impl Retry {
    /// Waits twice as long after each failure. `attempts` includes the first; 0 counts as 1.
    #[must_use]
    pub fn exponential(attempts: u32, base: Duration) -> Self {
        Self::new(attempts, base, 2.0)
    }

    /// Waits equally long after each failure. `attempts` includes the first; 0 counts as 1.
    #[must_use]
    pub fn fixed(attempts: u32, wait: Duration) -> Self {
        Self::new(attempts, wait, 1.0)
    }

    /// Multiplies the wait by a factor after each failure. `attempts` includes the first; 0 counts as 1.
    pub(crate) fn growing(attempts: u32, base: Duration, factor: f64) -> Self {
        Self::new(attempts, base, factor)
    }

    fn new(attempts: u32, base: Duration, factor: f64) -> Self {
        let attempts = NonZeroU32::new(attempts).unwrap_or(NonZeroU32::MIN);
        Self { attempts, base, factor, max: Duration::from_secs(60), jitter: 0.0, when: None, otherwise: None }
    }

    /// The longest wait before jitter (default 60 s).
    #[must_use]
    pub fn max_wait(mut self, max: Duration) -> Self {
        self.max = max;
        self
    }

    /// Spreads waits by up to this part of them (default 0; 1 doubles at most).
    #[must_use]
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        self
    }

    /// Tries again only what this accepts. A fatal failure is never tried again.
    #[must_use]
    pub fn when(mut self, accept: impl Fn(&NodeError) -> bool + Send + Sync + 'static) -> Self {
        self.when = Some(Arc::new(accept));
        self
    }

    /// Adds another policy for failures that this one doesn't accept. The first that accepts a failure decides; attempts
    /// are counted over all of them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use graph_engine::Retry;
    ///
    /// let busy = Retry::exponential(5, Duration::from_secs(1)).when(|error| error.to_string().contains("busy"));
    /// let retry = busy.or(Retry::fixed(2, Duration::ZERO));
    /// # let _ = retry;
    /// ```
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.otherwise = Some(Arc::new(match self.otherwise.take() {
            Some(next) => Arc::unwrap_or_clone(next).or(other),
            None => other,
        }));
        self
    }

    /// All tries, the first included.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts.get()
    }

    /// The wait after a failed attempt, counted from 1. `spread` is a number from 0 to 1.
    #[must_use]
    pub fn wait(&self, attempt: u32, spread: f64) -> Duration {
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let wait = self.base.as_secs_f64() * self.factor.powi(exponent);
        let capped = Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX).min(self.max);
        let spread = if spread.is_finite() { spread.clamp(0.0, 1.0) } else { 0.0 };
        let added = Duration::try_from_secs_f64(capped.as_secs_f64() * self.jitter * spread).unwrap_or(Duration::MAX);
        capped.saturating_add(added)
    }

    /// The first policy that accepts a failure.
    pub(crate) fn for_failure(&self, error: &NodeError) -> Option<&Self> {
        let accepts = error.is_retryable() && self.when.as_ref().is_none_or(|when| when(error));
        if accepts { Some(self) } else { self.otherwise.as_ref()?.for_failure(error) }
    }

    pub(crate) fn base(&self) -> Duration {
        self.base
    }

    pub(crate) fn factor(&self) -> f64 {
        self.factor
    }

    pub(crate) fn longest_wait(&self) -> Duration {
        self.max
    }

    pub(crate) fn spread(&self) -> f64 {
        self.jitter
    }

    /// What counts for failures that this one doesn't accept.
    pub(crate) fn next(&self) -> Option<&Self> {
        self.otherwise.as_deref()
    }

    pub(crate) fn has_predicate(&self) -> bool {
        self.when.is_some()
    }
}

impl std::fmt::Debug for Retry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retry")
            .field("attempts", &self.attempts)
            .field("base", &self.base)
            .field("factor", &self.factor)
            .field("max", &self.max)
            .field("jitter", &self.jitter)
            .field("predicate", &self.when.is_some())
            .field("otherwise", &self.otherwise)
            .finish()
    }
}
