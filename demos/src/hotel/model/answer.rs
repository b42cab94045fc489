//! What the model wants to say or do.

use serde::Serialize;
use serde_json::Value;

/// A text, or calls of tools.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Say(String),
    Call(Vec<(&'static str, Value)>),
}

impl Answer {
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    pub(super) fn call(tool: &'static str, arguments: impl Serialize) -> Self {
        // The arguments are structs of words and numbers, which are always JSON.
        Self::Call(vec![(tool, serde_json::to_value(arguments).unwrap_or_default())])
    }
}
