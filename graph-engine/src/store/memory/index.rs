//! Rows by the ids of their checkpoints: a table of row numbers that is only looked into, never walked.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use crate::checkpoint_id::CheckpointId;

/// The ids themselves are with the rows, so a place takes four bytes.
#[derive(Clone, Default)]
pub(super) struct Index {
    /// Numbers of rows; a power of two of places, at most half of them in use.
    places: Vec<u32>,
}

const FREE: u32 = u32::MAX;

/// Rows that are looked through one by one.
const FEW: usize = 8;

/// Ids are hashes, but those of an import may have been chosen: where an id goes is not to be known beforehand.
fn hash(id: CheckpointId) -> usize {
    static KEYS: OnceLock<[u64; 2]> = OnceLock::new();
    let [one, other] = KEYS.get_or_init(|| {
        let random = RandomState::new();
        [random.hash_one(1), random.hash_one(2)]
    });
    let id = u128::from_be_bytes(id.to_bytes());
    let product = u128::from(id as u64 ^ one) * u128::from((id >> 64) as u64 ^ other);
    (product as u64 ^ (product >> 64) as u64) as usize
}

impl Index {
    /// The row of an id among so many rows.
    pub(super) fn find(&self, id: CheckpointId, rows: usize, id_of: impl Fn(usize) -> CheckpointId) -> Option<usize> {
        if self.places.is_empty() {
            return (0..rows).rev().find(|at| id_of(*at) == id);
        }
        let mask = self.places.len() - 1;
        let mut place = hash(id) & mask;
        loop {
            match self.places[place] {
                FREE => return None,
                row if id_of(row as usize) == id => return Some(row as usize),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Notes the id of the last of so many rows.
    pub(super) fn add(&mut self, id: CheckpointId, rows: usize, id_of: impl Fn(usize) -> CheckpointId) {
        if rows <= FEW {
            return;
        }
        if rows * 2 <= self.places.len() {
            return self.put(rows - 1, id);
        }
        // Mostly free at first, so that it is seldom made anew.
        self.places = vec![FREE; (rows * 8).next_power_of_two()];
        (0..rows).for_each(|row| self.put(row, id_of(row)));
    }

    fn put(&mut self, row: usize, id: CheckpointId) {
        let mask = self.places.len() - 1;
        let mut place = hash(id) & mask;
        while self.places[place] != FREE {
            place = (place + 1) & mask;
        }
        // Rows are counted by 32 bits: see `Rows::commit`.
        self.places[place] = row as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_found_and_no_other() {
        let derived = |n: usize| CheckpointId::derive("t", "", None, "turn", n as u64);
        // Chosen ones that differ in few bits.
        let chosen = |n: usize| CheckpointId::from_bytes(((n as u128) << 64).to_be_bytes());
        for id_of in [derived, chosen as fn(usize) -> CheckpointId] {
            let mut index = Index::default();
            for rows in 1..3_000 {
                index.add(id_of(rows - 1), rows, id_of);
                assert_eq!(index.find(id_of(rows - 1), rows, id_of), Some(rows - 1));
                assert_eq!(index.find(id_of(rows / 2), rows, id_of), Some(rows / 2));
                assert_eq!(index.find(id_of(rows), rows, id_of), None);
            }
        }
    }
}
