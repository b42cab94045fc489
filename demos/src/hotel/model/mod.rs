//! The offline concierge: a model made of rules, behind the same trait as a
//! provider's model.
//!
//! It knows what a provider's model would know and nothing else: the system
//! prompt, the messages and the offered tools of the request. From these it
//! says a text or calls tools, and streams either in pieces.

mod answer;
mod choose;
mod explore;
mod faults;
mod fragments;
mod hear;
mod questions;
mod report;
mod vacancies;
mod view;

pub use faults::Faulty;

use async_trait::async_trait;
use futures_util::stream;
use graph_nodes::model::{ChatModel, ChunkStream, ModelError, Request};

/// The rule-based model.
///
/// ```
/// use demos::hotel::model::Concierge;
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, Request};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let response = Concierge.complete(Request::new([Message::user("hello")])).await.unwrap();
/// assert_eq!(response.text, "I cannot work without the concierge's system prompt.");
/// # });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Concierge;

#[async_trait]
impl ChatModel for Concierge {
    fn name(&self) -> &str {
        "offline-concierge"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        let answer = match view::View::of(&request) {
            Some(view) => hear::answer(&view),
            None => answer::Answer::say("I cannot work without the concierge's system prompt."),
        };
        let chunks = fragments::chunks(&answer, &request);
        Ok(Box::pin(stream::iter(chunks.into_iter().map(Ok))))
    }
}
