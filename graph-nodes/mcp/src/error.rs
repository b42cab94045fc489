//! What can go wrong between a program and an MCP server.

use std::time::Duration;

use graph_nodes::tool::SchemaError;

use crate::text::clip;

/// What went wrong with a server or one of its tools. Each says what to do next, for people; what a model is told of it is
/// as much as helps a model.
///
/// ```
/// use graph_nodes_mcp::McpServer;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let command = graph_nodes_mcp::Command::new("no-such-program-anywhere");
/// let error = McpServer::stdio("files", command).connect().await.unwrap_err();
/// assert!(error.to_string().starts_with("the program `no-such-program-anywhere` of the MCP server `files` can't be started"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// A server can't have this name.
    #[error(
        "an MCP server can't be called `{}`, because {reason}; take letters, digits, `-` and single `_`",
        clip(server, 80)
    )]
    BadServerName {
        /// The name.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The program of a server can't be started.
    #[error(
        "the program `{program}` of the MCP server `{server}` can't be started ({reason}); check its path and that it is installed"
    )]
    Spawn {
        /// The server.
        server: String,
        /// The program, without its arguments.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// The address or a header of a server can't be used.
    #[error("the MCP server `{server}` can't be reached as it is described: {reason}")]
    BadAddress {
        /// The server.
        server: String,
        /// What is wrong.
        reason: String,
    },
    /// A server ended, or said something else than the protocol asks for, before it was ready.
    #[error("the MCP server `{server}` didn't get ready: {reason}{}; run it by hand to see why", words(last_words))]
    Handshake {
        /// The server.
        server: String,
        /// What happened.
        reason: String,
        /// The last lines that it wrote to its error output.
        last_words: String,
    },
    /// A server refused who asked.
    #[error("the MCP server `{server}` wants another authorization; check the token that it is given")]
    Unauthorized {
        /// The server.
        server: String,
    },
    /// A server took too long to get ready.
    #[error(
        "the MCP server `{server}` wasn't ready after {after:?}{}; give it longer with `start_timeout`, or run it by hand",
        words(last_words)
    )]
    StartTimeout {
        /// The server.
        server: String,
        /// The limit.
        after: Duration,
        /// The last lines that it wrote to its error output.
        last_words: String,
    },
    /// A server can't say which tools it has.
    #[error("the MCP server `{server}` doesn't list its tools: {reason}; look into its log")]
    List {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// A list of tools that doesn't end.
    #[error("the MCP server `{server}` lists more than {most} tools; a list without an end is not taken")]
    TooManyTools {
        /// The server.
        server: String,
        /// How many are taken.
        most: usize,
    },
    /// A tool that is allowed, or has a policy, is none of the server's.
    #[error("the MCP server `{server}` has no tool `{}`; {}", clip(tool, 80), listed(known))]
    UnknownTool {
        /// The server.
        server: String,
        /// The name, as it was given.
        tool: String,
        /// The tools there are.
        known: Vec<String>,
    },
    /// A tool can't be offered to a model.
    #[error(
        "the tool `{}` of the MCP server `{server}` can't be offered: {problem}; leave it out of the allow-list, or correct the server",
        clip(tool, 80)
    )]
    Unusable {
        /// The server.
        server: String,
        /// The tool, as its server calls it.
        tool: String,
        /// Why.
        problem: ToolProblem,
    },
    /// The server ended, or its connection broke, while a call ran.
    #[error(
        "the MCP server `{server}` ended while `{tool}` ran; what it should do may have happened or not, so look before you call it again"
    )]
    Died {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A call took too long. The server was told to stop it.
    #[error(
        "`{tool}` of the MCP server `{server}` gave no answer within {after:?} and was cancelled; what it should do may have happened or not"
    )]
    Timeout {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The limit.
        after: Duration,
    },
    /// The server answered a call with an error of the protocol.
    #[error(
        "the MCP server `{server}` refused the call of `{tool}`: {message} (code {code}); correct the call, or go on without it"
    )]
    Refused {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The code of the protocol.
        code: i32,
        /// What the server says.
        message: String,
    },
    /// The server no longer has the tool.
    #[error("the MCP server `{server}` no longer has the tool `{tool}`; use another one")]
    Vanished {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The server says other things of a tool than when it was listed.
    #[error(
        "the MCP server `{server}` now says that `{tool}` does more than it said before; it is not called until the tools are listed anew"
    )]
    Changed {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The server wants something from a person, or a model, before it answers.
    #[error(
        "`{tool}` of the MCP server `{server}` asks for more input, which this client doesn't offer; call it with all it needs"
    )]
    NeedsInput {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The server failed so often that it is left alone for a while.
    #[error(
        "the MCP server `{server}` failed {failures} times in a row and is left alone for another {again_in:?}; its tools can't be used until then"
    )]
    Resting {
        /// The server.
        server: String,
        /// How often.
        failures: u32,
        /// For how long.
        again_in: Duration,
    },
    /// The server was closed by the program.
    #[error("the MCP server `{server}` was closed by this program; its tools can't be used any more")]
    Closed {
        /// The server.
        server: String,
    },
}

impl McpError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Resting { .. } | Self::StartTimeout { .. } | Self::Handshake { .. } | Self::Spawn { .. })
    }

    /// What a model is told: nothing of what a server writes to its error output.
    pub(crate) fn for_model(&self) -> String {
        match self {
            Self::Handshake { server, .. } | Self::StartTimeout { server, .. } | Self::Spawn { server, .. } => {
                format!("the MCP server `{server}` can't be started at the moment; go on without its tools")
            }
            other => other.to_string(),
        }
    }
}

/// Why a tool of a server can't be offered to a model.
///
/// ```
/// use graph_nodes_mcp::ToolProblem;
///
/// assert_eq!(ToolProblem::Twice.to_string(), "its name is listed twice, so nobody knows which one a call means");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolProblem {
    /// Its schema can't be used.
    #[error("of its schema, {0}")]
    Schema(SchemaError),
    /// Its schema is larger than a model should read.
    #[error("its schema has {bytes} bytes, and at most {most} are taken")]
    SchemaTooLarge {
        /// The size of the schema as JSON, in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// Its name is blank.
    #[error("its name is blank")]
    Blank,
    /// The server lists two tools of one name.
    #[error("its name is listed twice, so nobody knows which one a call means")]
    Twice,
    /// For models it would have the name of another tool of the server.
    #[error("models would be told the same name, `{told}`, for the tool `{}`", clip(other, 80))]
    NameTaken {
        /// The name for models.
        told: String,
        /// The other tool.
        other: String,
    },
}

fn words(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!("; its last words: {last_words}") }
}

fn listed(known: &[String]) -> String {
    const SHOWN: usize = 30;
    let shown: Vec<String> = known.iter().take(SHOWN).map(|name| format!("`{}`", clip(name, 80))).collect();
    match known.len() {
        0 => "it has none".to_owned(),
        all if all > SHOWN => format!("it has {} and {} more", shown.join(", "), all - SHOWN),
        _ => format!("it has {}", shown.join(", ")),
    }
}
