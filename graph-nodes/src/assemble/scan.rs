//! Notices when a JSON container that arrives in pieces is closed.

/// Follows one call's arguments byte by byte and never looks back.
///
/// It knows strings and escapes, and nothing else of JSON: whether the text is
/// valid is decided once, at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    state: State,
    depth: usize,
    in_string: bool,
    escaped: bool,
    scanned: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    /// Only white space so far.
    #[default]
    Before,
    /// Inside the container.
    Inside,
    /// The container is closed.
    Closed,
    /// The text started with something that is no container.
    Other,
}

impl Scanner {
    /// Reads the next piece.
    pub(super) fn feed(&mut self, piece: &str) {
        self.scanned += piece.len();
        // All bytes of a multibyte character are above ASCII, so bytes will do.
        let mut rest = piece.as_bytes();
        if self.state == State::Before {
            rest = rest.trim_ascii_start();
            let Some((first, after)) = rest.split_first() else { return };
            if !matches!(first, b'{' | b'[') {
                self.state = State::Other;
                return;
            }
            (self.state, self.depth, rest) = (State::Inside, 1, after);
        }
        // Nothing changes the other states any more.
        while self.state == State::Inside && !rest.is_empty() {
            rest = if self.in_string { self.string(rest) } else { self.structure(rest) };
        }
    }

    /// Reads within a string, to its end; returns what comes after.
    fn string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.escaped) {
                rest = &rest[1..];
                continue;
            }
            let Some((byte, after)) = rest[dull(rest)..].split_first() else { return &[] };
            rest = after;
            self.in_string = *byte != b'"';
            self.escaped = *byte == b'\\';
            if !self.in_string {
                break;
            }
        }
        rest
    }

    /// Reads between strings, to the start of the next one or the end of the container; returns what comes after.
    fn structure<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    continue;
                }
                b'}' | b']' => {
                    // Inside means a depth of at least 1.
                    self.depth -= 1;
                    if self.depth > 0 {
                        continue;
                    }
                    self.state = State::Closed;
                }
                _ => continue,
            }
            return &bytes[at + 1..];
        }
        &[]
    }

    /// Whether one top-level container was opened and closed.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Closed
    }

    /// How many bytes were read.
    pub(super) fn scanned(&self) -> usize {
        self.scanned
    }
}

/// How many bytes come before a quote or a backslash. Most pieces have none, so eight are looked at together.
fn dull(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\'));
        if found != 0 {
            // Of the marks only the lowest one is sure to be right.
            return n * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let found = tail.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    words.len() * 8 + found.unwrap_or(tail.len())
}

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Marks the lowest byte that is zero, if there is one, and perhaps bytes above it.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(each(1)) & !word & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(pieces: &[&str]) -> bool {
        let mut scanner = Scanner::default();
        pieces.iter().for_each(|piece| scanner.feed(piece));
        scanner.is_complete()
    }

    #[test]
    fn only_a_closed_container_is_complete() {
        assert!(complete(&[" {", "\"a\":[1,{}]", "} "]));
        assert!(complete(&["[]"]));
        assert!(!complete(&["{\"a\":{}"]));
        assert!(!complete(&["\"{}\""]));
        assert!(!complete(&["12"]));
        assert!(!complete(&[" "]));
    }

    /// The same, a byte at a time and as plainly as can be.
    fn plainly(text: &str) -> (State, usize, bool, bool) {
        let (mut state, mut depth, mut in_string, mut escaped) = (State::Before, 0, false, false);
        for byte in text.bytes() {
            match (state, byte) {
                (State::Before, b' ' | b'\n') => {}
                (State::Before, b'{' | b'[') => (state, depth) = (State::Inside, 1),
                (State::Before, _) => state = State::Other,
                (State::Inside, _) if escaped => escaped = false,
                (State::Inside, b'\\') if in_string => escaped = true,
                (State::Inside, b'"') => in_string = !in_string,
                (State::Inside, b'{' | b'[') if !in_string => depth += 1,
                (State::Inside, b'}' | b']') if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        state = State::Closed;
                    }
                }
                _ => {}
            }
        }
        (state, depth, in_string, escaped)
    }

    #[test]
    fn eight_bytes_at_a_time_come_to_the_same_as_one_at_a_time() {
        let characters = ["{", "}", "[", "]", "\"", "\\", "x", "日", " ", "#", "🏨", "\n"];
        let mut seed = 7_u64;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        };
        for _ in 0..20_000 {
            // Mostly what is dull, so that whole words are skipped.
            let mut text = ["", "{", "{\"", " ["][below(4)].to_owned();
            (0..below(60)).for_each(|_| text.push_str(if below(8) > 0 { "y" } else { characters[below(12)] }));
            let mut scanner = Scanner::default();
            let (first, second) = text.split_at(text.floor_char_boundary(below(text.len() + 1)));
            scanner.feed(first);
            scanner.feed(second);
            assert_eq!((scanner.state, scanner.depth, scanner.in_string, scanner.escaped), plainly(&text), "{text}");
            assert_eq!(scanner.scanned(), text.len());
        }
    }

    #[test]
    fn braces_and_quotes_inside_strings_do_not_count() {
        assert!(!complete(&["{\"a\":\"}", "\\", "\"}"]));
        assert!(complete(&["{\"a\":\"}", "\\", "\"}", "\"}"]));
        assert!(complete(&["{\"a\":\"\\\\", "\"}"]));
        assert!(complete(&["{\"ü\":\"日}\"}"]));
    }
}
