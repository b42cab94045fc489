//! Numbers in as few bytes as they need.

/// Appends a number: seven bits a byte, the lowest first, the highest bit says that more follow.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// How many bytes a number takes.
pub(super) fn size(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// Reads a number and moves on; `None` if it is cut off or larger than 64 bits.
#[inline]
pub(super) fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(first.into());
    }
    let mut number = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_in_as_many_bytes_as_were_said() {
        for number in (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, 3 << bit]).chain([0, u64::MAX]) {
            let (mut bytes, mut at) = (Vec::new(), 0);
            put(&mut bytes, number);
            assert_eq!((bytes.len(), take(&bytes, &mut at), at), (size(number), Some(number), bytes.len()), "{number}");
            assert_eq!(take(&bytes[..bytes.len() - 1], &mut 0), None, "cut off");
        }
        assert_eq!(take(&[0xff; 11], &mut 0), None);
        assert_eq!(take(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], &mut 0), None);
    }
}
