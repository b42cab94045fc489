//! Which part of a value is meant.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place in a JSON value: the keys and indices that lead there.
///
/// A text that begins with `/` is a JSON pointer; any other one is a single key, and the empty one is the whole value. A
/// list of keys is taken as it is.
///
/// ```
/// use graph_engine::longterm::JsonPath;
/// use serde_json::json;
///
/// let hotel = json!({"price": {"amount": 120}, "tags": ["quiet", "sea"], "/odd": true});
/// assert_eq!(JsonPath::from("/price/amount").find(&hotel), Some(&json!(120)));
/// assert_eq!(JsonPath::from("/tags/1").find(&hotel), Some(&json!("sea")));
/// assert_eq!(JsonPath::from("tags").find(&hotel), Some(&json!(["quiet", "sea"])));
/// assert_eq!(JsonPath::from(["/odd"]).find(&hotel), Some(&json!(true)));
/// assert_eq!(JsonPath::from("/price/currency").find(&hotel), None);
/// assert_eq!(JsonPath::from("").find(&hotel), Some(&hotel));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonPath(Vec<String>);

impl JsonPath {
    /// The keys and indices.
    #[must_use]
    pub fn steps(&self) -> &[String] {
        &self.0
    }

    /// What stands there, if something does. `null` is something.
    #[must_use]
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, step| match value {
            Value::Object(map) => map.get(step),
            Value::Array(list) => list.get(index(step)?),
            _ => None,
        })
    }
}

/// An index as JSON pointers write it: without a sign and without zeros in front.
fn index(step: &str) -> Option<usize> {
    let plain = step == "0" || (step.bytes().all(|b| b.is_ascii_digit()) && !step.starts_with('0') && step.len() < 10);
    if plain { step.parse().ok() } else { None }
}

impl From<&str> for JsonPath {
    fn from(text: &str) -> Self {
        match text.strip_prefix('/') {
            Some(pointer) => Self(pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect()),
            None if text.is_empty() => Self(Vec::new()),
            None => Self(vec![text.to_owned()]),
        }
    }
}

impl From<Vec<String>> for JsonPath {
    fn from(steps: Vec<String>) -> Self {
        Self(steps)
    }
}

impl<const N: usize> From<[&str; N]> for JsonPath {
    fn from(steps: [&str; N]) -> Self {
        Self(steps.map(str::to_owned).into())
    }
}
