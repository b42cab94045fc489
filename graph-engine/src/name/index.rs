//! Names found by their text, in a time that doesn't grow with their number.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// What an index says of a name: its place in the list of names.
pub(crate) trait Place: Copy + PartialEq {
    /// No place.
    const NONE: Self;

    fn from_index(index: usize) -> Self;

    fn index(self) -> usize;
}

impl Place for u32 {
    const NONE: Self = Self::MAX;

    fn from_index(index: usize) -> Self {
        // So many names don't fit in memory.
        Self::try_from(index).unwrap_or(Self::NONE)
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// The places of names, by a hash of their text. It holds no text: whoever asks has the list. Of equal names the first
/// counts, and nothing ever walks through it, so nothing depends on the hash.
#[derive(Debug)]
pub(crate) struct NameIndex<P> {
    /// A power of two of them, half of them empty at least.
    slots: Box<[P]>,
}

impl<P: Place> NameIndex<P> {
    pub(crate) fn new<'a>(count: usize, name_at: impl Fn(usize) -> &'a str) -> Self {
        let mut index = Self::with_room(count);
        (0..count).for_each(|at| index.insert(at, &name_at));
        index
    }

    /// Room for so many names and not one more.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { slots: vec![P::NONE; (count * 2).next_power_of_two()].into_boxed_slice() }
    }

    pub(crate) fn insert<'a>(&mut self, at: usize, name_at: impl Fn(usize) -> &'a str) {
        let name = name_at(at);
        let mut slot = first_slot(name, self.slots.len());
        while self.slots[slot] != P::NONE {
            if name_at(self.slots[slot].index()) == name {
                return;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = P::from_index(at);
    }

    pub(crate) fn get<'a>(&self, name: &str, name_at: impl Fn(usize) -> &'a str) -> Option<&P> {
        let mut slot = first_slot(name, self.slots.len());
        loop {
            let place = &self.slots[slot];
            if *place == P::NONE {
                return None;
            }
            if name_at(place.index()) == name {
                return Some(place);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}

fn first_slot(name: &str, slots: usize) -> usize {
    hash_of(key(), name.as_bytes()) as usize & (slots - 1)
}

fn hash_of(start: u64, text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(start ^ text.len() as u64, |hash, word| mixed(hash ^ u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    mixed(hash ^ rest)
}

/// Hashes names for tables that are only looked into: with the key of the process, and in a few instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameHash;

#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher(u64);

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(key())
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, text: &[u8]) {
        self.0 = hash_of(self.0, text);
    }

    // What ends each text says nothing, because its length counts.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A number that nobody knows beforehand: names of a graph that comes from outside may have been chosen to meet in one place.
fn key() -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    *KEY.get_or_init(|| RandomState::new().hash_one(0))
}

/// Both halves of a product with the golden ratio's bits, so that each bit of the word counts in each bit of the hash.
fn mixed(word: u64) -> u64 {
    let product = u128::from(word ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_at_its_first_place_and_no_other_is() {
        let mut names: Vec<String> = (0..5_000).map(|i| format!("n{i}")).collect();
        names.extend(["n7", "", "a name of more than eight bytes", "ünï", "n7"].map(str::to_owned));
        let name_at = |at: usize| names[at].as_str();
        let index = NameIndex::<u32>::new(names.len(), name_at);
        for (at, name) in names.iter().enumerate() {
            let first = if name == "n7" { 7 } else { at };
            assert_eq!(index.get(name, name_at), Some(&(first as u32)), "{name}");
        }
        for strange in ["n", "n5000", "n-1", "a name of more than eight byte"] {
            assert_eq!(index.get(strange, name_at), None, "{strange}");
        }
    }

    #[test]
    fn an_index_of_nothing_finds_nothing() {
        let index = NameIndex::<u32>::new(0, |_| "");
        assert_eq!(index.get("", |_| ""), None);
    }
}
