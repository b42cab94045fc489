//! What carries a request to a server and the answer back.

use std::error::Error;

use futures_core::future::BoxFuture;
use graph_nodes::model::ModelError;
use reqwest::{Client, Request, Response};

use super::clock::Phase;
use crate::Timeouts;
use crate::secrets::Secrets;

/// Carries one request. Tests have one without a network.
pub(crate) trait Transport: Send + Sync + 'static {
    fn send(&self, request: Request) -> BoxFuture<'static, Result<Response, TransportError>>;
}

pub(crate) type TransportError = Box<dyn Error + Send + Sync>;

/// The real one.
pub(crate) struct ReqwestTransport(pub(crate) Client);

impl Transport for ReqwestTransport {
    fn send(&self, request: Request) -> BoxFuture<'static, Result<Response, TransportError>> {
        let sending = self.0.execute(request);
        Box::pin(async move { sending.await.map_err(|error| error.without_url().into()) })
    }
}

/// What a failure of the connection means. The texts of all causes are in the message, because the innermost one is
/// mostly the one that helps.
pub(super) fn transport_error(error: TransportError, timeouts: &Timeouts, secrets: &Secrets) -> ModelError {
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        match timeouts.connect {
            Some(limit) if error.is_connect() && error.is_timeout() => return Phase::Connect.error(limit),
            _ => {}
        }
    }
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        // Some errors repeat their cause.
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        cause = inner.source();
    }
    ModelError::Transport { message: secrets.hide(&texts.join(": ")), source: Some(error) }
}
