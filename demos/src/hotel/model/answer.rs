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
        Self::Call(vec![Self::one(tool, arguments)])
    }

    /// One of several calls.
    pub(super) fn one(tool: &'static str, arguments: impl Serialize) -> (&'static str, Value) {
        // The arguments are structs of words and numbers, which are always JSON.
        (tool, serde_json::to_value(arguments).unwrap_or_default())
    }
}
