//! A client that sends requests of this crate's own form.

use std::sync::Arc;

use async_openai::Client;
use async_openai::error::OpenAIError;
use graph_nodes::model::ModelError;
use serde::Serialize;
use serde::de::IgnoredAny;

use super::exchange::{Exchange, Handed};
use super::{Answer, Endpoint, Transport};
use crate::Timeouts;
use crate::secrets::Secrets;

/// Asks one server.
#[derive(Clone)]
pub(crate) struct Connection {
    client: Client<Endpoint>,
    exchange: Exchange,
}

impl Connection {
    /// The HTTP client makes the requests; the transport carries them.
    pub(crate) fn new(
        endpoint: Endpoint,
        http: reqwest::Client,
        transport: Arc<dyn Transport>,
        timeouts: Timeouts,
        secrets: Secrets,
    ) -> Self {
        let exchange = Exchange { transport, timeouts, secrets };
        let client = Client::build(http, endpoint).with_http_service(exchange.clone());
        Self { client, exchange }
    }

    /// Asks for a chat completion, streamed or not, as the body says.
    pub(crate) async fn chat(&self, body: &impl Serialize) -> Result<Answer, ModelError> {
        let sent: Result<IgnoredAny, OpenAIError> = self.client.chat().create_byot(body).await;
        self.handed(sent)
    }

    /// Asks for the vectors of texts.
    pub(crate) async fn embeddings(&self, body: &impl Serialize) -> Result<Answer, ModelError> {
        let sent: Result<IgnoredAny, OpenAIError> = self.client.embeddings().create_byot(body).await;
        self.handed(sent)
    }

    /// What the exchange handed over.
    fn handed<T>(&self, sent: Result<T, OpenAIError>) -> Result<Answer, ModelError> {
        match sent {
            Err(OpenAIError::Boxed(boxed)) => match boxed.downcast::<Handed>() {
                Ok(handed) => handed.0,
                Err(other) => Err(self.exchange.unsendable(&OpenAIError::Boxed(other))),
            },
            Err(error) => Err(self.exchange.unsendable(&error)),
            // The exchange never gives the client anything to read.
            Ok(_) => Err(ModelError::transport("the client read the answer itself")),
        }
    }
}
