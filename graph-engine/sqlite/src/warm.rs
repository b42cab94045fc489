//! What this process has read before, whose pages the operating system most likely still has in memory. To read them again
//! takes less than to hand the question to another thread and to hear of it, so it is answered where it is asked, if it
//! isn't long. A guess: that it isn't longer than it was is seen by whoever reads ([`Most`](crate::read::Most)).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use graph_engine::{Filter, Place, Stored};

/// How many places are remembered. One that comes to the same spot takes it.
const SPOTS: usize = 1_024;

/// Of a spot's number, how many bits say how much was read, in KiB; the others say of which place.
const SIZE: u64 = (1 << 20) - 1;

/// How large a state may be that is read where it is asked for, in KiB. Whoever asks parses it there, which takes longer.
const MOST: u64 = 256;

/// How many checkpoints may be listed there.
const LIST: usize = 64;

/// Which places were read, and how large they were.
pub(crate) struct Warm(Box<[AtomicU64]>);

impl Default for Warm {
    fn default() -> Self {
        Self((0..SPOTS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Warm {
    /// Whether the state of a place may be read at once.
    pub(crate) fn state(&self, place: &Place) -> bool {
        self.size(place).is_some_and(|size| size <= MOST)
    }

    /// Whether its newest checkpoints may be listed at once. A filter that not all of them pass may go through many.
    pub(crate) fn list(&self, place: &Place, filter: &Filter) -> bool {
        let Filter { before: None, limit, turn: None, steps: None, tags, .. } = filter else { return false };
        tags.is_empty() && limit.is_some_and(|limit| limit <= LIST) && self.size(place).is_some()
    }

    /// Its state was read.
    pub(crate) fn loaded(&self, place: &Place, stored: &Stored) {
        let saved: usize = stored.saved.iter().map(|saved| saved.bytes.len()).sum();
        self.put(place, ((stored.fields.byte_len() + stored.position.len() + saved) / 1_024) as u64);
    }

    /// Its checkpoints were listed; of its state nothing is known.
    pub(crate) fn listed(&self, place: &Place) {
        if self.size(place).is_none() {
            self.put(place, SIZE);
        }
    }

    fn size(&self, place: &Place) -> Option<u64> {
        let (spot, of) = self.spot(place);
        let held = spot.load(Ordering::Relaxed);
        (held != 0 && held & !SIZE == of).then_some(held & SIZE)
    }

    fn put(&self, place: &Place, size: u64) {
        let (spot, of) = self.spot(place);
        spot.store(of | size.min(SIZE), Ordering::Relaxed);
    }

    fn spot(&self, place: &Place) -> (&AtomicU64, u64) {
        let mut hasher = DefaultHasher::new();
        place.hash(&mut hasher);
        let hash = hasher.finish();
        // A place whose upper bits are none would be an empty spot.
        (&self.0[hash as usize % self.0.len()], (hash & !SIZE).max(SIZE + 1))
    }
}

#[cfg(test)]
mod tests {
    use graph_engine::{CheckpointId, CheckpointInfo, Encoding};

    use super::*;

    fn stored(bytes: usize) -> Stored {
        let id = CheckpointId::derive("t", "", None, "turn", 0);
        let mut stored = Stored::new(CheckpointInfo::new(id, None, "turn", 0), Vec::new());
        stored.fields.push("notes", Encoding::Base, 0..0, &vec![b' '; bytes]);
        stored
    }

    #[test]
    fn what_was_read_is_warm_up_to_a_size_and_only_its_newest_checkpoints() {
        let (warm, place, ten) = (Warm::default(), Place::thread("t"), Filter::default().limit(10));
        assert!(!warm.state(&place) && !warm.list(&place, &ten));
        warm.listed(&place);
        assert!(!warm.state(&place) && warm.list(&place, &ten));
        for (kib, is_warm) in [(1, true), (256, true), (257, false), (0, true), (5_000, false)] {
            warm.loaded(&place, &stored(kib * 1_024));
            assert_eq!(warm.state(&place), is_warm, "{kib} KiB");
            assert!(warm.list(&place, &ten));
            warm.listed(&place);
            assert_eq!(warm.state(&place), is_warm, "{kib} KiB, listed");
        }
        warm.put(&place, 2 << 20);
        assert!(!warm.state(&place) && warm.list(&place, &ten));
        assert!(!warm.state(&Place::new("t", "child")) && !warm.list(&Place::thread("other"), &ten));
        let long = [
            Filter::default(),
            Filter::default().limit(65),
            ten.clone().turn("turn"),
            ten.clone().steps(0..=9),
            ten.clone().tag("tenant", "acme"),
            ten.clone().before(CheckpointId::derive("t", "", None, "turn", 0)),
        ];
        assert!(long.iter().all(|filter| !warm.list(&place, filter)));
        assert!(warm.list(&place, &Filter::default().limit(64)));
    }
}
