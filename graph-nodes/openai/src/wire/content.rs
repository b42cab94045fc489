//! The content of a message: a text, a list of parts, or nothing.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What is said, and what is said instead of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Written by hand, because nearly every event has a text here, and an untagged enum would copy it first.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content { text: Some(text.to_owned()), refusal: None })
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content { text: Some(text), refusal: None })
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut content = Content::default();
        while let Some(part) = parts.next_element::<Value>()? {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                content.text.get_or_insert_default().push_str(text);
            }
            if let Some(refusal) = part.get("refusal").and_then(Value::as_str) {
                content.refusal.get_or_insert_default().push_str(refusal);
            }
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Option<String>, Option<String>) {
        let content: Content = serde_json::from_str(json).unwrap();
        (content.text, content.refusal)
    }

    #[test]
    fn texts_of_parts_are_joined_and_other_parts_skipped() {
        let parts = r#"[{"type":"text","text":"a"},{"type":"thinking","thinking":[]},{"type":"text","text":"b"}]"#;
        assert_eq!(read(parts), (Some("ab".into()), None));
        assert_eq!(read(r#"[{"type":"refusal","refusal":"no"}]"#), (None, Some("no".into())));
    }

    #[test]
    fn what_is_no_content_is_none() {
        for json in ["null", "7", "-7", "0.5", "true", r#"{"text":"a"}"#] {
            assert_eq!(read(json), (None, None), "{json}");
        }
    }
}
