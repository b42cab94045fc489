//! How a server is used: limits, and what happens when it fails.

use std::time::Duration;

use crate::connect::Handshake;

/// How a server that ended is started again, and when it is left alone.
///
/// A call that finds the server gone starts it, with a wait between attempts that doubles. Failures in a row, which are
/// ends of the server, starts that fail and calls that take too long, are counted until a call is answered; after so many
/// the server is left alone for a while, then tried once.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes_mcp::Restarts;
///
/// let restarts = Restarts::new()
///     .attempts(2)
///     .backoff(Duration::from_millis(100), Duration::from_secs(1))
///     .rest_after(4, Duration::from_secs(60));
/// # let _ = restarts;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it does nothing until a server has it"]
pub struct Restarts {
    pub(crate) attempts: u32,
    first: Duration,
    longest: Duration,
    pub(crate) most: u32,
    pub(crate) rest: Duration,
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            attempts: 3,
            first: Duration::from_millis(200),
            longest: Duration::from_secs(5),
            most: 5,
            rest: Duration::from_secs(30),
        }
    }
}

impl Restarts {
    /// Three attempts a call, with 200 ms, then 400 ms between them; after 5 failures in a row, 30 seconds of rest.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often one call tries to start the server, at least once.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The wait before the second attempt, which doubles with each, and the longest.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        (self.first, self.longest) = (first, longest);
        self
    }

    /// After how many failures in a row, at least one, the server is left alone, and for how long.
    pub fn rest_after(mut self, failures: u32, rest: Duration) -> Self {
        (self.most, self.rest) = (failures.max(1), rest);
        self
    }

    /// The wait after so many failures; after the first there is none.
    pub(crate) fn wait(&self, failures: u32) -> Duration {
        match failures {
            0 | 1 => Duration::ZERO,
            more => self.first.saturating_mul(1 << (more - 2).min(20)).min(self.longest),
        }
    }
}

/// All limits of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) start_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) max_result_bytes: usize,
    pub(crate) restarts: Restarts,
    pub(crate) handshake: Handshake,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            start_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(60),
            max_result_bytes: 32 * 1024,
            restarts: Restarts::default(),
            handshake: Handshake::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_the_longest() {
        let restarts = Restarts::new().backoff(Duration::from_millis(100), Duration::from_millis(350));
        let waits = [0, 1, 2, 3, 4, 5, u32::MAX].map(|failures| restarts.wait(failures).as_millis());
        assert_eq!(waits, [0, 0, 100, 200, 350, 350, 350]);
    }
}
