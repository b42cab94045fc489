//! One piece of a streamed response.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Response;
use crate::assemble::CallDelta;
use crate::message::{FinishReason, Usage};

/// One piece of a streamed response; can carry several things at once.
///
/// ```
/// use graph_nodes::message::{FinishReason, Usage};
/// use graph_nodes::model::Chunk;
///
/// let last = Chunk::text("!").with_finish(FinishReason::Stop).with_usage(Usage::new(7, 2));
/// assert_eq!(last.text.as_deref(), Some("!"));
/// assert_eq!(last.usage, Some(Usage::new(7, 2)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Chunk {
    /// The next piece of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The next piece of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The next piece of the reasoning; consecutive strings are joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Value>,
    /// Fragments of tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallDelta>,
    /// Tokens so far; the latest report counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the response ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
}

impl Chunk {
    /// A chunk without anything in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A piece of a refusal.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self { refusal: Some(text.into()), ..Self::default() }
    }

    /// A piece of reasoning.
    pub fn reasoning(piece: impl Into<Value>) -> Self {
        Self { reasoning: Some(piece.into()), ..Self::default() }
    }

    /// A fragment of a tool call.
    pub fn call(delta: CallDelta) -> Self {
        Self { calls: vec![delta], ..Self::default() }
    }

    /// The end of a response.
    pub fn finish(reason: FinishReason) -> Self {
        Self::default().with_finish(reason)
    }

    /// A report of tokens.
    pub fn usage(usage: Usage) -> Self {
        Self::default().with_usage(usage)
    }

    /// Adds a fragment of a tool call.
    #[must_use]
    pub fn with_call(mut self, delta: CallDelta) -> Self {
        self.calls.push(delta);
        self
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
}

impl From<Response> for Chunk {
    /// The whole response in one chunk. Warnings are lost.
    fn from(response: Response) -> Self {
        let calls = response
            .calls
            .into_iter()
            .zip(0..)
            .map(|(call, index)| CallDelta::new().at(index).id(call.id).name(call.name).text(call.arguments.raw()));
        let mut reasoning = response.reasoning;
        Self {
            text: (!response.text.is_empty()).then_some(response.text),
            refusal: response.refusal,
            // A chunk carries one piece: several become one list.
            reasoning: if reasoning.len() > 1 { Some(reasoning.into()) } else { reasoning.pop() },
            calls: calls.collect(),
            usage: response.usage,
            finish: response.finish,
        }
    }
}
