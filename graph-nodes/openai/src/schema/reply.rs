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

    /// Whether the end of the string came.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
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

/// The length of the escape at the beginning, with the second half of a pair; nothing if it isn't whole. What is no escape
/// has the length of what stands for it.
fn escape(bytes: &[u8]) -> Option<usize> {
    if *bytes.get(1)? != b'u' {
        return Some(2);
    }
    let digits = &bytes[2..bytes.len().min(6)];
    match digits {
        _ if !digits.iter().all(u8::is_ascii_hexdigit) => Some(2),
        [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', _, _] => {
            second_half(&bytes[6..]).map(|length| 6 + length)
        }
        [_, _, _, _] => Some(6),
        _ => None,
    }
}

/// The length of the second half of a pair, which may be missing; nothing if it isn't known yet.
fn second_half(bytes: &[u8]) -> Option<usize> {
    let fits = |(at, byte): (usize, &u8)| match at {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        2 => matches!(byte, b'd' | b'D'),
        3 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    };
    let half = &bytes[..bytes.len().min(6)];
    match half.iter().enumerate().all(fits) {
        false => Some(0),
        true => (half.len() == 6).then_some(6),
    }
}

/// Escapes are decoded one by one, so that it makes no difference where the text was cut. What is none, such as `\q`, and
/// what can't stand in a JSON string, such as a line end, is taken as it stands.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        decoded.push_str(&rest[..start]);
        let length = escape(&rest.as_bytes()[start..]).unwrap_or(rest.len() - start);
        let (whole, after) = rest[start..].split_at(rest[start..].ceil_char_boundary(length));
        match serde_json::from_str::<String>(&format!("\"{whole}\"")) {
            Ok(text) => decoded.push_str(&text),
            Err(_) => decoded.push_str(whole),
        }
        rest = after;
    }
    decoded.push_str(rest);
    decoded
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
    fn what_is_no_json_string_is_the_same_text_wherever_it_is_cut() {
        for (json, text) in [
            ("a\\\"b\nc\"", "a\"b\nc"),
            (r#"\q \ü \\ \n"}"#, "\\q \\ü \\ \n"),
            (r#"\u12"}"#, r"\u12"),
            (r#"\u00zé\u00e9"}"#, r"\u00zéé"),
            (r#"\ud83d\u0041 \ud83dx \ude00 \ud83d\ud83d\ude00"}"#, "\\ud83dA \\ud83dx \\ude00 \\ud83d😀"),
        ] {
            for cut in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
                let mut reply = ReplyText::default();
                let pieces = [&json[..cut], &json[cut..]].map(|piece| reply.push(piece));
                assert_eq!((&*pieces.concat(), reply.is_over()), (text, true), "{json} {cut}");
            }
        }
    }

    #[test]
    fn what_is_cut_off_within_an_escape_stays_as_it_is() {
        let mut reply = ReplyText::default();
        assert_eq!((reply.push(r"half \ud83d"), reply.rest()), ("half ".to_owned(), r"\ud83d".to_owned()));
    }
}
