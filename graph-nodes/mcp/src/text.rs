//! Texts that somebody else wrote: cut, hashed, without secrets.

use std::borrow::Cow;

/// At most so many bytes, cut between characters.
pub(crate) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

/// At most so many bytes, and what was left out.
pub(crate) fn clip(text: &str, most: usize) -> String {
    let kept = head(text, most);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    format!("{kept}.. ({} more bytes)", text.len() - kept.len())
}

/// A hash that is the same in every run and on every machine.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Values that no log, error or answer may show.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// What stands in the place of a secret.
    pub(crate) const HIDDEN: &str = "[secret]";

    /// A shorter value than this is found in too many texts that have nothing to do with it.
    const SHORTEST: usize = 6;

    /// Adds a value, the form that it has within a JSON text, and its lines: a server that prints a key of several lines is
    /// read line by line.
    pub(crate) fn add(&mut self, secret: &str) {
        let json = serde_json::Value::from(secret).to_string();
        let escaped = &json[1..json.len() - 1];
        let forms = [secret, escaped].into_iter().chain(secret.lines().map(str::trim));
        for form in forms.filter(|form| form.len() >= Self::SHORTEST) {
            if !self.0.iter().any(|known| known == form) {
                self.0.push(form.to_owned());
            }
        }
        // The longest first, so that one which holds another is hidden whole.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// How many bytes the longest has.
    pub(crate) fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }

    pub(crate) fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shown = |text: Cow<'a, str>, secret: &String| match text.contains(secret.as_str()) {
            true => Cow::Owned(text.replace(secret.as_str(), Self::HIDDEN)),
            false => text,
        };
        self.0.iter().fold(Cow::Borrowed(text), shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(head("grüße", 3), "gr");
        assert_eq!(clip("grüße", 4), "grü.. (3 more bytes)");
        assert_eq!(clip("grüße", 7), "grüße");
    }

    #[test]
    fn secrets_are_hidden_within_json_and_line_by_line() {
        let mut secrets = Secrets::default();
        secrets.add("first line\nsecond \"line\"");
        let json = serde_json::json!({"key": "first line\nsecond \"line\""}).to_string();
        assert_eq!(secrets.hide(&json), r#"{"key":"[secret]"}"#);
        assert_eq!(secrets.hide("it has second \"line\""), "it has [secret]");
    }

    #[test]
    fn secrets_are_hidden_the_longest_first() {
        let mut secrets = Secrets::default();
        ["token-1", "token-1-long", "no"].iter().for_each(|secret| secrets.add(secret));
        assert_eq!(secrets.hide("token-1-long, token-1, no"), "[secret], [secret], no");
    }
}
