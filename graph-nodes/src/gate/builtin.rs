//! Checks that need no state.
//!
//! Empty and refused responses, structured output that is no JSON, and calls
//! of a response that was cut off are the gate's own business.

use std::collections::BTreeSet;

use super::call_check::call_of;
use super::{Code, Validator, Verdict};
use crate::model::Response;
use crate::schema::clip;

/// Rejects a response without text, even if it has calls. Code `empty`.
///
/// ```
/// use graph_nodes::gate::{NonEmptyText, Validator, Verdict};
/// use graph_nodes::model::Response;
///
/// assert_eq!(NonEmptyText.validate(&Response::from_text("hi"), &()), Verdict::Accept);
/// assert!(NonEmptyText.validate(&Response::from_text(" "), &()).code().is_some());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NonEmptyText;

impl<S: ?Sized> Validator<S> for NonEmptyText {
    fn name(&self) -> &str {
        "non_empty_text"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        if response.text.trim().is_empty() {
            Verdict::retry(Code::EMPTY, "the answer has no text; write one")
        } else {
            Verdict::Accept
        }
    }
}

/// Rejects a response that was cut off, even if it is text alone. Code `truncated`.
///
/// ```
/// use graph_nodes::gate::{CleanFinish, Code, Validator};
/// use graph_nodes::message::FinishReason;
/// use graph_nodes::model::Response;
///
/// let cut = Response::from_text("half an").with_finish(FinishReason::Length);
/// assert_eq!(CleanFinish.validate(&cut, &()).code(), Some(&Code::TRUNCATED));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CleanFinish;

impl<S: ?Sized> Validator<S> for CleanFinish {
    fn name(&self) -> &str {
        "clean_finish"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        match response.cut_off() {
            Some(_) => Verdict::retry(Code::TRUNCATED, "the answer was cut off; answer shorter"),
            None => Verdict::Accept,
        }
    }
}

/// Rejects a response with a call whose arguments can't be read or that has no
/// name. Code `arguments`. Without it such a call is answered with an error,
/// while its siblings run.
///
/// ```
/// use graph_nodes::gate::{ArgumentsParse, Validator, Verdict};
/// use graph_nodes::message::ToolCall;
/// use graph_nodes::model::Response;
///
/// let response = Response::from_calls([ToolCall::from_text("c1", "f", "[]")]);
/// assert_eq!(
///     ArgumentsParse.validate(&response, &()),
///     Verdict::retry("arguments", "call `c1` of `f`: the arguments are an array; send one JSON object"),
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ArgumentsParse;

impl<S: ?Sized> Validator<S> for ArgumentsParse {
    fn name(&self) -> &str {
        "arguments_parse"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        let faults =
            response.calls.iter().filter_map(|call| call.fault().map(|fault| format!("{}: {fault}", call_of(call))));
        reject_if_any(Code::ARGUMENTS, faults.collect())
    }
}

/// Rejects a response that calls a tool outside a list. Code `unknown_tool`.
///
/// ```
/// use graph_nodes::gate::{AllowedTools, Validator, Verdict};
/// use graph_nodes::message::ToolCall;
/// use graph_nodes::model::Response;
///
/// let response = Response::from_calls([ToolCall::from_text("c1", "fly", "{}")]);
/// assert_eq!(
///     AllowedTools::new(["walk", "run"]).validate(&response, &()),
///     Verdict::retry("unknown_tool", "there is no tool `fly`; the tools are `run`, `walk`"),
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct AllowedTools {
    names: BTreeSet<String>,
}

impl AllowedTools {
    /// Allows these tools.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }
}

impl<S: ?Sized> Validator<S> for AllowedTools {
    fn name(&self) -> &str {
        "allowed_tools"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        let allowed: Vec<_> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let allowed = if allowed.is_empty() {
            "no tools are offered".to_owned()
        } else {
            format!("the tools are {}", allowed.join(", "))
        };
        let unknown: BTreeSet<&str> =
            response.calls.iter().map(|call| call.name.as_str()).filter(|name| !self.names.contains(*name)).collect();
        let faults = unknown.into_iter().map(|name| format!("there is no tool `{}`; {allowed}", clip(name, 80)));
        reject_if_any(Code::UNKNOWN_TOOL, faults.collect())
    }
}

pub(super) fn reject_if_any(code: Code, faults: Vec<String>) -> Verdict {
    if faults.is_empty() { Verdict::Accept } else { Verdict::retry(code, faults.join("\n")) }
}
