//! What a search asks of single fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{equal, order};
use super::error::LongTermError;
use super::path::JsonPath;

/// What a field is asked for. There are no other questions: a misspelled one doesn't compile.
///
/// A comparison is typed: numbers are compared with numbers and texts with texts (by their bytes); a field of another
/// type, and one that isn't there, doesn't match and is no error.
///
/// ```
/// use graph_engine::longterm::Test;
/// use serde_json::json;
///
/// assert!(Test::Gt(json!(5)).passes(Some(&json!(6.5))));
/// assert!(!Test::Gt(json!(5)).passes(Some(&json!("6"))));
/// assert!(!Test::Gt(json!(5)).passes(None));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Test {
    /// It is there and is this value; 1 and 1.0 are the same.
    Eq(Value),
    /// The opposite of `Eq`: it is another value, or isn't there.
    Ne(Value),
    /// It is greater than this number or text.
    Gt(Value),
    /// It is this number or text, or greater.
    Gte(Value),
    /// It is less than this number or text.
    Lt(Value),
    /// It is this number or text, or less.
    Lte(Value),
    /// It is one of these values.
    In(Vec<Value>),
    /// It is there (`true`), also as `null`, or isn't (`false`).
    Exists(bool),
    /// It is a list with this value in it, or a text with this text in it.
    Contains(Value),
}

impl Test {
    /// Whether a field passes; `None` is one that isn't there.
    #[must_use]
    pub fn passes(&self, field: Option<&Value>) -> bool {
        let ordered = |with: &Value, wanted: fn(std::cmp::Ordering) -> bool| {
            field.and_then(|field| order(field, with)).is_some_and(wanted)
        };
        match self {
            Self::Eq(value) => field.is_some_and(|field| equal(field, value)),
            Self::Ne(value) => !field.is_some_and(|field| equal(field, value)),
            Self::Gt(value) => ordered(value, std::cmp::Ordering::is_gt),
            Self::Gte(value) => ordered(value, std::cmp::Ordering::is_ge),
            Self::Lt(value) => ordered(value, std::cmp::Ordering::is_lt),
            Self::Lte(value) => ordered(value, std::cmp::Ordering::is_le),
            Self::In(values) => field.is_some_and(|field| values.iter().any(|value| equal(field, value))),
            Self::Exists(wanted) => field.is_some() == *wanted,
            Self::Contains(value) => match (field, value) {
                (Some(Value::Array(list)), value) => list.iter().any(|item| equal(item, value)),
                (Some(Value::String(text)), Value::String(part)) => text.contains(part),
                _ => false,
            },
        }
    }
}

/// One field and what it is asked for. A search finds what passes all of its conditions.
///
/// ```
/// use graph_engine::longterm::Condition;
/// use serde_json::json;
///
/// let cheap = Condition::lte("/price/amount", 150);
/// assert!(cheap.passes(&json!({"price": {"amount": 120.5}})));
/// assert!(!cheap.passes(&json!({"price": "120"})));
/// assert!(Condition::contains("tags", "sea").passes(&json!({"tags": ["quiet", "sea"]})));
/// assert!(Condition::exists("price", false).passes(&json!({})));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Condition {
    /// Which field.
    pub path: JsonPath,
    /// What it is asked for.
    pub test: Test,
}

impl Condition {
    /// A condition of this test.
    pub fn new(path: impl Into<JsonPath>, test: Test) -> Self {
        Self { path: path.into(), test }
    }

    /// See [`Test::Eq`].
    pub fn eq(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Eq(value.into()))
    }

    /// See [`Test::Ne`].
    pub fn ne(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Ne(value.into()))
    }

    /// See [`Test::Gt`].
    pub fn gt(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Gt(value.into()))
    }

    /// See [`Test::Gte`].
    pub fn gte(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Gte(value.into()))
    }

    /// See [`Test::Lt`].
    pub fn lt(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Lt(value.into()))
    }

    /// See [`Test::Lte`].
    pub fn lte(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Lte(value.into()))
    }

    /// See [`Test::In`].
    pub fn is_in<V: Into<Value>>(path: impl Into<JsonPath>, values: impl IntoIterator<Item = V>) -> Self {
        Self::new(path, Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// See [`Test::Exists`].
    pub fn exists(path: impl Into<JsonPath>, wanted: bool) -> Self {
        Self::new(path, Test::Exists(wanted))
    }

    /// See [`Test::Contains`].
    pub fn contains(path: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        Self::new(path, Test::Contains(value.into()))
    }

    /// Whether an item's value passes.
    #[must_use]
    pub fn passes(&self, value: &Value) -> bool {
        self.test.passes(self.path.find(value))
    }

    /// What could never match is a mistake of the caller, and no empty result.
    pub(super) fn check(&self) -> Result<(), LongTermError> {
        match &self.test {
            Test::Gt(value) | Test::Gte(value) | Test::Lt(value) | Test::Lte(value)
                if !value.is_number() && !value.is_string() =>
            {
                let path = self.path.steps().join("/");
                Err(LongTermError::invalid(format!(
                    "`{path}` is compared with {value}; only numbers and texts have an order"
                )))
            }
            _ => Ok(()),
        }
    }
}
