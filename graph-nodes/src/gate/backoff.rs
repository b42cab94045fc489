//! How long to wait before the next attempt.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long to wait before the next attempt. There is no clock in here: the
/// caller waits.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::gate::Backoff;
///
/// assert_eq!(Backoff::default().after(1), Duration::from_millis(500));
///
/// let base = Duration::from_secs(1);
/// let growing = Backoff::Exponential { base, factor: 2, max: Duration::from_secs(5) };
/// assert_eq!([1, 2, 3, 4].map(|n| growing.after(n).as_secs()), [1, 2, 4, 5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Backoff {
    /// Always the same.
    Fixed(Duration),
    /// Growing with each failed attempt.
    Exponential {
        /// After the first failed attempt.
        base: Duration,
        /// How much longer each time.
        factor: u32,
        /// Never longer than this.
        max: Duration,
    },
}

impl Backoff {
    /// The wait after `failed` failed attempts, from 1.
    pub fn after(&self, failed: u32) -> Duration {
        match *self {
            Self::Fixed(wait) => wait,
            Self::Exponential { base, factor, max } => {
                let growth = factor.saturating_pow(failed.saturating_sub(1));
                base.saturating_mul(growth).min(max)
            }
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::Fixed(Duration::from_millis(500))
    }
}
