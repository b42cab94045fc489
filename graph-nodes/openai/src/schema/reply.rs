//! The text of a reply while it arrives as a JSON string.

/// Decodes a JSON string from pieces that are cut anywhere, also within an escape.
#[derive(Debug, Default)]
pub(super) struct ReplyText {
    /// What can't be decoded yet.
    pending: String,
    is_over: bool,
}

impl ReplyText {
    /// Takes the next piece; returns the text of it. What comes after the string's end is dropped.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.is_over {
            return String::new();
        }
        self.pending.push_str(piece);
        let (end, is_over) = readable(&self.pending);
        self.is_over = is_over;
        let ready: String = self.pending.drain(..end).collect();
        decoded(&ready)
    }

    /// What is left when nothing more comes: half of an escape.
    pub(super) fn rest(&mut self) -> String {
        if self.is_over { String::new() } else { std::mem::take(&mut self.pending) }
    }
}

/// How many bytes can be decoded, and whether the end of the string follows.
fn readable(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return (at, true),
            b'\\' => match escape(&bytes[at..]) {
                Some(length) => at += length,
                None => return (at, false),
            },
            _ => at += 1,
        }
    }
    (at, false)
}

/// The length of the escape at the beginning, with the second half of a pair; nothing if it isn't whole.
fn escape(bytes: &[u8]) -> Option<usize> {
    if *bytes.get(1)? != b'u' {
        return Some(2);
    }
    let digits = bytes.get(2..6)?;
    let is_first_half = matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..]);
    if !is_first_half {
        return Some(6);
    }
    match bytes.get(6..12) {
        Some([b'\\', b'u', ..]) => Some(12),
        // Another character follows: the half stands alone.
        Some(_) => Some(6),
        None if bytes[6..].iter().zip(b"\\u").any(|(found, wanted)| found != wanted) => Some(6),
        None => None,
    }
}

/// What is no JSON string, such as a line end that isn't escaped, is taken as it stands.
fn decoded(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_same_text() {
        let json = r#"a\n\"b\" \u00fc \ud83d\ude00 ü😀 \\"}"#;
        for first in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
            for second in (first..json.len()).filter(|at| json.is_char_boundary(*at)) {
                let mut reply = ReplyText::default();
                let pieces = [&json[..first], &json[first..second], &json[second..]].map(|piece| reply.push(piece));
                assert_eq!(pieces.concat(), "a\n\"b\" ü 😀 ü😀 \\", "{first} {second}");
                assert_eq!(reply.rest(), "");
            }
        }
    }

    #[test]
    fn what_is_cut_off_within_an_escape_stays_as_it_is() {
        let mut reply = ReplyText::default();
        assert_eq!((reply.push(r"half \ud83d"), reply.rest()), ("half ".to_owned(), r"\ud83d".to_owned()));
    }
}
