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
        self.look(id, id_of).err()
    }

    /// Where the id of the next row goes, or the row that it is the id of.
    pub(super) fn place(
        &mut self,
        id: CheckpointId,
        rows: usize,
        id_of: impl Fn(usize) -> CheckpointId,
    ) -> Result<Free, usize> {
        if rows < FEW {
            return self.find(id, rows, id_of).map_or(Ok(Free(None)), Err);
        }
        if (rows + 1) * 2 > self.places.len() {
            // Mostly free at first, so that it is seldom made anew.
            self.places = vec![FREE; ((rows + 1) * 8).next_power_of_two()];
            for row in 0..rows {
                let place = self.free(id_of(row));
                self.places[place] = row as u32;
            }
        }
        self.look(id, id_of).map(|place| Free(Some(place)))
    }

    /// Notes the next row at the place of its id. Nothing was noted since.
    pub(super) fn put(&mut self, place: Free, row: usize) {
        if let Some(place) = place.0 {
            // Rows are counted by 32 bits: see `Rows::commit`.
            self.places[place] = row as u32;
        }
    }

    /// The free place of an id that has no row, or its row.
    fn look(&self, id: CheckpointId, id_of: impl Fn(usize) -> CheckpointId) -> Result<usize, usize> {
        let mask = self.places.len() - 1;
        let mut place = hash(id) & mask;
        loop {
            match self.places[place] {
                FREE => return Ok(place),
                row if id_of(row as usize) == id => return Err(row as usize),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// The same of an id that is known to have none.
    fn free(&self, id: CheckpointId) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(id) & mask;
        while self.places[place] != FREE {
            place = (place + 1) & mask;
        }
        place
    }
}

/// Where a row is to be noted, if it is.
#[derive(Default)]
pub(super) struct Free(Option<usize>);

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
                let place = index.place(id_of(rows - 1), rows - 1, id_of).ok().unwrap();
                index.put(place, rows - 1);
                assert_eq!(index.place(id_of(rows / 2), rows, id_of).err(), Some(rows / 2));
                assert_eq!(index.find(id_of(rows - 1), rows, id_of), Some(rows - 1));
                assert_eq!(index.find(id_of(rows / 2), rows, id_of), Some(rows / 2));
                assert_eq!(index.find(id_of(rows), rows, id_of), None);
            }
        }
    }
}
