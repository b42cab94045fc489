//! How many columns of a terminal a text takes.

/// The columns of a text that has no control characters.
///
/// Wide characters take two columns, marks and joiners none. Terminals don't agree about emoji that are joined from
/// several: those are counted piece by piece, which is what most of them do.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(of).sum()
}

/// The columns of one character.
pub(super) fn of(c: char) -> usize {
    let c = u32::from(c);
    let within = |ranges: &[(u32, u32)]| {
        let after = ranges.partition_point(|(first, _)| *first <= c);
        after > 0 && c <= ranges[after - 1].1
    };
    if c < 0x300 {
        1
    } else if within(NONE) {
        0
    } else if within(WIDE) {
        2
    } else {
        1
    }
}

/// Combining marks, joiners, variation selectors and tags.
const NONE: &[(u32, u32)] = &[
    (0x300, 0x36f),
    (0x483, 0x489),
    (0x591, 0x5bd),
    (0x5bf, 0x5bf),
    (0x5c1, 0x5c2),
    (0x5c4, 0x5c5),
    (0x610, 0x61a),
    (0x64b, 0x65f),
    (0x670, 0x670),
    (0x6d6, 0x6dc),
    (0x6df, 0x6e4),
    (0x6e7, 0x6e8),
    (0x6ea, 0x6ed),
    (0x93c, 0x93c),
    (0x941, 0x948),
    (0x94d, 0x94d),
    (0xe31, 0xe31),
    (0xe34, 0xe3a),
    (0xe47, 0xe4e),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x200b, 0x200f),
    (0x20d0, 0x20ff),
    (0x302a, 0x302d),
    (0x3099, 0x309a),
    (0xfe00, 0xfe0f),
    (0xfe20, 0xfe2f),
    (0xe0001, 0xe007f),
    (0xe0100, 0xe01ef),
];

/// East Asian wide and full-width characters, and emoji.
const WIDE: &[(u32, u32)] = &[
    (0x1100, 0x115f),
    (0x231a, 0x231b),
    (0x23e9, 0x23ec),
    (0x25fd, 0x25fe),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x26aa, 0x26ab),
    (0x26bd, 0x26be),
    (0x26c4, 0x26c5),
    (0x2705, 0x2705),
    (0x270a, 0x270b),
    (0x2728, 0x2728),
    (0x274c, 0x274c),
    (0x2753, 0x2755),
    (0x2757, 0x2757),
    (0x2795, 0x2797),
    (0x2b1b, 0x2b1c),
    (0x2b50, 0x2b50),
    (0x2e80, 0x303e),
    (0x3041, 0xa4cf),
    (0xa960, 0xa97c),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff01, 0xff60),
    (0xffe0, 0xffe6),
    (0x16fe0, 0x18aff),
    (0x1b000, 0x1b2ff),
    (0x1f004, 0x1f004),
    (0x1f0cf, 0x1f0cf),
    (0x1f18e, 0x1f19a),
    (0x1f1e6, 0x1f202),
    (0x1f210, 0x1f265),
    (0x1f300, 0x1f64f),
    (0x1f680, 0x1f6ff),
    (0x1f7e0, 0x1f7eb),
    (0x1f90c, 0x1faff),
    (0x20000, 0x3fffd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(columns("explore ünï"), 11);
        assert_eq!(columns("酒店"), 4);
        assert_eq!(columns("e\u{301}\u{323}"), 1);
        assert_eq!(columns("😀"), 2);
        assert_eq!(columns("שלום"), 4);
        assert_eq!(columns("ｱＡ"), 3);
    }

    #[test]
    fn the_ranges_are_sorted_and_apart() {
        for ranges in [NONE, WIDE] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
