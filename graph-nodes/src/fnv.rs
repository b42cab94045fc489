//! A hash that is the same in every version and on every platform.

/// FNV-1a with 64 bits. The standard library's hasher may change between versions, and marks made by this one are
/// stored. It grows with its text, so that what comes in pieces is read once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(crate) fn of(text: &str) -> Self {
        let mut hash = Self::default();
        hash.add(text.as_bytes());
        hash
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }
}
