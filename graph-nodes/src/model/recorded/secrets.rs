//! What must not be written down, and how it is taken out of JSON and of streams.

use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// What finds literal secrets, in every form in which JSON may write them, and what finds patterns.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    patterns: Vec<Regex>,
}

impl Secrets {
    /// Adds a literal; an empty one hides nothing.
    ///
    /// # Errors
    /// What the regular expression that finds it has wrong; of a literal that can only be its size.
    pub(super) fn add(&mut self, secret: &str) -> Result<(), regex::Error> {
        if !secret.is_empty() {
            let forms: String = secret.chars().map(forms).collect();
            self.patterns.push(RegexBuilder::new(&forms).size_limit(1 << 28).build()?);
        }
        Ok(())
    }

    pub(super) fn add_pattern(&mut self, pattern: &str) -> Result<(), regex::Error> {
        self.patterns.push(Regex::new(pattern)?);
        Ok(())
    }

    /// Where the secrets are, in order and apart.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text).map(|found| found.range()));
        let mut found: Vec<Range<usize>> = found.filter(|range| !range.is_empty()).collect();
        // What was hidden stays as it is, also where a secret looks like the mark: a talk that was recorded with its
        // secrets and one that is replayed without them are the same then.
        let marks: Vec<Range<usize>> = text.match_indices(HIDDEN).map(|(at, mark)| at..at + mark.len()).collect();
        found.retain(|range| !marks.iter().any(|mark| mark.start <= range.start && range.end <= mark.end));
        if found.is_empty() {
            return found;
        }
        found.extend(marks);
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in found {
            match apart.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// The text without secrets.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut pieces = vec![text.to_owned()];
        self.hide_across(&mut pieces);
        pieces.pop().unwrap_or_default()
    }

    /// Takes secrets out of a text that comes in pieces: what stands for a secret is in the piece where it began.
    pub(super) fn hide_across(&self, pieces: &mut [String]) {
        let whole = pieces.concat();
        let found = self.find(&whole);
        if found.is_empty() {
            return;
        }
        let mut start = 0;
        for piece in pieces {
            let end = start + piece.len();
            let mut rest = String::new();
            let mut at = start;
            for range in found.iter().filter(|range| range.start < end && range.end > start) {
                rest.push_str(&whole[at..range.start.max(at)]);
                if range.start >= start {
                    rest.push_str(HIDDEN);
                }
                at = range.end.min(end);
            }
            rest.push_str(&whole[at..end]);
            *piece = rest;
            start = end;
        }
    }

    /// The value without secrets, in keys and in texts.
    pub(super) fn hide_in(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide_in(item)).collect(),
            Value::Object(map) => {
                let mut hidden = Map::new();
                for (key, item) in map {
                    let key = self.hide(&key);
                    // Two keys that are the same now stay two.
                    let numbered = (2..).map(|n| format!("{key}_{n}"));
                    let free = std::iter::once(key.clone()).chain(numbered).find(|key| !hidden.contains_key(key));
                    hidden.insert(free.unwrap_or(key), self.hide_in(item));
                }
                Value::Object(hidden)
            }
            // A secret may be all digits.
            Value::Number(number) if self.are_in(&number.to_string()) => Value::from(HIDDEN),
            other => other,
        }
    }
}

impl fmt::Debug for Secrets {
    /// How many there are, and nothing of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("patterns", &self.patterns.len()).finish()
    }
}

/// A regular expression for the forms in which writers of JSON put a character between quotes. Arguments are text about
/// JSON, and that may hold such a text in turn, so there may be any number of backslashes.
fn forms(character: char) -> String {
    let escaped: String =
        character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!(r"\\+u(?i:{unit:04x})")).collect();
    let plain = match character {
        '\n' => r"\n|\\+n".to_owned(),
        '\r' => r"\r|\\+r".to_owned(),
        '\t' => r"\t|\\+t".to_owned(),
        '"' | '/' => format!(r"\\*{character}"),
        '\\' => r"\\+".to_owned(),
        other => regex::escape(&other.to_string()),
    };
    format!("(?:{plain}|{escaped})")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(literals: &[&str], pattern: Option<&str>) -> Secrets {
        let mut secrets = Secrets::default();
        literals.iter().for_each(|literal| secrets.add(literal).unwrap());
        pattern.into_iter().for_each(|pattern| secrets.add_pattern(pattern).unwrap());
        secrets
    }

    #[test]
    fn the_longer_of_two_secrets_leaves_no_rest() {
        let secrets = secrets(&["key", "key-extended", ""], Some("x*"));
        assert_eq!(secrets.hide("a key-extended b key c"), "a [secret] b [secret] c");
        assert_eq!(secrets.hide("xx"), "[secret]");
        assert_eq!(secrets.hide("none"), "none");
    }

    #[test]
    fn a_secret_over_several_pieces_is_hidden_where_it_begins() {
        let secrets = secrets(&["sk-123456"], None);
        let mut pieces = ["a sk", "-123", "456 b sk-1", "23456"].map(str::to_owned);
        secrets.hide_across(&mut pieces);
        assert_eq!(pieces, ["a [secret]", "", " b [secret]", ""]);
    }

    #[test]
    fn a_long_secret_of_several_lines_is_found_in_one_piece_of_json() {
        let key = format!("-----BEGIN-----\n{}\n-----END-----", "aB+/9\\🔑".repeat(500));
        let secrets = secrets(&[&key], None);
        assert_eq!(secrets.hide(&json!([&key]).to_string()), r#"["[secret]"]"#);
        assert_eq!(secrets.hide(&format!("a {key} b")), "a [secret] b");
    }

    #[test]
    fn a_secret_is_found_in_the_forms_of_json() {
        let secrets = secrets(&["p\"ä/1"], None);
        for text in ["p\"ä/1", r#"{"k":"p\"ä/1"}"#, r#"{"k":"p\"\u00e4/1"}"#, r#"{"k":"p\"\u00E4\/1"}"#] {
            assert!(secrets.hide(text).contains(HIDDEN), "{text}");
        }
        let nested = json!({"outer": json!({"k": json!("p\"ä/1").to_string()}).to_string()}).to_string();
        assert!(secrets.hide(&nested).contains(HIDDEN), "{nested}");
        let nested = json!({"outer": json!({"k": "p\"ä/1"}).to_string()}).to_string();
        assert!(secrets.hide(&nested).contains(HIDDEN), "{nested}");
        assert_eq!(secrets.hide_in(json!({"p\"ä/1": ["p\"ä/1"]})), json!({"[secret]": ["[secret]"]}));
    }
}
