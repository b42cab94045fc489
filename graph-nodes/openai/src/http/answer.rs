//! The bytes of an answer, read one piece at a time and only when somebody asks.

use graph_nodes::model::ModelError;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use super::clock::Clock;
use super::transport::transport_error;
use crate::Timeouts;
use crate::limits::Allowed;
use crate::secrets::Secrets;

/// An answer whose headers have arrived. Dropping it ends the connection, and with it the call.
pub(crate) struct Answer {
    response: Response,
    clock: Clock,
    secrets: Secrets,
    /// The call's place among those at once.
    _allowed: Option<Allowed>,
}

impl Answer {
    pub(super) fn new(response: Response, clock: Clock, secrets: Secrets) -> Self {
        Self { response, clock, secrets, _allowed: None }
    }

    /// Keeps the call's place for as long as the answer is read.
    pub(crate) fn keeping(self, allowed: Option<Allowed>) -> Self {
        Self { _allowed: allowed, ..self }
    }

    /// Whether the server says that the body is one JSON text (yes), an event stream (no), or nothing of use.
    pub(crate) fn is_json(&self) -> Option<bool> {
        let kind = self.response.headers().get(CONTENT_TYPE)?.to_str().ok()?.trim().to_ascii_lowercase();
        if kind.starts_with("application/json") {
            Some(true)
        } else if kind.starts_with("text/event-stream") {
            Some(false)
        } else {
            None
        }
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The next bytes; nothing at the end.
    pub(crate) async fn next(
        &mut self,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, ModelError> {
        loop {
            let Some(bytes) = self
                .clock
                .limit(self.response.chunk())
                .await?
                .map_err(|error| transport_error(error.without_url().into(), &Timeouts::none(), &self.secrets))?
            else {
                return Ok(None);
            };
            if !bytes.is_empty() {
                self.clock.heard();
                return Ok(Some(bytes));
            }
        }
    }
}
