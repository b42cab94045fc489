//! Deliberate faults: what real models do now and then.

use super::fragments;
use async_trait::async_trait;
use futures_util::stream;
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{ChatModel, Chunk, ChunkStream, ModelError, Request, Response};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model that errs at every third request, each time in another way, in a
/// fixed order. Between the faults it is the model inside.
#[derive(Debug)]
pub struct Faulty<M> {
    inner: M,
    requests: AtomicUsize,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug)]
enum Fault {
    BrokenArguments,
    UnknownTool,
    Empty,
    TwoCalls,
    OtherStage,
    Truncated,
    Disconnected,
    Refusal,
    InventedHotel,
    OutsideSeason,
}

const ORDER: [Fault; 10] = [
    Fault::BrokenArguments,
    Fault::UnknownTool,
    Fault::Empty,
    Fault::TwoCalls,
    Fault::OtherStage,
    Fault::Truncated,
    Fault::Disconnected,
    Fault::Refusal,
    Fault::InventedHotel,
    Fault::OutsideSeason,
];

impl<M> Faulty<M> {
    /// Puts faults in front of a model.
    pub fn new(inner: M) -> Self {
        Self { inner, requests: AtomicUsize::new(0) }
    }

    /// Every third request from the second on has a fault, so that the attempt
    /// after a rejected one always succeeds.
    fn fault(&self) -> Option<Fault> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        (number % 3 == 1).then(|| ORDER[number / 3 % ORDER.len()])
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Faulty<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        let Some(fault) = self.fault() else {
            return self.inner.stream(request).await;
        };
        if matches!(fault, Fault::TwoCalls) {
            let meant = self.inner.complete(request.clone()).await?;
            return Ok(Box::pin(stream::iter(two_calls(&meant, &request).into_iter().map(Ok))));
        }
        Ok(Box::pin(stream::iter(faulty(fault, &request))))
    }
}

/// A call of a tool that is not offered, beside what the model meant to call or say.
fn two_calls(meant: &Response, request: &Request) -> Vec<Chunk> {
    let elsewhere = if request.tools.iter().any(|tool| tool.name == "search") { "show_offers" } else { "search" };
    let number: usize = request.messages.iter().map(|message| message.calls().len()).sum();
    let mut chunks = fragments::call(0, &format!("call_{}", number + 1), elsewhere, "{}");
    for (call, index) in meant.calls.iter().zip(1..) {
        chunks.extend(fragments::call(index, &format!("{}_b", call.id), &call.name, call.arguments.raw()));
    }
    chunks.push(Chunk::finish(FinishReason::ToolCalls));
    chunks.push(Chunk::usage(Usage::new(fragments::asked(request), 24)));
    chunks
}

fn faulty(fault: Fault, request: &Request) -> Vec<Result<Chunk, ModelError>> {
    let number: usize = request.messages.iter().map(|message| message.calls().len()).sum();
    let id = |offset: usize| format!("call_{}", number + offset);
    let offered = |at: usize| request.tools.get(at).map_or("search", |tool| tool.name.as_str());
    let explores = offered(0) == "capture_criteria";
    let (mut chunks, reason) = match fault {
        Fault::BrokenArguments => {
            (fragments::call(0, &id(1), offered(0), r#"{"city": "Lisbon", "guests": tw"#), FinishReason::ToolCalls)
        }
        Fault::UnknownTool => (fragments::call(0, &id(1), "teleport", r#"{"to":"Mars"}"#), FinishReason::ToolCalls),
        Fault::Empty => (Vec::new(), FinishReason::Stop),
        Fault::TwoCalls | Fault::OtherStage => {
            let elsewhere = if explores { "confirm_booking" } else { "capture_criteria" };
            let arguments = if explores { r#"{"hotel":"","confirmed":true}"# } else { "{}" };
            (fragments::call(0, &id(1), elsewhere, arguments), FinishReason::ToolCalls)
        }
        // In the first stage a hotel of another city, in the others one that there is not.
        Fault::InventedHotel if explores => (fragments::words("The Waltz Garden would be lovely."), FinishReason::Stop),
        Fault::InventedHotel => {
            (fragments::call(0, &id(1), "choose_hotel", r#"{"hotel":"Grand Mirage"}"#), FinishReason::ToolCalls)
        }
        Fault::OutsideSeason => {
            let tool = if explores { "capture_criteria" } else { "change_criteria" };
            let days = r#"{"check_in":"2019-07-03","check_out":"2019-07-06"}"#;
            (fragments::call(0, &id(1), tool, days), FinishReason::ToolCalls)
        }
        Fault::Truncated => (fragments::words("I have found some hotels that you will"), FinishReason::Length),
        Fault::Disconnected => {
            let broken = ModelError::transport("the connection was reset");
            return fragments::words("I have").into_iter().map(Ok).chain([Err(broken)]).collect();
        }
        Fault::Refusal => (vec![Chunk::refusal("I cannot help with that.")], FinishReason::Stop),
    };
    chunks.push(Chunk::finish(reason));
    chunks.push(Chunk::usage(Usage::new(fragments::asked(request), 12)));
    chunks.into_iter().map(Ok).collect()
}
