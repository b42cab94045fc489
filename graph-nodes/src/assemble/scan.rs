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
        loop {
            rest = match self.state {
                State::Inside if self.escaped => rest,
                State::Inside if self.in_string => skip(rest, ends_string),
                State::Inside => skip(rest, is_structure),
                State::Before => rest,
                // Nothing changes these any more.
                State::Closed | State::Other => return,
            };
            let Some((byte, after)) = rest.split_first() else { return };
            self.step(*byte);
            rest = after;
        }
    }

    /// Whether one top-level container was opened and closed.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Closed
    }

    /// How many bytes were read.
    pub(super) fn scanned(&self) -> usize {
        self.scanned
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            State::Before if byte.is_ascii_whitespace() => {}
            State::Before if matches!(byte, b'{' | b'[') => (self.state, self.depth) = (State::Inside, 1),
            State::Before => self.state = State::Other,
            State::Inside if self.in_string => match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            },
            State::Inside => match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    // `Inside` means depth >= 1.
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.state = State::Closed;
                    }
                }
                _ => {}
            },
            State::Closed | State::Other => {}
        }
    }
}

/// Skips eight bytes at a time as long as none of them can matter; `may_matter` may say yes too often.
fn skip(bytes: &[u8], may_matter: impl Fn(u64) -> bool) -> &[u8] {
    let (words, _) = bytes.as_chunks::<8>();
    let dull = words.iter().take_while(|word| !may_matter(u64::from_le_bytes(**word))).count();
    &bytes[dull * 8..]
}

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Whether one of eight bytes is zero.
const fn has_zero(word: u64) -> bool {
    word.wrapping_sub(each(1)) & !word & each(0x80) != 0
}

fn ends_string(word: u64) -> bool {
    has_zero(word ^ each(b'"')) || has_zero(word ^ each(b'\\'))
}

fn is_structure(word: u64) -> bool {
    // This bit is all that `[` and `{`, and `]` and `}`, differ in; `"` has it.
    let lower = word | each(0x20);
    has_zero(lower ^ each(b'{')) || has_zero(lower ^ each(b'}')) || has_zero(lower ^ each(b'"'))
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

    /// The scanner with nothing but the step.
    fn stepped(text: &str) -> (State, usize, bool, bool) {
        let mut scanner = Scanner::default();
        text.bytes().for_each(|byte| scanner.step(byte));
        (scanner.state, scanner.depth, scanner.in_string, scanner.escaped)
    }

    #[test]
    fn eight_bytes_at_a_time_come_to_the_same_as_one_at_a_time() {
        let characters = ["{", "}", "[", "]", "\"", "\\", "x", "日", " ", "\u{2}", "🏨", ":"];
        let mut seed = 7_u64;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        };
        for _ in 0..20_000 {
            // Mostly what is dull, so that whole words are skipped.
            let mut text = "{".repeat(below(3));
            (0..below(60)).for_each(|_| text.push_str(if below(8) > 0 { "y" } else { characters[below(12)] }));
            let mut scanner = Scanner::default();
            let (first, second) = text.split_at(text.floor_char_boundary(below(text.len() + 1)));
            scanner.feed(first);
            scanner.feed(second);
            assert_eq!((scanner.state, scanner.depth, scanner.in_string, scanner.escaped), stepped(&text), "{text}");
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
