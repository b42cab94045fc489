//! Errors of MCP servers, of their tools, and of graphs that are offered as tools.

use std::time::Duration;

use graph_engine::{Graph, START};
use graph_nodes::tool::{SchemaError, ToolBox, ToolBoxError, tool};
use graph_nodes_mcp::{Command, GraphServer, McpError, McpServer, OfferError, ToolOffer, ToolProblem};
use serde_json::{Value, json};

use crate::doc::{Entry, Section};
use crate::trip::Trip;

fn files() -> String {
    "files".to_owned()
}

fn read_file() -> String {
    "read_file".to_owned()
}

/// What the library itself says of a schema that describes no object.
fn no_object() -> SchemaError {
    let list = tool::<Trip, Vec<u32>>("sum", "Adds numbers.", |_, _| async { Err("never called".into()) });
    let ToolBoxError::BadSchema { reason, .. } = ToolBox::builder().tool(list).build().expect_err("a list") else {
        unreachable!("the schema is wrong")
    };
    reason
}

pub(crate) async fn servers() -> Section {
    let entry = |error: &McpError, means| Entry::variant("McpError", error, means);
    let program = || Command::new("no-such-program-anywhere");
    let name = McpServer::stdio("my.files", program()).connect().await.expect_err("a dot");
    let program = McpServer::stdio("files", program()).connect().await.expect_err("no program");
    let spawn = McpError::Spawn {
        server: files(),
        program: "no-such-program-anywhere".into(),
        reason: "No such file or directory (os error 2)".into(),
    };
    assert!(matches!(program, McpError::Spawn { .. }), "{program}");
    let address = McpServer::http("maps", "127.0.0.1:8080").connect().await.expect_err("no scheme");
    let closed = McpServer::streams("files", || async { Ok((tokio::io::empty(), tokio::io::sink())) });
    let closed = closed.connect().await.expect_err("nobody answers");
    let words = || "npm error: no network".to_owned();
    let ended = "it ended before it had answered the greeting".to_owned();
    let unready = McpError::Handshake { server: files(), reason: ended, last_words: words() };
    let late = |last_words| McpError::StartTimeout { server: files(), after: Duration::from_secs(30), last_words };
    let known = vec![read_file(), "list".into()];
    let unknown = McpError::UnknownTool { server: files(), tool: "raed_file".into(), known };
    let unusable = |problem| McpError::Unusable { server: files(), tool: read_file(), problem };
    let list = McpError::List { server: files(), reason: "not now".into() };
    Section {
        title: "Connecting an MCP server",
        intro: "Given by `McpServerBuilder::connect` and `McpServer::tools`. Where a call has to start the server again, a \
                model reads only that it can't be started at the moment.",
        entries: vec![
            entry(&name, "The name of a server is part of the names that models are told of its tools."),
            entry(&spawn, "The reason is the system's. Arguments are not shown, because they may hold secrets."),
            entry(&address, "Also a header that can't be sent. Tokens, values of headers and queries are never shown."),
            entry(&closed, "What a child wrote last to its error output stands in the text, without secrets.")
                .and(&unready),
            entry(&McpError::Unauthorized { server: files() }, "The server answered with status 401 or 403."),
            entry(
                &late(String::new()),
                "Starting, greeting and listing together. A program that is installed when it first \
                   runs may need longer.",
            )
            .and(&late(words())),
            entry(&list, "The reason is the server's."),
            entry(&McpError::TooManyTools { server: files(), most: 2_000 }, "Or a list of more than 1,000 pages."),
            entry(
                &unknown,
                "Names in an allow-list and in policies are those that the server uses, without its own name.",
            ),
            entry(
                &unusable(ToolProblem::Twice),
                "Only of a tool that the allow-list names; without one it is left out and in \
                   `McpServer::problems`.",
            ),
        ],
    }
}

