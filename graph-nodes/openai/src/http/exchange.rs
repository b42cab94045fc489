//! One request goes out, one answer comes back: the place where the client's own sending would be.
//!
//! The client would try again by itself, put the headers of an error away, write its body to the log, and read a good
//! answer in a task of its own. So it builds the request and is given nothing to read.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures_core::future::BoxFuture;
use graph_nodes::model::ModelError;
use reqwest::Response;
use tower_service::Service;

use super::Answer;
use super::clock::Clock;
use super::transport::{Transport, transport_error};
use crate::secrets::Secrets;
use crate::{Timeouts, read};

/// As much of the body of an error as is read.
const ERROR_BYTES: usize = 64 << 10;

/// Sends a request once.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) timeouts: Timeouts,
    pub(super) secrets: Secrets,
}

/// What came of it. It leaves the client as an error, because this is the only way around its reader.
pub(super) struct Handed(pub(super) Result<Answer, ModelError>);

impl Service<HttpRequestFactory> for Exchange {
    type Response = Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let exchange = self.clone();
        Box::pin(async move { Err(OpenAIError::Boxed(Box::new(Handed(exchange.send(factory).await)))) })
    }
}

impl Exchange {
    async fn send(self, factory: HttpRequestFactory) -> Result<Answer, ModelError> {
        let request = factory.build().await.map_err(|error| self.unsendable(&error))?;
        let clock = Clock::start(self.timeouts);
        let sent = clock.limit(self.transport.send(request)).await?;
        let response = sent.map_err(|error| transport_error(error, &self.timeouts, &self.secrets))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut answer = Answer::new(response, clock, self.secrets);
        if status.is_success() {
            return Ok(answer);
        }
        // The status says enough when the body is cut.
        let mut body = Vec::new();
        while let Ok(Some(bytes)) = answer.next().await {
            body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BYTES - body.len())]);
            if body.len() == ERROR_BYTES {
                break;
            }
        }
        Err(read::error(status.as_u16(), &headers, &body, answer.secrets()))
    }

    pub(super) fn unsendable(&self, error: &OpenAIError) -> ModelError {
        ModelError::unsendable(self.secrets.hide(&error.to_string()))
    }
}

impl fmt::Debug for Handed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handed(..)")
    }
}

impl fmt::Display for Handed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer was handed over")
    }
}

impl Error for Handed {}
