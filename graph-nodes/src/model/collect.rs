//! Chunks of a stream become one response.

use futures_util::StreamExt;
use serde_json::Value;

use super::{Chunk, ChunkStream, ModelError, Request, Response};
use crate::assemble::{Assembler, Assembly, AssemblyError, AssemblyEvent, AssemblyPolicy};
use crate::message::FinishReason;

/// Joins the chunks of one stream.
///
/// A later report of usage replaces an earlier one. The first finish reason
/// counts, but one that says "cut off" is never replaced by a better one.
///
/// ```
/// use graph_nodes::message::FinishReason;
/// use graph_nodes::model::{Chunk, Collector};
///
/// let mut collector = Collector::new();
/// collector.push(Chunk::text("Hel"));
/// collector.push(Chunk::text("lo").with_finish(FinishReason::Stop));
/// assert_eq!(collector.finish().unwrap().text, "Hello");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Collector {
    assembler: Assembler,
    response: Response,
    received: bool,
}

impl Collector {
    /// A lenient collector that knows no tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// A lenient collector that knows the request's tools, and whether the
    /// response is structured output.
    pub fn for_request(request: &Request) -> Self {
        let names = request.tools.iter().map(|tool| tool.name.clone());
        let response = Response { structured: request.response_schema.is_some(), ..Response::default() };
        Self { assembler: Assembler::new().with_known_tools(names), response, received: false }
    }

    /// Sets the policy for tool calls without id or name.
    #[must_use]
    pub fn with_policy(mut self, policy: AssemblyPolicy) -> Self {
        self.assembler = self.assembler.with_policy(policy);
        self
    }

    /// Takes the next chunk; returns what it lets one show of tool calls.
    pub fn push(&mut self, chunk: Chunk) -> Vec<AssemblyEvent> {
        self.received = true;
        let response = &mut self.response;
        if let Some(text) = chunk.text {
            response.text.push_str(&text);
        }
        if let Some(text) = chunk.refusal.filter(|text| !text.is_empty()) {
            response.refusal.get_or_insert_default().push_str(&text);
        }
        match (chunk.reasoning, response.reasoning.last_mut()) {
            (None, _) => {}
            (Some(Value::String(more)), Some(Value::String(text))) => text.push_str(&more),
            (Some(piece), _) => response.reasoning.push(piece),
        }
        if let Some(reason) = chunk.finish
            && (response.finish.is_none() || (reason.is_cut() && !is_cut(response.finish.as_ref())))
        {
            response.finish = Some(reason);
        }
        response.usage = chunk.usage.or(response.usage);
        chunk.calls.into_iter().flat_map(|delta| self.assembler.push(delta)).collect()
    }

    /// Whether anything arrived.
    pub fn has_received(&self) -> bool {
        self.received
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// Only under [`AssemblyPolicy::Strict`]: the first call without id or name.
    pub fn finish(self) -> Result<Response, AssemblyError> {
        self.finish_with_events().map(|(response, _)| response)
    }

    /// Ends the stream; also returns what it lets one show at the very end.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_with_events(self) -> Result<(Response, Vec<AssemblyEvent>), AssemblyError> {
        let Assembly { calls, warnings, events } = self.assembler.finish()?;
        Ok((Response { calls, warnings, ..self.response }, events))
    }

    /// What had arrived when the stream broke off; never a complete response.
    pub(crate) fn into_partial(self) -> Response {
        let text_only = Response { finish: None, ..self.response };
        match self.assembler.with_policy(AssemblyPolicy::Lenient).finish() {
            Ok(assembly) => Response { calls: assembly.calls, warnings: assembly.warnings, ..text_only },
            Err(_) => text_only,
        }
    }
}

fn is_cut(reason: Option<&FinishReason>) -> bool {
    reason.is_some_and(FinishReason::is_cut)
}

/// Reads a stream to its end.
///
/// An error that cuts the answer off after the first chunk, of the connection or because the answer isn't whole, becomes
/// [`ModelError::StreamBroken`] with what had arrived.
///
/// ```
/// use graph_nodes::model::{Chunk, Collector, ModelError, collect};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let items = [Ok(Chunk::text("half")), Err(ModelError::transport("reset"))];
/// let stream = Box::pin(futures_util::stream::iter(items));
/// let error = collect(stream, Collector::new()).await.unwrap_err();
/// assert_eq!(error.received().unwrap().text, "half");
/// # });
/// ```
///
/// # Errors
/// The error of the stream, or of the strict policy.
pub async fn collect(mut stream: ChunkStream, mut collector: Collector) -> Result<Response, ModelError> {
    while let Some(item) = stream.next().await {
        match item {
            Ok(chunk) => drop(collector.push(chunk)),
            Err(error) => return Err(error.after(collector)),
        }
    }
    Ok(collector.finish()?)
}
