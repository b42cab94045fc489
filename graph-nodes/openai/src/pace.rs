//! So much a minute, on the runtime's clock.

use std::num::NonZeroU32;
use std::ops::Add;
use std::time::Duration;

use governor::clock::{Clock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// So much a minute, handed out in the order in which it is asked for.
#[derive(Debug)]
pub(crate) struct Pace {
    most: NonZeroU32,
    limiter: RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Moment>>,
    /// Who waits at the head; the others wait for it, so that a large share isn't overtaken for ever by small ones.
    head: Mutex<()>,
}

impl Pace {
    pub(crate) fn per_minute(most: NonZeroU32) -> Self {
        let limiter = RateLimiter::direct_with_clock(Quota::per_minute(most), RuntimeClock);
        Self { most, limiter, head: Mutex::new(()) }
    }

    /// The most that is ever handed out at once.
    pub(crate) fn most(&self) -> u32 {
        self.most.get()
    }

    /// The share, if it is ever handed out; nothing counts as 1.
    pub(crate) fn fits(&self, share: u64) -> Option<NonZeroU32> {
        let share = NonZeroU32::new(u32::try_from(share).ok()?.max(1))?;
        (share <= self.most).then_some(share)
    }

    /// Waits for a share. One that doesn't [fit](Self::fits) is taken for the most.
    pub(crate) async fn take(&self, share: NonZeroU32) {
        let _head = self.head.lock().await;
        // Ends with the first turn for a share of at most `most`, the only ones that are asked for here.
        while let Ok(Err(wait)) = self.limiter.check_n(share.min(self.most)) {
            sleep(wait.wait_time_from(RuntimeClock.now()).max(Duration::from_millis(1))).await;
        }
    }
}

/// The clock of the tokio runtime, which tests can stop.
#[derive(Clone, Copy, Debug)]
struct RuntimeClock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(Instant);

impl Clock for RuntimeClock {
    type Instant = Moment;

    fn now(&self) -> Moment {
        Moment(Instant::now())
    }
}

impl Add<Nanos> for Moment {
    type Output = Self;

    fn add(self, nanos: Nanos) -> Self {
        Self(self.0 + Duration::from_nanos(nanos.as_u64()))
    }
}

impl Reference for Moment {
    fn duration_since(&self, earlier: Self) -> Nanos {
        self.0.saturating_duration_since(earlier.0).into()
    }

    fn saturating_sub(&self, duration: Nanos) -> Self {
        Self(self.0.checked_sub(Duration::from_nanos(duration.as_u64())).unwrap_or(self.0))
    }
}
