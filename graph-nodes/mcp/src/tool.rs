//! A tool of a server, as the node library takes it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use graph_engine::{State, async_trait};
use graph_nodes::model::ToolSpec;
use graph_nodes::tool::{Call, Confirm, Tool, ToolError, ToolReply};
use serde_json::{Map, Value, json};

use crate::content::{Read, read};
use crate::link::{Link, Sent};
use crate::name;
use crate::policy::Traits;

/// A tool of an MCP server: an implementation of [`Tool`] for graphs over any state.
///
/// Programs call it `server.tool`, models `server__tool`, because providers refuse dots: see [`McpServer`](crate::McpServer).
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::Tool;
/// use graph_nodes_mcp::McpTool;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// fn is_tool<T: Tool<Trip>>() {}
/// is_tool::<McpTool>();
/// ```
#[derive(Clone)]
pub struct McpTool {
    link: Arc<Link>,
    /// As its server calls it.
    tool: String,
    canonical: String,
    spec: ToolSpec,
    traits: Traits,
    limit: Duration,
}

impl McpTool {
    pub(crate) fn new(link: Arc<Link>, tool: &str, spec: ToolSpec, traits: Traits) -> Self {
        let policy = link.rules.policies.get(tool);
        let limit = policy.and_then(|policy| policy.timeout).unwrap_or(link.settings.timeout);
        Self { canonical: name::canonical(&link.server, tool), link, tool: tool.to_owned(), spec, traits, limit }
    }

    /// The name for programs: `server.tool`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.canonical
    }

    /// What models are told of it; the name there is `server__tool`.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Whether a person is asked before each call.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.traits.confirm
    }

    /// Whether calls change nothing, by its annotations or its policy.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.traits.read_only
    }

    async fn read<S: State>(&self, arguments: &Map<String, Value>) -> Result<ToolReply<S>, ToolError> {
        let sent = Sent { tool: &self.tool, arguments, limit: self.limit, traits: self.traits };
        let result = self.link.call(sent).await.map_err(|error| match error.is_retryable() {
            true => ToolError::new(error.for_model()).retryable(),
            false => ToolError::new(error.for_model()),
        })?;
        let Read { text, artifacts } = read(&result, self.link.settings.max_result_bytes, &self.link.secrets);
        if result.is_error == Some(true) {
            let text = if text.is_empty() { format!("`{}` failed and gave no reason", self.spec.name) } else { text };
            return Err(ToolError::new(text));
        }
        Ok(artifacts.into_iter().fold(ToolReply::text(text), ToolReply::artifact))
    }
}

#[async_trait]
impl<S: State> Tool<S> for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn alias(&self) -> Option<&str> {
        Some(&self.canonical)
    }

    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        self.read(call.arguments()).await
    }

    fn concurrency_safe(&self, _: &Map<String, Value>) -> bool {
        self.traits.read_only
    }

    fn read_only(&self) -> bool {
        self.traits.read_only
    }

    fn confirm(&self, _: &Map<String, Value>) -> Option<Confirm> {
        let details = json!({
            "server": self.link.server,
            "tool": self.tool,
            "destructive": self.traits.destructive,
            "idempotent": self.traits.idempotent,
        });
        let asks = || Confirm::text(format!("May `{}` run?", self.canonical)).details(details);
        self.traits.confirm.then(asks)
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTool")
            .field("name", &self.canonical)
            .field("spec", &self.spec)
            .field("traits", &self.traits)
            .finish_non_exhaustive()
    }
}
