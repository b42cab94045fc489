//! One answer of a scripted model.

use std::time::Duration;

use super::{Chunk, ModelError};
use crate::assemble::CallDelta;
use crate::message::{FinishReason, ToolCall, Usage};

/// One answer of a scripted model, given up front.
///
/// Ends with the finish reason that fits (`tool_calls` with calls, else
/// `stop`) and reports 100 input and 10 output tokens unless told otherwise.
///
/// ```
/// use graph_nodes::model::Turn;
///
/// let chunks = Turn::text("grüße").cut_at([3]).without_usage().into_chunks();
/// // A cut inside a character moves to its start.
/// assert_eq!(chunks[0].text.as_deref(), Some("gr"));
/// assert_eq!(chunks[1].text.as_deref(), Some("üße"));
/// assert_eq!(chunks.len(), 3);
/// ```
#[derive(Debug)]
pub struct Turn {
    body: Body,
    cuts: Vec<usize>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    pub(super) delay: Duration,
    pub(super) chunk_delay: Duration,
    /// The error and how many chunks come before it; none: before the stream.
    pub(super) error: Option<(Option<usize>, ModelError)>,
}

#[derive(Debug)]
enum Body {
    Parts { text: String, refusal: String, calls: Vec<ToolCall> },
    Chunks(Vec<Chunk>),
}

impl Turn {
    fn new(body: Body, finish: FinishReason) -> Self {
        Self {
            body,
            cuts: Vec::new(),
            usage: Some(Usage::new(100, 10)),
            finish: Some(finish),
            delay: Duration::ZERO,
            chunk_delay: Duration::ZERO,
            error: None,
        }
    }

    /// Text. An empty one makes an empty response.
    pub fn text(text: impl Into<String>) -> Self {
        let body = Body::Parts { text: text.into(), refusal: String::new(), calls: Vec::new() };
        Self::new(body, FinishReason::Stop)
    }

    /// Tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let calls = calls.into_iter().collect();
        let body = Body::Parts { text: String::new(), refusal: String::new(), calls };
        Self::new(body, FinishReason::ToolCalls)
    }

    /// A refusal.
    pub fn refusal(text: impl Into<String>) -> Self {
        let body = Body::Parts { text: String::new(), refusal: text.into(), calls: Vec::new() };
        Self::new(body, FinishReason::Stop)
    }

    /// Exactly these chunks: nothing is added and nothing is cut.
    pub fn chunks(chunks: impl IntoIterator<Item = Chunk>) -> Self {
        Self::new(Body::Chunks(chunks.into_iter().collect()), FinishReason::Stop)
    }

    /// An error before the stream begins.
    pub fn error(error: ModelError) -> Self {
        let mut turn = Self::chunks([]);
        turn.error = Some((None, error));
        turn
    }

    /// Adds a tool call to text; the turn ends with `tool_calls`.
    #[must_use]
    pub fn with_call(mut self, call: ToolCall) -> Self {
        if let Body::Parts { calls, .. } = &mut self.body {
            calls.push(call);
            self.finish = Some(FinishReason::ToolCalls);
        }
        self
    }

    /// Cuts the text, and the arguments of each call, at these byte positions;
    /// a position inside a character moves to its start.
    #[must_use]
    pub fn cut_at(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        self.cuts.extend(positions);
        self.cuts.sort_unstable();
        self
    }

    /// Waits before the answer begins (on tokio's clock).
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits before each chunk (on tokio's clock).
    #[must_use]
    pub fn with_chunk_delay(mut self, delay: Duration) -> Self {
        self.chunk_delay = delay;
        self
    }

    /// Reports these tokens.
    #[must_use]
    pub fn with_usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(Usage::new(input, output));
        self
    }

    /// Reports no tokens.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Ends with this reason.
    #[must_use]
    pub fn with_finish(mut self, reason: FinishReason) -> Self {
        self.finish = Some(reason);
        self
    }

    /// Ends without a reason, as a stream that was cut off.
    #[must_use]
    pub fn without_finish(mut self) -> Self {
        self.finish = None;
        self
    }

    /// Fails after `chunks` chunks of the stream.
    #[must_use]
    pub fn broken_after(mut self, chunks: usize, error: ModelError) -> Self {
        self.error = Some((Some(chunks), error));
        self
    }

    /// The chunks of the answer, without delays and errors.
    pub fn into_chunks(self) -> Vec<Chunk> {
        let (text, refusal, calls) = match self.body {
            Body::Chunks(chunks) => return chunks,
            Body::Parts { text, refusal, calls } => (text, refusal, calls),
        };
        let mut chunks: Vec<Chunk> = cut(&text, &self.cuts).map(Chunk::text).collect();
        chunks.extend(cut(&refusal, &self.cuts).map(Chunk::refusal));
        for (call, index) in calls.into_iter().zip(0..) {
            let start = CallDelta::new().at(index).id(call.id).name(call.name);
            let mut pieces = cut(call.arguments.raw(), &self.cuts);
            chunks.push(Chunk::call(start.text(pieces.next().unwrap_or_default())));
            chunks.extend(pieces.map(|piece| Chunk::call(CallDelta::new().at(index).text(piece))));
        }
        chunks.extend(self.finish.map(Chunk::finish));
        chunks.extend(self.usage.map(Chunk::usage));
        chunks
    }
}

/// The pieces of `text`; none if it is empty.
fn cut<'a>(text: &'a str, cuts: &'a [usize]) -> impl Iterator<Item = &'a str> {
    let ends = cuts.iter().map(|at| text.floor_char_boundary(*at)).chain([text.len()]);
    let pieces = ends.scan(0, |start, end| {
        let piece = &text[*start..end];
        *start = end;
        Some(piece)
    });
    pieces.filter(|piece| !piece.is_empty())
}