pub(crate) fn problems() -> Section {
    let entry = |error: ToolProblem, means| Entry::variant("ToolProblem", &error, means);
    let taken = ToolProblem::NameTaken { told: "files__a_b_0f2c77aa".into(), other: "a.b".into() };
    Section {
        title: "Tools of an MCP server that can't be offered",
        intro: "The problem in `McpError::Unusable`. Whoever wrote the server can correct it; its other tools are used.",
        entries: vec![
            entry(ToolProblem::Schema(no_object()), "The rest of the text is that of a tool of this program."),
            entry(ToolProblem::SchemaTooLarge { bytes: 300_050, most: 262_144 }, "A model would have to read it."),
            entry(ToolProblem::Blank, "No call could name it."),
            entry(ToolProblem::Twice, "Neither is offered."),
            entry(taken, "Only a server that means it gets there. Neither is offered."),
        ],
    }
}

pub(crate) fn calls() -> Section {
    let entry = |error: McpError, means| Entry::variant("McpError", &error, means);
    let (server, tool) = (files, read_file);
    let message = "path is outside of /srv".to_owned();
    Section {
        title: "Calling a tool of an MCP server",
        intro: "The model reads these as the answer of its call, and the turn goes on.",
        entries: vec![
            entry(
                McpError::Died { server: server(), tool: tool() },
                "Of a call that only reads, or is idempotent, this is \
                   the second end of the server: the first is not told, and the call is sent again.",
            ),
            entry(
                McpError::Timeout { server: server(), tool: tool(), after: Duration::from_secs(60) },
                "The server was told \
                   to stop. A longer time is given with `timeout`, for one tool with `ToolPolicy::timeout`.",
            ),
            entry(
                McpError::Refused { server: server(), tool: tool(), code: -32602, message },
                "The text is the server's.",
            ),
            entry(
                McpError::Vanished { server: server(), tool: tool() },
                "The list of tools changed. A `ToolBox` keeps what \
                   it was built of; `McpServer::tools` gives what there is now.",
            ),
            entry(
                McpError::Changed { server: server(), tool: tool() },
                "It was read-only, idempotent, or ran without a \
                   question, and would not now. A person should look before the tools are listed anew.",
            ),
            entry(
                McpError::NeedsInput { server: server(), tool: tool() },
                "The answer was a question back, or a task that \
                   runs on; neither is taken.",
            ),
            entry(
                McpError::Resting { server: server(), failures: 5, again_in: Duration::from_secs(30) },
                "Retryable. How \
                   many and how long is said by `Restarts::rest_after`.",
            ),
            entry(McpError::Closed { server: server() }, "After `McpServer::close`."),
        ],
    }
}

pub(crate) async fn offers() -> Section {
    let entry = |error: &OfferError, means| Entry::variant("OfferError", error, means);
    let graph =
        Graph::<Trip>::builder("trip").node("plan", async || {}).edge(START, "plan").compile().expect("a graph");
    let runner = graph.runner();
    let offer = |name: &str, schema: Value| {
        ToolOffer::with_schema(&runner, name, "Plans trips.", schema, |_| Ok(Trip::update()))
    };
    let object = || json!({"type": "object"});
    let serve = async |server: GraphServer| {
        server.serve(tokio::io::empty(), tokio::io::sink()).await.expect_err("it can't be served")
    };
    let hotel = || GraphServer::new("hotel");
    let dotted = serve(hotel().offer(offer("my.trip", object()))).await;
    let twice = serve(hotel().offer(offer("trip", object())).offer(offer("trip", object()))).await;
    let no_object = serve(hotel().offer(offer("trip", json!({"type": "array"})))).await;
    let thread = json!({"type": "object", "properties": {"thread": {"type": "string"}}});
    let thread = serve(hotel().offer(offer("trip", thread))).await;
    let nothing = serve(hotel()).await;
    let nobody = serve(hotel().offer(offer("trip", object()))).await;
    Section {
        title: "Offering graphs as MCP tools",
        intro: "Given by `GraphServer::serve`, before anything runs. What a turn ends with is a result of its call.",
        entries: vec![
            entry(&dotted, "`_resume` is added for the second tool, so that 64 letters are left for both."),
            entry(&twice, "Also a tool whose name is that of another one and `_resume`."),
            entry(&no_object, "Arguments of a call are always an object."),
            entry(&thread, "It is added, and read before the input is."),
            entry(&nothing, "A client would find nothing to call."),
            entry(
                &nobody,
                "The rest of the reason is that of `rmcp`. Started in a terminal, a server waits for an input that \
                   nobody types.",
            ),
        ],
    }
}
