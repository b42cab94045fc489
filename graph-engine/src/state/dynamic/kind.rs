//! The optional type of a field: one of JSON's own.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a field of a [`Schema`](crate::Schema) may hold. In files the words of JSON Schema stand for it.
///
/// ```
/// use graph_engine::JsonType;
/// use serde_json::json;
///
/// assert!(JsonType::Integer.admits(&json!(3)));
/// assert!(!JsonType::Integer.admits(&json!(3.5)));
/// assert!(JsonType::Any.admits(&json!(null)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JsonType {
    /// Every value.
    #[default]
    Any,
    /// A text.
    #[serde(rename = "string")]
    Text,
    /// A number without a fraction that fits 64 bits.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    #[serde(rename = "array")]
    List,
    /// Members by name.
    Object,
}

impl JsonType {
    /// Every type.
    pub const ALL: &'static [Self] =
        &[Self::Any, Self::Text, Self::Integer, Self::Number, Self::Boolean, Self::List, Self::Object];

    /// The word for it in a file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List => "array",
            Self::Object => "object",
        }
    }

    /// Whether the value is of this type. `null` is of no type but `any`.
    #[must_use]
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Text => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    /// What a value is, for messages: never the value itself, which may be a secret.
    pub(crate) fn word_for(value: &Value) -> &'static str {
        match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) if Self::Integer.admits(value) => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_serde() {
        for kind in JsonType::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), Value::from(kind.word()));
        }
    }
}
