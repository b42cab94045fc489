//! Token counts.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one or several model calls, as reported by the provider.
///
/// Sums saturate instead of overflowing.
///
/// ```
/// use graph_nodes::message::Usage;
///
/// let sum = Usage::new(100, 10) + Usage::new(100, 10);
/// assert_eq!(sum, Usage::new(200, 20));
/// assert_eq!(sum.total(), 220);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the response.
    pub output: u64,
    /// The provider's own total, where it sent one; read it through [`Usage::total`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The part of `input` that was read from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
}

impl Usage {
    /// Counts without a provider's total and without cached tokens.
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, total: None, cached: 0 }
    }

    /// The provider's total, else input plus output.
    pub fn total(&self) -> u64 {
        self.total.unwrap_or(self.input.saturating_add(self.output))
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        // A sum keeps a total only where a provider sent one, so that a total
        // that isn't input plus output (hidden tokens) isn't lost.
        let total = (self.total.is_some() || other.total.is_some()).then(|| self.total().saturating_add(other.total()));
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            total,
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_keeps_the_providers_total_when_one_side_has_it() {
        let reported = Usage { total: Some(150), cached: 7, ..Usage::new(100, 10) };
        let sum: Usage = [reported, Usage::new(1, 2)].into_iter().sum();
        assert_eq!(sum, Usage { input: 101, output: 12, total: Some(153), cached: 7 });
    }

    #[test]
    fn sums_saturate() {
        assert_eq!((Usage::new(u64::MAX, 0) + Usage::new(1, 0)).total(), u64::MAX);
    }
}
