//! The trait that every model implements.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use super::{Chunk, Collector, ModelError, Request, Response, collect};

/// A response while it arrives.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, ModelError>> + Send>>;

/// A chat model.
///
/// The contract of [`stream`](ChatModel::stream): an error before the first
/// chunk is returned by the method itself or as the stream's first item, a
/// later one is the stream's last item; the stream ends after the response, and
/// a finish reason says that it is whole. Retrying is not the model's business:
/// a retry in here is an attempt that no ledger sees. Dropping the stream
/// cancels the call.
///
/// ```
/// use async_trait::async_trait;
/// use graph_nodes::message::{FinishReason, Message};
/// use graph_nodes::model::{ChatModel, Chunk, ChunkStream, ModelError, Request};
///
/// struct Echo;
///
/// #[async_trait]
/// impl ChatModel for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
///         let text = request.messages.last().map(Message::text).unwrap_or_default();
///         let chunks = [Chunk::text(text).with_finish(FinishReason::Stop)];
///         Ok(Box::pin(futures_util::stream::iter(chunks.map(Ok))))
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let response = Echo.complete(Request::new([Message::user("hello")])).await.unwrap();
/// assert_eq!(response.text, "hello");
/// # });
/// ```
#[async_trait]
pub trait ChatModel: Send + Sync + 'static {
    /// The name that calls are accounted under.
    fn name(&self) -> &str;

    /// Asks the model and returns the response while it arrives.
    ///
    /// # Errors
    /// See [`ModelError`]; a broken stream reports its error as an item.
    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError>;

    /// Asks the model and returns the whole response.
    ///
    /// # Errors
    /// See [`ModelError`].
    async fn complete(&self, request: Request) -> Result<Response, ModelError> {
        let collector = Collector::for_request(&request);
        collect(self.stream(request).await?, collector).await
    }
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        (**self).stream(request).await
    }

    async fn complete(&self, request: Request) -> Result<Response, ModelError> {
        (**self).complete(request).await
    }
}
