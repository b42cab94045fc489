//! One event of a stream, and the one body of an answer that isn't streamed.

use graph_nodes::assemble::{ArgumentsDelta, CallDelta};
use graph_nodes::message::FinishReason;
use graph_nodes::model::Chunk;
use serde::Deserialize;
use serde_json::Value;

use super::Failure;
use super::content::Content;
use super::failure::says_something;
use super::lenient::{lenient, text};
use super::usage::WireUsage;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    choices: Option<Vec<Choice>>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    #[serde(deserialize_with = "lenient")]
    index: Option<u32>,
    delta: Option<Delta>,
    /// In place of the delta, in an answer that isn't streamed.
    message: Option<Delta>,
    #[serde(deserialize_with = "text")]
    finish_reason: Option<String>,
    error: Option<Value>,
    /// Some servers report here.
    #[serde(deserialize_with = "lenient")]
    usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<Content>,
    #[serde(deserialize_with = "text")]
    refusal: Option<String>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    tool_calls: Option<Vec<WireCall>>,
    /// The older form; some servers mirror the first call here.
    function_call: Option<WireFunction>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCall {
    #[serde(deserialize_with = "lenient")]
    index: Option<u32>,
    #[serde(deserialize_with = "text")]
    id: Option<String>,
    function: Option<WireFunction>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireFunction {
    #[serde(deserialize_with = "text")]
    name: Option<String>,
    arguments: Option<Value>,
}

/// In which form an answer gives its calls. The one that comes first counts for the whole answer, else a server that
/// writes both would make two calls of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallStyle {
    #[default]
    Unknown,
    ToolCalls,
    FunctionCall,
}

impl Event {
    /// Reads one JSON text. A repeated key is no mistake here: the last one counts.
    pub(crate) fn read(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|_| serde_json::from_value(serde_json::from_str(json)?))
    }

    /// What went wrong, if this is not a part of an answer but an error.
    pub(crate) fn failure(&self, json: &str) -> Option<Failure> {
        let told = |error: &Option<Value>| error.as_ref().filter(|error| says_something(error)).cloned();
        let choices = self.choices.as_deref().unwrap_or_default();
        if let Some(error) = told(&self.error).or_else(|| choices.iter().find_map(|choice| told(&choice.error))) {
            return Some(Failure::of_error(&error));
        }
        if choices.iter().any(|choice| choice.finish_reason.as_deref() == Some("error")) {
            return Some(Failure::of_error(&Value::from("the answer ended with `finish_reason: error`")));
        }
        if self.choices.is_some() || self.usage.is_some() {
            return None;
        }
        Failure::of_body(&serde_json::from_str(json).ok()?)
    }

    /// Whether there is an answer at all in a body that isn't streamed.
    pub(crate) fn has_answer(&self) -> bool {
        self.choices.as_deref().unwrap_or_default().iter().any(Choice::is_ours)
    }

    /// What it adds to the response; nothing if it adds nothing.
    pub(crate) fn chunk(self, style: &mut CallStyle) -> Option<Chunk> {
        let mut chunk = Chunk::new();
        chunk.usage = self.usage.and_then(|usage| usage.usage());
        for choice in self.choices.unwrap_or_default().into_iter().filter(Choice::is_ours) {
            choice.add_to(&mut chunk, style);
        }
        (chunk != Chunk::new()).then_some(chunk)
    }
}

impl Choice {
    /// One answer is asked for; what a server adds to it is nobody's.
    fn is_ours(&self) -> bool {
        self.index.unwrap_or(0) == 0
    }

    fn add_to(self, chunk: &mut Chunk, style: &mut CallStyle) {
        if let Some(delta) = self.delta.or(self.message.map(Delta::numbered)) {
            delta.add_to(chunk, style);
        }
        if let Some(usage) = self.usage.and_then(|usage| usage.usage()) {
            chunk.usage.get_or_insert(usage);
        }
        // An empty word is none: some servers send it while they still write.
        if let Some(reason) = self.finish_reason.filter(|reason| !reason.trim().is_empty()) {
            chunk.finish = Some(FinishReason::from(reason));
        }
    }
}

impl Delta {
    /// In an answer that isn't streamed no call has an index: their order is all there is to say.
    fn numbered(mut self) -> Self {
        for (call, n) in self.tool_calls.iter_mut().flatten().zip(0..) {
            call.index.get_or_insert(n);
        }
        self
    }

    fn add_to(self, chunk: &mut Chunk, style: &mut CallStyle) {
        let said = |text: &String| !text.is_empty();
        let content = self.content.unwrap_or_default();
        chunk.text = content.text.filter(said);
        chunk.refusal = self.refusal.filter(said).or(content.refusal.filter(said));
        let thought = |value: &Value| !value.is_null() && value.as_str() != Some("");
        // Servers that write both say the same twice.
        chunk.reasoning = self.reasoning_content.filter(thought).or(self.reasoning.filter(thought));
        let calls = self.tool_calls.unwrap_or_default();
        if !calls.is_empty() && *style != CallStyle::FunctionCall {
            *style = CallStyle::ToolCalls;
            chunk.calls = calls.into_iter().map(CallDelta::from).collect();
        } else if let Some(function) = self.function_call
            && *style != CallStyle::ToolCalls
        {
            *style = CallStyle::FunctionCall;
            chunk.calls = vec![WireCall { index: Some(0), id: None, function: Some(function) }.into()];
        }
    }
}

impl From<WireCall> for CallDelta {
    fn from(call: WireCall) -> Self {
        let function = call.function.unwrap_or_default();
        Self {
            index: call.index,
            id: call.id,
            name: function.name,
            arguments: ArgumentsDelta::from(function.arguments),
        }
    }
}
