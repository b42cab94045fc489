//! An MCP server: described, connected, and its tools.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::command::Command;
use crate::connect::{Handshake, Route};
use crate::error::{McpError, ToolProblem};
use crate::health::Health;
use crate::link::Link;
use crate::listing::Rules;
use crate::name;
use crate::policy::{ToolPolicy, Trust};
use crate::settings::{Restarts, Settings};
use crate::tool::McpTool;

/// A connected MCP server. Clones are the same server.
///
/// [`stdio`](Self::stdio), `http` (feature `http`) and [`streams`](Self::streams) describe one,
/// [`connect`](McpServerBuilder::connect) starts it, and [`tools`](Self::tools) gives what goes into a
/// [`ToolBox`](graph_nodes::tool::ToolBox). With the last clone and the last tool the connection is closed and the child
/// ended: its input is closed, then it is asked to end, then it is killed.
///
/// # Names
/// A tool is `server.tool` for programs: in `Stage::tools`, [`ToolBox::expose`](graph_nodes::tool::ToolBox::expose) and
/// groups. Providers refuse dots, so models are told `server__tool`, and this is the name in histories, events and
/// ledgers. A name of a tool that providers would refuse too, because of its letters or its length, is changed: other
/// letters become `_`, it is cut to 64, and 8 digits of a hash of the whole name stand at its end. That is the same in
/// every run.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::ToolBox;
/// use graph_nodes_mcp::{Command, McpServer};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let command = Command::new("npx").args(["-y", "some-file-server", "/srv/trips"]);
/// let files = McpServer::stdio("files", command).allow(["read_file", "list"]).connect().await?;
/// let tools = ToolBox::<Trip>::builder().tools(files.tools()?).build()?;
/// let offered = tools.expose(["files.read_file"])?;
/// assert_eq!(offered.names(), ["files__read_file"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer {
    link: Arc<Link>,
}

impl McpServer {
    /// A server that is started as a child and talked to over its input and output. The name is part of the names of its
    /// tools: letters, digits, `-` and single `_`, at most 32.
    pub fn stdio(name: impl Into<String>, command: Command) -> McpServerBuilder {
        McpServerBuilder::new(name.into(), Route::Child(command))
    }

    /// A server at an address, over streamable HTTP. Without the feature `http-rustls` or `http-native-tls`, which choose
    /// a TLS crate, it must begin with `http://`.
    #[cfg(feature = "http")]
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> McpServerBuilder {
        McpServerBuilder::new(name.into(), Route::Http(crate::http::Http::new(url.into())))
    }

    /// A server behind two streams of bytes that `open` opens, once for each connection: a socket, a container, a test.
    ///
    /// ```
    /// use graph_nodes_mcp::McpServer;
    /// use tokio::net::TcpStream;
    ///
    /// let files = McpServer::streams("files", || async {
    ///     let (read, write) = TcpStream::connect("127.0.0.1:4000").await?.into_split();
    ///     Ok((read, write))
    /// });
    /// # let _ = files;
    /// ```
    pub fn streams<F, R, W>(name: impl Into<String>, open: impl Fn() -> F + Send + Sync + 'static) -> McpServerBuilder
    where
        F: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        McpServerBuilder::new(name.into(), Route::streams(open))
    }

    /// The server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.link.server
    }

    /// The tools that are allowed and can be offered, in the order of the allow-list, else by name. What the server listed
    /// last counts, so after a change of its list another call gives other tools; those that a `ToolBox` holds stay.
    ///
    /// # Errors
    /// [`McpError::Unusable`] for a tool that the allow-list names and that can't be offered. Without an allow-list such a
    /// tool is left out: see [`problems`](Self::problems).
    pub fn tools(&self) -> Result<Vec<McpTool>, McpError> {
        let listing = self.link.listing();
        listing.check(self.name(), &self.link.rules)?;
        let mut tools = Vec::new();
        for (tool, listed) in listing.allowed(&self.link.rules) {
            let Some(problem) = &listed.problem else {
                tools.push(McpTool::new(self.link.clone(), tool, listed.spec.clone(), listed.traits));
                continue;
            };
            if self.link.rules.allow.is_some() {
                return Err(self.unusable(tool, problem));
            }
            tracing::warn!(server = self.name(), tool, %problem, "a tool of an MCP server is left out");
        }
        Ok(tools)
    }

    /// The tools that can't be offered, each with its reason.
    #[must_use]
    pub fn problems(&self) -> Vec<McpError> {
        let listing = self.link.listing();
        let problems = listing.allowed(&self.link.rules).filter_map(|(tool, listed)| {
            let problem = listed.problem.as_ref()?;
            Some(self.unusable(tool, problem))
        });
        problems.collect()
    }

    fn unusable(&self, tool: &str, problem: &ToolProblem) -> McpError {
        McpError::Unusable { server: self.name().to_owned(), tool: tool.to_owned(), problem: problem.clone() }
    }

    /// What happened to the server so far.
    #[must_use]
    pub fn health(&self) -> Health {
        self.link.counters.health()
    }

    /// Closes the connection and waits until a child has ended, at most about 8 seconds. Calls that run fail, and later
    /// ones are answered with an error.
    pub async fn close(&self) {
        self.link.close().await;
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.link.listing().tools.keys().cloned().collect();
        f.debug_struct("McpServer")
            .field("name", &self.link.server)
            .field("route", &self.link.route)
            .field("tools", &names)
            .finish_non_exhaustive()
    }
}

