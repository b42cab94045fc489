//! The whole response of a model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::assemble::AssemblyWarning;
use crate::message::{Content, FinishReason, Message, ToolCall, Usage};

/// The whole response of a model.
///
/// ```
/// use graph_nodes::message::{FinishReason, ToolCall};
/// use graph_nodes::model::{CutOff, Response};
///
/// let response = Response::from_calls([ToolCall::from_text("c1", "f", "{}")]);
/// assert_eq!(response.executable_calls().unwrap().len(), 1);
///
/// let cut = response.with_finish(FinishReason::Length);
/// assert_eq!(cut.executable_calls(), Err(CutOff::Length));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Response {
    /// The text; of structured output too.
    pub text: String,
    /// What the model said instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The model's reasoning, opaque.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Value>,
    /// The calls, each possibly faulty; ids are present and distinct.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Whether the request asked for structured output, so that `text` is JSON.
    pub structured: bool,
    /// Why the response ended; absent when the stream ended without saying so.
    pub finish: Option<FinishReason>,
    /// Tokens, where reported.
    pub usage: Option<Usage>,
    /// What was odd about the stream.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<AssemblyWarning>,
}

/// Why a response is not the whole of what the model would have said.
///
/// ```
/// use graph_nodes::model::{CutOff, Response};
///
/// let broken = Response::default();
/// assert_eq!(broken.cut_off(), Some(CutOff::NoFinishReason));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutOff {
    /// The token limit was reached.
    #[error("the response was cut off at the token limit, so its calls are not executed; answer shorter")]
    Length,
    /// A content filter of the provider stopped it.
    #[error("the response was cut off by a content filter, so its calls are not executed; answer in another way")]
    ContentFilter,
    /// The stream ended without a finish reason.
    #[error("the stream ended without a finish reason, so its calls are not executed; answer again")]
    NoFinishReason,
}

impl Response {
    /// A complete response of text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), finish: Some(FinishReason::Stop), ..Self::default() }
    }

    /// A complete response of calls.
    pub fn from_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let calls = calls.into_iter().collect();
        Self { calls, finish: Some(FinishReason::ToolCalls), ..Self::default() }
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn with_finish(mut self, reason: FinishReason) -> Self {
        self.finish = Some(reason);
        self
    }

    /// Sets the usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Whether there is neither text nor a call nor a refusal.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.text.trim().is_empty() && self.refusal.is_none()
    }

    /// Why the response is not whole, if it isn't.
    pub fn cut_off(&self) -> Option<CutOff> {
        match self.finish {
            None => Some(CutOff::NoFinishReason),
            Some(FinishReason::Length) => Some(CutOff::Length),
            Some(FinishReason::ContentFilter) => Some(CutOff::ContentFilter),
            Some(_) => None,
        }
    }

    /// The calls that may be dispatched. Faulty ones are among them: they are
    /// answered with their [`fault`](ToolCall::fault).
    ///
    /// # Errors
    /// Says why the response was cut off: its last call may be half of what the
    /// model meant, so none is executed.
    pub fn executable_calls(&self) -> Result<&[ToolCall], CutOff> {
        match self.cut_off() {
            Some(cut) => Err(cut),
            None => Ok(&self.calls),
        }
    }

    /// The text of structured output, if the request asked for it.
    pub fn structured_output(&self) -> Option<&str> {
        self.structured.then_some(self.text.as_str())
    }

    /// The assistant message for the history: reasoning, text, refusal, calls, usage.
    pub fn to_message(&self) -> Message {
        let reasoning = self.reasoning.iter().cloned().map(|reasoning| Content::Reasoning { reasoning });
        let text = (!self.text.is_empty()).then(|| Content::text(&self.text));
        let refusal = self.refusal.iter().map(Content::refusal);
        let mut message = Message::assistant("").with_calls(self.calls.iter().cloned());
        message.content = reasoning.chain(text).chain(refusal).collect();
        match self.usage {
            Some(usage) => message.with_usage(usage),
            None => message,
        }
    }

    /// Gives a new id to every call whose id is taken, so that no id occurs
    /// twice in a history even with a provider that numbers its calls anew in
    /// every response. Returns the pairs of old and new id.
    ///
    /// ```
    /// use graph_nodes::message::ToolCall;
    /// use graph_nodes::model::Response;
    ///
    /// let mut response = Response::from_calls([ToolCall::from_text("call_0", "f", "{}")]);
    /// let renamed = response.rename_taken_ids(|id| id == "call_0" || id == "call_0_2");
    /// assert_eq!(renamed, [("call_0".to_owned(), "call_0_3".to_owned())]);
    /// ```
    pub fn rename_taken_ids(&mut self, is_taken: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let own: BTreeSet<String> = self.calls.iter().map(|call| call.id.clone()).collect();
        let mut used = BTreeSet::new();
        let mut renamed = Vec::new();
        for call in &mut self.calls {
            if is_taken(&call.id) || used.contains(&call.id) {
                let free = |id: &String| !is_taken(id) && !own.contains(id) && !used.contains(id);
                let candidates = (2_u64..).map(|n| format!("{}_{n}", call.id));
                // An endless range; only finitely many ids are taken.
                if let Some(id) = candidates.into_iter().find(free) {
                    renamed.push((std::mem::replace(&mut call.id, id.clone()), id));
                }
            }
            used.insert(call.id.clone());
        }
        renamed
    }
}
