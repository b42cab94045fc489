//! One fragment of a tool call, as a provider sent it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One fragment of a tool call.
///
/// ```
/// use graph_nodes::assemble::{ArgumentsDelta, CallDelta};
///
/// let delta = CallDelta::new().at(0).id("call_1").name("weather").text("{\"ci");
/// assert_eq!(delta.arguments, ArgumentsDelta::Text("{\"ci".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallDelta {
    /// The call's number in the response, where sent.
    pub index: Option<u32>,
    /// The call's id; blank is taken as absent.
    pub id: Option<String>,
    /// The tool's name or a part of it; blank is taken as absent.
    pub name: Option<String>,
    /// A piece of the arguments.
    pub arguments: ArgumentsDelta,
}

/// The arguments part of a fragment.
///
/// ```
/// use graph_nodes::assemble::ArgumentsDelta;
/// use serde_json::json;
///
/// assert_eq!(ArgumentsDelta::from(Some(json!(null))), ArgumentsDelta::Null);
/// assert_eq!(ArgumentsDelta::from(Some(json!("{"))), ArgumentsDelta::Text("{".into()));
/// assert_eq!(ArgumentsDelta::from(Some(json!({}))), ArgumentsDelta::Value(json!({})));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentsDelta {
    /// The field was left out.
    #[default]
    Absent,
    /// The field was `null`.
    Null,
    /// A piece of the text.
    Text(String),
    /// The arguments as JSON instead of text about JSON; the whole of them.
    Value(Value),
}

impl From<Option<Value>> for ArgumentsDelta {
    fn from(field: Option<Value>) -> Self {
        match field {
            None => Self::Absent,
            Some(Value::Null) => Self::Null,
            Some(Value::String(text)) => Self::Text(text),
            Some(value) => Self::Value(value),
        }
    }
}

impl CallDelta {
    /// A fragment without any field.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the index.
    #[must_use]
    pub fn at(mut self, index: u32) -> Self {
        self.index = Some(index);
        self
    }

    /// Sets the id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets a piece of the arguments' text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.arguments = ArgumentsDelta::Text(text.into());
        self
    }

    /// Sets the arguments as one JSON value.
    #[must_use]
    pub fn value(mut self, value: Value) -> Self {
        self.arguments = ArgumentsDelta::Value(value);
        self
    }
}
