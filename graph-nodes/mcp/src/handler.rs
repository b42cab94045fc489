//! Our side of what a server says unasked.
#![expect(deprecated, reason = "servers of older versions of the protocol ask for it, and must be answered")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, Implementation, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

use crate::health::Counters;
use crate::text::{Secrets, clip};

/// How much of a log message is kept, in bytes.
const MESSAGE: usize = 1_024;

/// What answers a server's requests and takes its notifications. It offers nothing: no sampling, no roots, no
/// elicitation, and the handshake says so.
pub(crate) struct Handler {
    pub(crate) server: String,
    pub(crate) secrets: Secrets,
    pub(crate) counters: Arc<Counters>,
}

impl Handler {
    fn refuse<T>(&self, what: &str) -> Result<T, ErrorData> {
        Counters::add(&self.counters.refused_requests);
        tracing::warn!(server = self.server, what, "an MCP server asked for something that is not offered");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this client doesn't offer {what}"), None))
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("graph-nodes-mcp", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.refuse("sampling")
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.refuse("roots")
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.refuse("elicitation")
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let (progress, total) = (params.progress, params.total);
        tracing::debug!(server = self.server, progress, total, "an MCP server tells of its progress");
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let text = match &params.data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let text = clip(&self.secrets.hide(&text), MESSAGE);
        let logger = clip(params.logger.as_deref().unwrap_or_default(), 80);
        let server = self.server.as_str();
        match params.level {
            LoggingLevel::Debug => tracing::debug!(server, logger, text, "an MCP server's log"),
            LoggingLevel::Info | LoggingLevel::Notice => tracing::info!(server, logger, text, "an MCP server's log"),
            LoggingLevel::Warning => tracing::warn!(server, logger, text, "an MCP server's log"),
            _ => tracing::error!(server, logger, text, "an MCP server's log"),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        Counters::add(&self.counters.list_changes);
        self.counters.stale.store(true, Ordering::Release);
    }
}