/// An MCP server before it is connected.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes_mcp::{Command, McpServer, ToolPolicy};
///
/// let files = McpServer::stdio("files", Command::new("file-server"))
///     .allow(["read_file", "write_file"])
///     .policy("write_file", ToolPolicy::new().idempotent(true))
///     .timeout(Duration::from_secs(10))
///     .max_result_bytes(16 * 1024);
/// # let _ = files;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a server does nothing until it is connected"]
pub struct McpServerBuilder {
    name: String,
    route: Route,
    rules: Rules,
    settings: Settings,
}

impl McpServerBuilder {
    fn new(name: String, route: Route) -> Self {
        Self { name, route, rules: Rules::default(), settings: Settings::default() }
    }

    /// Allows only these tools, by the names that the server uses (default: all that it lists). A second list adds to the
    /// first. Each must be there when the server is connected.
    pub fn allow<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.rules.allow.get_or_insert_default().extend(tools.into_iter().map(Into::into));
        self
    }

    /// What is said of one tool, in place of its annotations. It must be there when the server is connected.
    pub fn policy(mut self, tool: impl Into<String>, policy: ToolPolicy) -> Self {
        self.rules.policies.insert(tool.into(), policy);
        self
    }

    /// Whether annotations are believed (default: they are).
    pub fn trust(mut self, trust: Trust) -> Self {
        self.rules.trust = trust;
        self
    }

    /// How long a call may take (default: 60 seconds). Then the server is told to stop it.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.settings.timeout = limit;
        self
    }

    /// How long the server may take to start, greet and list its tools (default: 30 seconds).
    pub fn start_timeout(mut self, limit: Duration) -> Self {
        self.settings.start_timeout = limit;
        self
    }

    /// How much text of a result a model reads, in bytes (default: 32 KiB). More is cut, and the model is told. At most 20
    /// references of a result are kept beside it.
    pub fn max_result_bytes(mut self, most: usize) -> Self {
        self.settings.max_result_bytes = most;
        self
    }

    /// What happens when the server ends (default: [`Restarts::new`]).
    pub fn restarts(mut self, restarts: Restarts) -> Self {
        self.settings.restarts = restarts;
        self
    }

    /// How the protocol begins (default: with `initialize`).
    pub fn handshake(mut self, handshake: Handshake) -> Self {
        self.settings.handshake = handshake;
        self
    }

    /// Sends this token as `Authorization: Bearer` with every request. It is never shown. Without effect on a server that
    /// has no address.
    #[cfg(feature = "http")]
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        if let Route::Http(http) = &mut self.route {
            http.bearer(token.into());
        }
        self
    }

    /// Sends a header with every request. Its value is never shown. Without effect on a server that has no address.
    #[cfg(feature = "http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Route::Http(http) = &mut self.route {
            http.header(name.into(), value.into());
        }
        self
    }

    /// Starts the server, greets it and asks for its tools. There is one attempt: what is wrong now is likely wrong for
    /// good.
    ///
    /// # Errors
    /// If the server's name can't be one, it can't be started or reached, isn't ready in time, or lacks a tool that is
    /// allowed or has a policy.
    pub async fn connect(self) -> Result<McpServer, McpError> {
        if let Some(reason) = name::fault_of_server(&self.name) {
            return Err(McpError::BadServerName { server: self.name, reason: reason.to_owned() });
        }
        let link = Link::new(self.name, self.route, self.rules, self.settings);
        link.open().await?;
        link.listing().check(&link.server, &link.rules)?;
        Ok(McpServer { link: Arc::new(link) })
    }
}
