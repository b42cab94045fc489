//! Tool-call arguments in double form: the provider's text and what it means.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::strict_json;

/// The arguments of a tool call: the text exactly as the provider sent it, and
/// the JSON object it stands for.
///
/// Blank text stands for `{}`. Nothing is repaired: text that isn't one JSON
/// object with distinct keys is an [`ArgumentsError`], and the text stays
/// readable. Serialises as the text.
///
/// ```
/// use graph_nodes::message::{Arguments, ArgumentsError};
///
/// let good = Arguments::from_text(r#"{"city": "Bern"}"#);
/// assert_eq!(good.raw(), r#"{"city": "Bern"}"#);
/// assert_eq!(good.parsed().unwrap()["city"], "Bern");
///
/// let blank = Arguments::from_text("");
/// assert!(blank.parsed().unwrap().is_empty());
///
/// let wrong = Arguments::from_text("[1]");
/// assert_eq!(wrong.parsed(), Err(&ArgumentsError::NotAnObject { found: "an array" }));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    // Invariant: `parsed` is what `raw` parses to.
    raw: String,
    parsed: Result<Map<String, Value>, ArgumentsError>,
}

impl Arguments {
    /// Arguments from a provider's text.
    pub fn from_text(raw: impl Into<String>) -> Self {
        let raw = raw.into();
        let parsed = parse(&raw);
        Self { raw, parsed }
    }

    /// Arguments from a JSON value; the text is its compact form.
    pub fn from_value(value: &Value) -> Self {
        Self::from_text(value.to_string())
    }

    /// The text exactly as the provider sent it.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The object the text stands for.
    ///
    /// # Errors
    /// Says why the text is not one JSON object with distinct keys.
    pub fn parsed(&self) -> Result<&Map<String, Value>, &ArgumentsError> {
        self.parsed.as_ref()
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self { raw: String::new(), parsed: Ok(Map::new()) }
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.raw)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from_text)
    }
}

/// Why the text of tool-call arguments is not an input.
///
/// ```
/// use graph_nodes::message::Arguments;
///
/// let cut = Arguments::from_text(r#"{"q":"x"#);
/// assert_eq!(
///     cut.parsed().unwrap_err().to_string(),
///     "the arguments are not valid JSON (EOF while parsing a string at line 1 column 7); send one complete JSON object",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The text is not valid JSON, or there is more than one value in it.
    #[error("the arguments are not valid JSON ({message}); send one complete JSON object")]
    Invalid {
        /// The parser's message with line and column.
        message: String,
    },
    /// One object holds a key twice, so that the text has no single meaning.
    #[error("the arguments hold a {message}; send each key once")]
    DuplicateKey {
        /// The key and where it is.
        message: String,
    },
    /// The text is valid JSON, yet not an object.
    #[error("the arguments are {found}; send one JSON object")]
    NotAnObject {
        /// What was found, with its article.
        found: &'static str,
    },
}

fn parse(raw: &str) -> Result<Map<String, Value>, ArgumentsError> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    let found = match strict_json::parse(raw) {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(Value::Array(_)) => "an array",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Null) => "null",
        Err(error) => {
            let message = error.to_string();
            return Err(if message.starts_with(strict_json::DUPLICATE_KEY) {
                ArgumentsError::DuplicateKey { message }
            } else {
                ArgumentsError::Invalid { message }
            });
        }
    };
    Err(ArgumentsError::NotAnObject { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_objects_in_one_text_are_invalid() {
        let error = Arguments::from_text(r#"{"a":1}{"a":2}"#).parsed().unwrap_err().clone();
        assert_eq!(error, ArgumentsError::Invalid { message: "trailing characters at line 1 column 8".into() });
    }

    #[test]
    fn a_repeated_key_is_refused_and_the_text_kept() {
        let arguments = Arguments::from_text(r#"{"id":"h1","id":"h2"}"#);
        assert_eq!(arguments.raw(), r#"{"id":"h1","id":"h2"}"#);
        assert_eq!(
            arguments.parsed().unwrap_err().to_string(),
            "the arguments hold a duplicate key `id` at line 1 column 15; send each key once",
        );
    }

    #[test]
    fn serde_keeps_the_text_byte_for_byte() {
        let arguments = Arguments::from_text(" {\"a\" :1}\n");
        let json = serde_json::to_string(&arguments).unwrap();
        assert_eq!(json, r#"" {\"a\" :1}\n""#);
        assert_eq!(serde_json::from_str::<Arguments>(&json).unwrap(), arguments);
    }
}
