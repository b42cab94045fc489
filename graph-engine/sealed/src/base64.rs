//! Bytes as text, in the alphabet of RFC 4648 that needs no escapes in JSON, without padding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Which letter stands for what; 64 and more is none.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut at = 0;
    while at < 64 {
        values[LETTERS[at] as usize] = at as u8;
        at += 1;
    }
    values
};

pub(crate) fn encode(bytes: &[u8], text: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0_u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        text.extend((0..=chunk.len()).map(|at| LETTERS[(word >> (18 - 6 * at) & 63) as usize]));
    }
}

/// `None` for a text that `encode` doesn't make.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.chunks(4) {
        let mut word = 0_u32;
        for (at, letter) in chunk.iter().enumerate() {
            let value = VALUES[usize::from(*letter)];
            if value >= 64 {
                return None;
            }
            word |= u32::from(value) << (18 - 6 * at);
        }
        let whole = chunk.len() * 6 / 8;
        // One letter holds no byte, and what is left over of the last one is zero.
        if whole == 0 || word & ((1 << (24 - 8 * whole)) - 1) != 0 {
            return None;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let mut text = Vec::new();
        encode(bytes, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn known_texts_are_made_and_read() {
        let cases: [(&[u8], &str); 8] = [
            (b"", ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (b"fooba", "Zm9vYmE"),
            (b"foobar", "Zm9vYmFy"),
            (&[0xfb, 0xff, 0xfe], "-__-"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes), expected);
            assert_eq!(decode(expected.as_bytes()).as_deref(), Some(bytes));
        }
    }

    #[test]
    fn all_bytes_come_back_at_every_length() {
        let all: Vec<u8> = (0..=255).collect();
        for end in 0..=all.len() {
            assert_eq!(decode(text(&all[..end]).as_bytes()).as_deref(), Some(&all[..end]));
        }
    }

    #[test]
    fn what_is_no_such_text_is_refused() {
        for text in ["Z", "Zm9vY", "Zh", "Zm9", "Zg==", "Zm+v", "Zm/v", "Zm v", "Zmé", "Zm9v\n"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
