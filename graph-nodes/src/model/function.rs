//! A model made of a closure.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;

use super::{ChatModel, Chunk, ChunkStream, ModelError, Request, Response};

type Answer = Pin<Box<dyn Future<Output = Result<Vec<Chunk>, ModelError>> + Send>>;

/// A model made of a closure: a rule, a fake, a fixture.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, FnModel, Request, Response};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let model = FnModel::new("counter", |request: Request| {
///     Ok(Response::from_text(format!("{} messages", request.messages.len())))
/// });
/// let response = model.complete(Request::new([Message::user("hi")])).await.unwrap();
/// assert_eq!(response.text, "1 messages");
/// # });
/// ```
#[derive(Clone)]
pub struct FnModel {
    name: Arc<str>,
    answer: Arc<dyn Fn(Request) -> Answer + Send + Sync>,
}

impl FnModel {
    /// A model that answers at once.
    pub fn new<T: IntoChunks>(
        name: &str,
        answer: impl Fn(Request) -> Result<T, ModelError> + Send + Sync + 'static,
    ) -> Self {
        let answer = move |request| -> Answer {
            let chunks = answer(request).map(IntoChunks::into_chunks);
            Box::pin(std::future::ready(chunks))
        };
        Self { name: name.into(), answer: Arc::new(answer) }
    }

    /// A model that may wait before it answers.
    ///
    /// ```
    /// use graph_nodes::model::{FnModel, Request, Response};
    ///
    /// let model = FnModel::new_async("slow", async |_request: Request| Ok(Response::from_text("done")));
    /// # let _ = model;
    /// ```
    pub fn new_async<T, F, Fut>(name: &str, answer: F) -> Self
    where
        T: IntoChunks,
        F: Fn(Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ModelError>> + Send + 'static,
    {
        let answer = move |request| -> Answer {
            let answered = answer(request);
            Box::pin(async move { answered.await.map(IntoChunks::into_chunks) })
        };
        Self { name: name.into(), answer: Arc::new(answer) }
    }
}

impl fmt::Debug for FnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnModel").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for FnModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        request.check()?;
        let chunks = (self.answer)(request).await?;
        Ok(Box::pin(stream::iter(chunks.into_iter().map(Ok))))
    }
}

/// What a closure of an [`FnModel`] may return: a whole [`Response`], one
/// [`Chunk`] or several.
///
/// ```
/// use graph_nodes::model::{IntoChunks, Response};
///
/// assert_eq!(Response::from_text("hi").into_chunks().len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the answer of a model",
    note = "return `Ok(Response)`, `Ok(Chunk)` or `Ok(Vec<Chunk>)`"
)]
pub trait IntoChunks {
    /// The chunks of the answer.
    fn into_chunks(self) -> Vec<Chunk>;
}

impl IntoChunks for Vec<Chunk> {
    fn into_chunks(self) -> Vec<Chunk> {
        self
    }
}

impl IntoChunks for Chunk {
    fn into_chunks(self) -> Vec<Chunk> {
        vec![self]
    }
}

impl IntoChunks for Response {
    fn into_chunks(self) -> Vec<Chunk> {
        vec![self.into()]
    }
}
