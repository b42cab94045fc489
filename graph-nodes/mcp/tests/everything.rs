//! The protocol's own server for tests, a program for Node, over its output and over HTTP on loopback.
//!
//! `.ci/stages/mcp.sh` installs it. Without it these tests say so and pass, unless `CI` is set.

mod fixtures;

use std::path::PathBuf;
use std::time::Duration;

use fixtures::{Trip, is_there};
use graph_nodes::message::Content;
use graph_nodes::tool::{ToolBox, tool_once};
use graph_nodes_mcp::{Command, Handshake, McpServer, Restarts};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

/// The program, or `None` where the tests are skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn everything() -> Option<PathBuf> {
    let path = std::env::var_os("GRAPH_ENGINE_MCP_EVERYTHING").map(PathBuf::from).filter(|path| path.exists());
    if path.is_none() {
        let why = "the server `everything` is missing: run `source .ci/stages/mcp.sh`";
        assert!(std::env::var_os("CI").is_none(), "{why}");
        eprintln!("skipped. {why}");
    }
    path
}

async fn said(server: &McpServer, tool: &str, arguments: Value) -> Result<Vec<Content>, String> {
    let name = format!("all.{tool}");
    let tool = server.tools().unwrap().into_iter().find(|tool| tool.name() == name).expect("a tool of this name");
    let reply = tool_once::<Trip>(tool, &arguments).run().await.map_err(|error| error.to_string())?;
    Ok(reply.content().unwrap())
}

/// What every transport must give.
async fn check(server: &McpServer) {
    assert_eq!(server.problems(), []);
    let mut tools = server.tools().unwrap();
    // It adds one more after the greeting, which is in the list or not yet.
    tools.retain(|tool| tool.name() != "all.simulate-research-query");
    assert_eq!(tools.len(), 12);
    let writes: Vec<&str> = tools.iter().filter(|tool| !tool.is_read_only()).map(|tool| tool.name()).collect();
    assert_eq!(writes, ["all.gzip-file-as-resource", "all.toggle-simulated-logging", "all.toggle-subscriber-updates"]);
    let tools = ToolBox::<Trip>::builder().tools(tools).build().unwrap();
    assert_eq!(tools.expose(["all.get-sum"]).unwrap().names(), ["all__get-sum"]);

    let text = |text: &str| vec![Content::text(text)];
    assert_eq!(said(server, "echo", json!({"message": "grüße"})).await.unwrap(), text("Echo: grüße"));
    assert_eq!(said(server, "get-sum", json!({"a": 2, "b": 3})).await.unwrap(), text("The sum of 2 and 3 is 5."));
    let error = said(server, "get-sum", json!({"a": "2", "b": 3})).await.unwrap_err();
    assert!(error.contains("at `/a`: expected a number, found the text \"2\""), "{error}");
    let weather = json!({"location": "New York"});
    let weather = said(server, "get-structured-content", weather).await.unwrap();
    assert_eq!(weather, text(r#"{"temperature":33,"conditions":"Cloudy","humidity":82}"#));
    let image = said(server, "get-tiny-image", json!({})).await.unwrap();
    let Content::Text { text } = &image[0] else { panic!("{image:?}") };
    assert!(text.contains("[image of type image/png, ") && text.contains(" bytes, not shown]"), "{text}");
    let links = said(server, "get-resource-links", json!({"count": 3})).await.unwrap();
    let artifacts = links.iter().filter(|content| matches!(content, Content::Artifact { .. })).count();
    assert_eq!(artifacts, 3, "{links:?}");
    // Progress on the way is taken and doesn't disturb.
    let long = json!({"duration": 0.2, "steps": 4});
    let long = said(server, "trigger-long-running-operation", long).await.unwrap();
    assert_eq!(long, [Content::text("Long running operation completed. Duration: 0.2 seconds, Steps: 4.")]);
    assert_eq!((server.health().starts, server.health().deaths), (1, 0));
}

#[tokio::test]
async fn everything_over_its_output() {
    let Some(path) = everything() else { return };
    for handshake in [Handshake::Initialize, Handshake::Auto] {
        let command = Command::new("node").arg(&path).arg("stdio");
        let server = McpServer::stdio("all", command).handshake(handshake).connect().await.unwrap();
        check(&server).await;
        let env = said(&server, "get-env", json!({})).await.unwrap();
        assert!(!format!("{env:?}").contains("CARGO_MANIFEST_DIR"), "{env:?}");
        server.close().await;
    }
}

#[tokio::test]
async fn everything_is_killed_and_started_again() {
    let Some(path) = everything() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // The shell writes down its process id, which becomes the server's.
    let script = r#"echo "$$" >> "$PIDS"; exec node "$0" stdio"#;
    let command = Command::new("sh").args(["-c", script]).arg(&path).env("PIDS", &pids);
    let restarts = Restarts::new().backoff(Duration::from_millis(20), Duration::from_millis(100));
    let server = McpServer::stdio("all", command).restarts(restarts).connect().await.unwrap();
    let pid = std::fs::read_to_string(&pids).unwrap().trim().to_owned();
    let long = said(&server, "trigger-long-running-operation", json!({"duration": 3, "steps": 1}));
    let kill = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(tokio::process::Command::new("kill").args(["-9", &pid]).status().await.unwrap().success());
    };
    let (long, ()) = tokio::join!(long, kill);
    // It only reads, so it was sent again.
    assert_eq!(long.unwrap(), [Content::text("Long running operation completed. Duration: 3 seconds, Steps: 1.")]);
    assert_eq!((server.health().starts, server.health().deaths, server.health().resent), (2, 1, 1));
    server.close().await;
    for pid in std::fs::read_to_string(&pids).unwrap().lines() {
        assert!(!is_there(pid), "{pid}");
    }
}

#[tokio::test]
async fn everything_over_http() {
    let Some(path) = everything() else { return };
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let loopback = here.join("../../.ci/mcp/loopback.cjs").canonicalize().unwrap();
    let mut node = tokio::process::Command::new("node");
    node.arg("-r").arg(loopback).arg(path).arg("streamableHttp").env("PORT", "0").kill_on_drop(true);
    node.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut node = node.spawn().unwrap();
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let port = loop {
        let line = lines.next_line().await.unwrap().expect("the server says its port");
        if let Some(port) = line.strip_prefix("loopback port ") {
            break port.to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    for handshake in [Handshake::Initialize, Handshake::Auto] {
        let server = McpServer::http("all", format!("http://127.0.0.1:{port}/mcp"));
        let server = server.handshake(handshake).connect().await.unwrap();
        check(&server).await;
        server.close().await;
    }
    node.kill().await.unwrap();
}
