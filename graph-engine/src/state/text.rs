//! Texts as JSON writes them: between quotes, with the same escapes as `serde_json`.
//!
//! States are mostly texts. Whether there is something to escape is asked of a block of bytes at a time, in a form that
//! compilers turn into a few instructions.

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// Appends the text as JSON.
pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    while let Some(at) = first_special(rest) {
        out.extend_from_slice(&rest[..at]);
        write_escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Where the first byte is that can't stand for itself.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for block in bytes.chunks_exact(BLOCK) {
        if block.iter().fold(false, |found, byte| found | is_special(*byte)) {
            break;
        }
        start += BLOCK;
    }
    let at = bytes[start..].iter().position(|byte| is_special(*byte));
    at.map(|at| start + at)
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_text(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_is_written_as_by_serde_json_wherever_it_stands() {
        let chars = (0..0x100_u32).chain([0x7ff, 0x2028, 0x2029, 0xfffd, 0x1_f600]).filter_map(char::from_u32);
        for c in chars {
            for (before, after) in [(0, 0), (1, 0), (31, 1), (32, 0), (33, 40), (95, 95)] {
                let text = format!("{}{c}{}", "ä".repeat(before), "x".repeat(after));
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
        let all: String = (0..0x100_u32).filter_map(char::from_u32).collect();
        assert_eq!(written(&all), serde_json::to_string(&all).unwrap());
    }
}
