//! What must not be written down, and how it is taken out of JSON and of streams.

use std::fmt;
use std::ops::Range;

use regex::Regex;
use serde_json::{Map, Value};

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// Literal secrets, in every form in which JSON may write them, and patterns.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    /// The longest first, so that no rest of a longer one stays.
    literals: Vec<String>,
    patterns: Vec<Regex>,
}

impl Secrets {
    /// Adds a literal; an empty one hides nothing.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let mut forms = vec![secret.to_owned()];
        // Arguments are text about JSON, and that may hold such a text in turn.
        for level in 0..2 {
            let inner = forms.clone();
            for form in inner {
                forms.extend(escaped(&form).into_iter().filter(|_| level < 2));
            }
        }
        self.literals.extend(forms);
        self.literals.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.literals.dedup();
    }

    pub(super) fn add_pattern(&mut self, pattern: Regex) {
        self.patterns.push(pattern);
    }

    /// Where the secrets are, in order and apart.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let literals = self
            .literals
            .iter()
            .flat_map(|literal| text.match_indices(literal.as_str()).map(|(at, found)| at..at + found.len()));
        let patterns = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text).map(|found| found.range()));
        let mut found: Vec<Range<usize>> = literals.chain(patterns).filter(|range| !range.is_empty()).collect();
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
                let hidden: Map<String, Value> =
                    map.into_iter().map(|(key, item)| (self.hide(&key), self.hide_in(item))).collect();
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
        f.debug_struct("Secrets")
            .field("literals", &self.literals.len())
            .field("patterns", &self.patterns.len())
            .finish()
    }
}

/// The forms in which writers of JSON put a text between quotes.
fn escaped(text: &str) -> Vec<String> {
    let quoted = Value::from(text).to_string();
    let plain = quoted[1..quoted.len() - 1].to_owned();
    let mut ascii = String::new();
    for unit in plain.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            _ => ascii.push_str(&format!("\\u{unit:04x}")),
        }
    }
    let upper = plain.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04X}"),
    });
    let forms = [plain.replace('/', "\\/"), ascii.replace('/', "\\/"), upper.collect(), ascii, plain];
    forms.into_iter().filter(|form| form != text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(literals: &[&str], pattern: Option<&str>) -> Secrets {
        let mut secrets = Secrets::default();
        literals.iter().for_each(|literal| secrets.add(literal));
        pattern.into_iter().for_each(|pattern| secrets.add_pattern(Regex::new(pattern).unwrap()));
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
    fn a_secret_is_found_in_the_forms_of_json() {
        let secrets = secrets(&["p\"ä/1"], None);
        for text in ["p\"ä/1", r#"{"k":"p\"ä/1"}"#, r#"{"k":"p\"\u00e4/1"}"#, r#"{"k":"p\"\u00E4\/1"}"#] {
            assert!(secrets.hide(text).contains(HIDDEN), "{text}");
        }
        let nested = json!({"outer": json!({"k": "p\"ä/1"}).to_string()}).to_string();
        assert!(secrets.hide(&nested).contains(HIDDEN), "{nested}");
        assert_eq!(secrets.hide_in(json!({"p\"ä/1": ["p\"ä/1"]})), json!({"[secret]": ["[secret]"]}));
    }
}
