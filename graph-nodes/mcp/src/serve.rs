//! Graphs as an MCP server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph_engine::State;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, RunningService};
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::offer::ToolOffer;
use crate::offered::{Names, Offered};
use crate::serve_error::OfferError;

/// Graphs that other programs call as MCP tools. Each call runs a turn.
///
/// # Threads
/// A call with the argument `thread` continues that conversation, one without begins a new one; every answer names its
/// conversation. The runner's thread is called the same with a [prefix](Self::thread_prefix) before it, so that callers
/// reach no threads but those behind it.
///
/// # Ends of a turn
///
/// | the turn | the result of the call |
/// | --- | --- |
/// | is done | the reply, and `{"thread", "status"}` |
/// | asks a person | that the conversation waits, its questions with their ids, and that `<name>_resume` answers them |
/// | failed | an error; `<name>_resume` tries again what failed, or drops it |
/// | is cancelled by the client | its unfinished step is dropped, so the conversation takes new input |
///
/// A client that sends a progress token is told of each node that starts.
///
/// ```
/// use graph_engine::{Graph, START, State};
/// use graph_nodes_mcp::{GraphServer, ToolOffer};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     wish: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Wish {
///     text: String,
/// }
///
/// # async fn main_of_the_program() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = Graph::<Trip>::builder("trip").node("plan", async || {}).edge(START, "plan").compile()?;
/// let plan = ToolOffer::new(&graph.runner(), "plan", "Plans trips.", |wish: Wish| Trip::update().wish(wish.text));
/// GraphServer::new("trips").offer(plan).serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a server does nothing until it serves"]
pub struct GraphServer {
    name: String,
    offers: Vec<Arc<dyn Offered>>,
    names: Names,
}

impl GraphServer {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        let (random, next) = (RandomState::new(), AtomicU64::new(0));
        let fresh = move || format!("{:016x}", random.hash_one(next.fetch_add(1, Ordering::Relaxed)));
        Self {
            name: name.into(),
            offers: Vec::new(),
            names: Names { prefix: "mcp/".to_owned(), fresh: Box::new(fresh) },
        }
    }

    /// Offers a graph.
    pub fn offer<S: State>(mut self, offer: ToolOffer<S>) -> Self {
        self.offers.push(Arc::new(offer));
        self
    }

    /// What stands before the names of conversations in the ids of threads (default: `mcp/`). It keeps callers from the
    /// threads of others in the same store. Servers whose callers must not reach each other's threads need prefixes of
    /// which none is the beginning of another, such as `mcp/hotel/` and `mcp/office/`.
    pub fn thread_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.names.prefix = prefix.into();
        self
    }

    /// How new conversations are named (default: by random numbers of 16 digits). Two must never be the same.
    pub fn fresh_threads(mut self, fresh: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.names.fresh = Box::new(fresh);
        self
    }

    /// Serves over this program's input and output until the input ends. Nothing else may write to the output.
    ///
    /// # Errors
    /// If the offers can't be, or nobody greets.
    pub async fn serve_stdio(self) -> Result<(), OfferError> {
        let (read, write) = rmcp::transport::stdio();
        self.serve(read, write).await
    }

    /// Serves over two streams until the first ends.
    ///
    /// # Errors
    /// If the offers can't be, or nobody greets.
    pub async fn serve<R, W>(self, read: R, write: W) -> Result<(), OfferError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let service = self.checked()?;
        let server = service.name.clone();
        let running = service.serve((read, write)).await;
        let running: RunningService<RoleServer, Service> =
            running.map_err(|error| OfferError::Handshake { server: server.clone(), reason: error.to_string() })?;
        if let Err(error) = running.waiting().await {
            tracing::warn!(server, %error, "an MCP server of graphs ended badly");
        }
        Ok(())
    }

    fn checked(self) -> Result<Service, OfferError> {
        let Self { name, offers, names } = self;
        let (mut tools, mut by_name) = (Vec::new(), BTreeMap::new());
        for offer in offers {
            for tool in offer.tools()? {
                if by_name.insert(tool.name.to_string(), offer.clone()).is_some() {
                    return Err(OfferError::Twice { tool: tool.name.to_string() });
                }
                tools.push(tool);
            }
        }
        match tools.is_empty() {
            true => Err(OfferError::Nothing { server: name }),
            false => Ok(Service { name, tools, by_name, names }),
        }
    }
}

impl fmt::Debug for GraphServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphServer")
            .field("name", &self.name)
            .field("offers", &self.offers.len())
            .finish_non_exhaustive()
    }
}

/// The server while it serves.
struct Service {
    name: String,
    tools: Vec<Tool>,
    by_name: BTreeMap<String, Arc<dyn Offered>>,
    names: Names,
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.name.clone(), env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offer) = self.by_name.get(&*request.name) else {
            let known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            let message: Cow<'static, str> = format!("no such tool; the tools are {}", known.join(", ")).into();
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(offer.call(&request.name, arguments, &self.names, &context).await.into())
    }
}
