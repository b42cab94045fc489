//! A model behind an OpenAI-compatible server.

use std::fmt;

use async_trait::async_trait;
use graph_nodes::model::{ChatModel, ChunkStream, ModelError, Request};

use crate::chunks::chunks;
use crate::http::Connection;
use crate::meter::Meter;
use crate::request::{Body, Dialect};

/// A model behind an OpenAI-compatible server, made by [`OpenAi::build`](crate::OpenAi::build).
///
/// Clones share the connections. One call is one HTTP request, whatever comes of it: who tries again, and when, is the
/// business of a gate. Dropping the stream of an answer ends the request.
///
/// ```no_run
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, Request};
/// use graph_nodes_openai::OpenAi;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let model = OpenAi::new("http://127.0.0.1:8080/v1", "local").build()?;
/// let response = model.complete(Request::new([Message::user("hi")]).with_parameter("temperature", 0)).await?;
/// println!("{}", response.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAiModel {
    pub(crate) name: String,
    pub(crate) model: String,
    pub(crate) connection: Connection,
    pub(crate) dialect: Dialect,
    pub(crate) max_bytes: usize,
    pub(crate) meter: Meter,
}

impl OpenAiModel {
    /// The JSON text that is sent for a request, to look at it. Nothing is sent.
    ///
    /// ```
    /// use graph_nodes::message::Message;
    /// use graph_nodes::model::Request;
    /// use graph_nodes_openai::OpenAi;
    ///
    /// let model = OpenAi::new("http://127.0.0.1:8080/v1", "local").streaming(false).build()?;
    /// assert_eq!(
    ///     model.body_of(&Request::new([Message::user("hi")]))?,
    ///     r#"{"model":"local","messages":[{"role":"user","content":"hi"}],"stream":false}"#,
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Unsendable`] and [`ModelError::StrayRemoval`]: the request can't be sent.
    pub fn body_of(&self, request: &Request) -> Result<String, ModelError> {
        let body = Body::of(request, &self.model, self.dialect)?;
        serde_json::to_string(&body).map_err(|error| ModelError::unsendable(error.to_string()))
    }
}

#[async_trait]
impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        let body = Body::of(&request, &self.model, self.dialect)?;
        let allowed = self.meter.admit(&request).await?;
        let answer = self.connection.chat(&body).await?;
        Ok(chunks(answer.keeping(allowed), self.dialect.streaming, self.max_bytes, body.call_reader()))
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}
