//! Vectors of texts from an OpenAI-compatible server, for the long-term store.

use std::fmt;

use async_trait::async_trait;
use graph_engine::BoxError;
use graph_engine::longterm::Embedder;
use graph_nodes::model::ModelError;
use serde::{Deserialize, Serialize};

use crate::chunks::body;
use crate::excerpt::excerpt;
use crate::http::Connection;
use crate::meter::Meter;

/// Makes vectors of texts, by `{base}/embeddings` of an OpenAI-compatible server: what a [`LongTermStore`] searches by
/// meaning with. Made by [`OpenAi::build_embedder`](crate::OpenAi::build_embedder).
///
/// Many texts go out in requests of at most [`batch`](Self::batch) texts, one after the other. A failed request fails
/// the whole call: a store that isn't given all vectors changes nothing.
///
/// [`LongTermStore`]: graph_engine::longterm::LongTermStore
///
/// ```
/// use graph_engine::longterm::Embedder;
/// use graph_nodes_openai::OpenAi;
/// use graph_nodes_openai::testing::{Reply, Server};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let vectors = r#"{"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]}"#;
/// let server = Server::start([Reply::json(vectors)]).await?;
/// let embedder = OpenAi::new(server.base_url(), "mini").build_embedder(2)?;
/// assert_eq!(embedder.embed(&["a".into(), "b".into()]).await.unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OpenAiEmbedder {
    pub(crate) model: String,
    pub(crate) dims: usize,
    pub(crate) batch: usize,
    pub(crate) connection: Connection,
    pub(crate) max_bytes: usize,
    pub(crate) meter: Meter,
}

/// Why a server's vectors can't be used.
///
/// ```
/// use graph_nodes_openai::EmbedError;
///
/// let error = EmbedError::Dims { text: 0, expected: 384, got: 2 };
/// assert_eq!(
///     error.to_string(),
///     "the vector of text 0 has 2 numbers instead of 384; name the model that the store was made for"
/// );
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The server did not answer properly. The text tells the reason, whose kind says whether trying again helps.
    #[error("the texts got no vectors: {0}")]
    Model(ModelError),
    /// The answer is not what was asked for.
    #[error(
        "the server's vectors can't be read ({reason}); check that its base URL has an OpenAI-compatible `embeddings`"
    )]
    Answer {
        /// What is wrong with it.
        reason: String,
    },
    /// A vector has another length.
    #[error(
        "the vector of text {text} has {got} numbers instead of {expected}; name the model that the store was made for"
    )]
    Dims {
        /// The text, from 0.
        text: usize,
        /// As many as the embedder was told.
        expected: usize,
        /// As many as came.
        got: usize,
    },
}

#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answered {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    /// Some servers leave it out and keep the order.
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// At most so many texts in one request: 64, if nothing else is said. 0 counts as 1.
    #[must_use]
    pub fn batch(mut self, texts: usize) -> Self {
        self.batch = texts.max(1);
        self
    }

    async fn ask(&self, first: usize, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let asked = Asked { model: &self.model, input: texts, encoding_format: "float" };
        let allowed = self.meter.admit_texts(texts).await.map_err(EmbedError::Model)?;
        let answer = self.connection.embeddings(&asked).await.map_err(EmbedError::Model)?;
        let secrets = answer.secrets().clone();
        let text = body(answer.keeping(allowed), self.max_bytes).await.map_err(EmbedError::Model)?;
        let wrong = |reason: String| EmbedError::Answer { reason };
        // The reason repeats what stands where a vector should.
        let Answered { data } =
            serde_json::from_slice(&text).map_err(|error| wrong(excerpt(&error.to_string(), &secrets)))?;
        if data.len() != texts.len() {
            return Err(wrong(format!("{} vectors came for {} texts", data.len(), texts.len())));
        }
        let mut vectors = vec![None; texts.len()];
        for (at, Vector { index, embedding }) in data.into_iter().enumerate() {
            let index = index.unwrap_or(at);
            match vectors.get_mut(index) {
                None => return Err(wrong(format!("there is a vector for text {index} of {}", texts.len()))),
                Some(Some(_)) => return Err(wrong(format!("two vectors are for text {index}"))),
                Some(free) if embedding.len() == self.dims => *free = Some(embedding),
                Some(_) => {
                    let (text, got) = (first + index, embedding.len());
                    return Err(EmbedError::Dims { text, expected: self.dims, got });
                }
            }
        }
        // As many vectors as texts, and no two for one text.
        Ok(vectors.into_iter().flatten().collect())
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn dims(&self) -> usize {
        self.dims
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, BoxError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            vectors.extend(self.ask(vectors.len(), batch).await?);
        }
        Ok(vectors)
    }
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, dims, batch, .. } = self;
        f.debug_struct("OpenAiEmbedder")
            .field("model", model)
            .field("dims", dims)
            .field("batch", batch)
            .finish_non_exhaustive()
    }
}
