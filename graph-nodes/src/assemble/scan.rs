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
        for byte in piece.bytes() {
            self.step(byte);
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

    #[test]
    fn braces_and_quotes_inside_strings_do_not_count() {
        assert!(!complete(&["{\"a\":\"}", "\\", "\"}"]));
        assert!(complete(&["{\"a\":\"}", "\\", "\"}", "\"}"]));
        assert!(complete(&["{\"a\":\"\\\\", "\"}"]));
        assert!(complete(&["{\"ü\":\"日}\"}"]));
    }
}
