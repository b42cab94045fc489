//! Calls without tool calls: the model answers with one JSON object that is a call or a text.

mod answer;
mod example;
mod format;
mod place;
mod prompt;
mod reply;

pub(crate) use answer::CallReader;
pub(crate) use example::{call_json, reply_json, result_json};
pub(crate) use format::CallSchema;
pub(crate) use prompt::instructions;

use serde_json::Value;

/// What an answer may be besides a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reply<'a> {
    /// Nothing: the model has to call.
    None,
    Text,
    /// A JSON value of this schema.
    Value(&'a Value),
}
