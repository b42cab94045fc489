//! Keys of rows: a number of 31 bits and one of 32, in one integer that sorts by the first, then the second.

use std::ops::RangeInclusive;

use graph_engine::{CheckpointId, StoreError};

const LOW: i64 = 0xffff_ffff;

/// The key of one number within a space or series.
pub(crate) fn key(of: i64, number: i64) -> Result<i64, StoreError> {
    if (0..1 << 31).contains(&of) && (0..=LOW).contains(&number) {
        Ok(of << 32 | number)
    } else {
        Err(StoreError::full("the file has more threads, fields or checkpoints of one thread than it can number"))
    }
}

/// The number within its space or series.
pub(crate) fn number(key: i64) -> i64 {
    key & LOW
}

/// All keys of a space or series.
pub(crate) fn all(of: i64) -> RangeInclusive<i64> {
    up_to(of, LOW)
}

/// The keys of a space or series up to a number.
pub(crate) fn up_to(of: i64, number: i64) -> RangeInclusive<i64> {
    of.wrapping_shl(32)..=of.wrapping_shl(32) | (number & LOW)
}

/// The part of an id that the index by id has.
pub(crate) fn prefix(id: CheckpointId) -> i64 {
    let [a, b, c, d, ..] = id.to_bytes();
    i32::from_be_bytes([a, b, c, d]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_both_numbers_and_end_where_they_must() {
        assert!(key(1, LOW).unwrap() < key(2, 0).unwrap() && key(2, 0).unwrap() < key(2, 1).unwrap());
        assert_eq!(number(key(7, 9).unwrap()), 9);
        assert_eq!((key((1 << 31) - 1, LOW).unwrap(), all((1 << 31) - 1).contains(&i64::MAX)), (i64::MAX, true));
        assert!(key(1 << 31, 0).is_err() && key(0, LOW + 1).is_err() && key(-1, 0).is_err());
        assert_eq!(up_to(1, 5), key(1, 0).unwrap()..=key(1, 5).unwrap());
    }
}
