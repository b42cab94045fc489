//! Splitmix64: the only source of chance, so that everything follows from the seed.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

/// One number out of several, in which every bit of each counts.
#[must_use]
pub(super) fn mix(words: &[u64]) -> u64 {
    words.iter().fold(0x243f_6a88_85a3_08d3, |hash, word| scramble(hash ^ word))
}

fn scramble(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Rng {
    /// The stream that belongs to these words and no others.
    #[must_use]
    pub(super) fn of(words: &[u64]) -> Self {
        Self(mix(words))
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number from 0 to `n - 1`; 0 when `n` is 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // The remainder is smaller than `n`, which is a `usize`.
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
