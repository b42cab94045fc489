//! Calls of a server in this process, under the paused clock.

mod fixtures;

use std::time::Duration;

use fixtures::{Shop, inside, reply, said, tool};
use graph_nodes::message::{Artifact, Content};
use graph_nodes::tool::{Confirm, Tool, ToolBox, ToolBoxError};
use graph_nodes_mcp::{Handshake, McpError, Restarts, ToolPolicy, Trust};
use serde_json::json;

use crate::fixtures::Trip;

#[tokio::test(start_paused = true)]
async fn a_tool_is_listed_called_and_answers() {
    let shop = Shop::new("");
    let server = inside(&shop).connect().await.unwrap();
    assert_eq!(said(&server, "echo", json!({"text": "hello"})).await.unwrap(), "echo says: hello");
    assert_eq!(*shop.seen.lock().unwrap(), ["list -", "call echo hello"]);
    let echo = tool(&server, "echo");
    assert_eq!((echo.name(), echo.spec().name.as_str()), ("shop.echo", "shop__echo"));
    assert_eq!(echo.spec().description, "The tool echo.");
    assert_eq!(echo.spec().parameters["required"], json!(["text"]));
}

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_before_anything_is_sent() {
    let shop = Shop::new("");
    let server = inside(&shop).connect().await.unwrap();
    let error = said(&server, "echo", json!({"text": 7})).await.unwrap_err();
    let expected = "the arguments of `shop__echo` don't fit its schema: at `/text`: expected a string, found 7; correct them and call again";
    assert_eq!(error, expected);
    assert_eq!(*shop.seen.lock().unwrap(), ["list -"]);
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_are_read() {
    let shop = Shop::new("page=4");
    let server = inside(&shop).connect().await.unwrap();
    assert_eq!(server.tools().unwrap().len(), 17);
    assert_eq!(*shop.seen.lock().unwrap(), ["list -", "list 4", "list 8", "list 12", "list 16"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_an_error() {
    let error = inside(&Shop::new("endless")).connect().await.unwrap_err();
    assert_eq!(error, McpError::TooManyTools { server: "shop".into(), most: 2_000 });
}

#[tokio::test(start_paused = true)]
async fn an_allow_list_keeps_all_others_out() {
    let server = inside(&Shop::new("")).allow(["wipe", "echo"]).connect().await.unwrap();
    let names: Vec<String> = server.tools().unwrap().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["shop.wipe", "shop.echo"]);
    let error = inside(&Shop::new("")).allow(["echo", "ecco"]).connect().await.unwrap_err();
    assert!(error.to_string().starts_with("the MCP server `shop` has no tool `ecco`; it has `add`, `ask`,"), "{error}");
    let error = inside(&Shop::new("")).policy("ecco", ToolPolicy::new()).connect().await.unwrap_err();
    assert!(matches!(error, McpError::UnknownTool { tool, .. } if tool == "ecco"));
    let server = inside(&Shop::new("")).allow([""; 0]).connect().await.unwrap();
    assert_eq!(server.tools().unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bad_schema_spoils_its_own_tool_only_unless_it_was_asked_for() {
    let server = inside(&Shop::new("bad-schema")).connect().await.unwrap();
    assert!(server.tools().unwrap().iter().all(|tool| tool.name() != "shop.broken"));
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    let problems = server.problems();
    let text = problems[0].to_string();
    assert!(text.starts_with("the tool `broken` of the MCP server `shop` can't be offered: of its schema, it is no JSON schema, at `/properties/a/type`"), "{text}");
    let server = inside(&Shop::new("bad-schema")).allow(["broken"]).connect().await.unwrap();
    assert_eq!(server.tools().unwrap_err(), problems[0]);
}

#[tokio::test(start_paused = true)]
async fn programs_say_the_dotted_name_and_models_the_other_one() {
    let server = inside(&Shop::new("dotted")).connect().await.unwrap();
    let tools = ToolBox::<Trip>::builder().tools(server.tools().unwrap()).build().unwrap();
    let offered = tools.expose(["shop.echo", "shop__echo", "shop.files.read"]).unwrap();
    assert_eq!(offered.names(), ["shop__echo", "shop__files_read_d0376a62"]);
    assert_eq!(offered.specs()[0].name, "shop__echo");
}

#[tokio::test(start_paused = true)]
async fn two_servers_of_one_name_are_never_merged() {
    let (one, other) =
        (inside(&Shop::new("")).connect().await.unwrap(), inside(&Shop::new("")).connect().await.unwrap());
    let both = ToolBox::<Trip>::builder().tools(one.tools().unwrap()).tools(other.tools().unwrap()).build();
    assert_eq!(both.unwrap_err(), ToolBoxError::DuplicateTool { name: "shop__add".into() });
}

#[tokio::test(start_paused = true)]
async fn annotations_say_what_runs_beside_others_and_what_a_person_is_asked() {
    let server = inside(&Shop::new("")).connect().await.unwrap();
    let of = |name: &str| {
        let tool = tool(&server, name);
        let none = serde_json::Map::new();
        let (safe, reads) = (Tool::<Trip>::concurrency_safe(&tool, &none), Tool::<Trip>::read_only(&tool));
        (safe, reads, Tool::<Trip>::confirm(&tool, &none).is_some())
    };
    assert_eq!(of("echo"), (true, true, false));
    assert_eq!(of("add"), (false, false, false));
    assert_eq!(of("wipe"), (false, false, true));
    let details = json!({"server": "shop", "tool": "wipe", "destructive": true, "idempotent": false});
    let asks = Confirm::text("May `shop.wipe` run?").details(details);
    assert_eq!(Tool::<Trip>::confirm(&tool(&server, "wipe"), &serde_json::Map::new()), Some(asks));
}

#[tokio::test(start_paused = true)]
async fn without_trust_every_tool_asks_until_a_policy_says_otherwise() {
    let server = inside(&Shop::new(""))
        .trust(Trust::Nothing)
        .policy("echo", ToolPolicy::new().read_only(true))
        .policy("add", ToolPolicy::new().confirm(false))
        .connect()
        .await
        .unwrap();
    let asks: Vec<String> =
        server.tools().unwrap().iter().filter(|tool| !tool.is_confirmed()).map(|tool| tool.name().to_owned()).collect();
    assert_eq!(asks, ["shop.add", "shop.echo"]);
    assert!(tool(&server, "echo").is_read_only() && !tool(&server, "pid").is_read_only());
}

#[tokio::test(start_paused = true)]
async fn a_huge_result_is_cut_between_characters() {
    let server = inside(&Shop::new("")).max_result_bytes(1_001).connect().await.unwrap();
    let text = said(&server, "huge", json!({})).await.unwrap();
    assert_eq!(text, format!("{}\n[1999000 of 2000000 bytes are left out; ask for less at once]", "ü".repeat(500)));
}

#[tokio::test(start_paused = true)]
async fn pictures_are_described_and_references_become_artifacts() {
    let server = inside(&Shop::new("")).connect().await.unwrap();
    let content = reply(&server, "media", json!({})).await.unwrap().content().unwrap();
    let artifact = Artifact::new("file:///prices.csv").title("prices").media_type("text/csv");
    let text = format!("[image of type image/png, 3 bytes, not shown]\n{artifact}");
    assert_eq!(content, [Content::text(text), Content::Artifact { artifact }]);
}

#[tokio::test(start_paused = true)]
async fn errors_of_a_tool_and_of_the_protocol_are_answers() {
    let server = inside(&Shop::new("")).connect().await.unwrap();
    assert_eq!(said(&server, "fail", json!({})).await.unwrap_err(), "the shop is closed");
    let refused = "the MCP server `shop` refused the call of `refuse`: not with these arguments (code -32602); correct the call, or go on without it";
    assert_eq!(said(&server, "refuse", json!({})).await.unwrap_err(), refused);
    assert_eq!(server.health().failures_in_a_row, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_cancelled_on_the_server() {
    let shop = Shop::new("");
    let server = inside(&shop).timeout(Duration::from_secs(5)).connect().await.unwrap();
    let began = tokio::time::Instant::now();
    let error = said(&server, "hang", json!({})).await.unwrap_err();
    let expected = "`hang` of the MCP server `shop` gave no answer within 5s and was cancelled; what it should do may have happened or not";
    assert_eq!((error.as_str(), began.elapsed().as_secs()), (expected, 5));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(shop.seen.lock().unwrap().last().unwrap(), "cancelled hang");
    // The connection is not touched by it.
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    assert_eq!((server.health().starts, server.health().timeouts), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_policy_has_its_own_time() {
    let policy = ToolPolicy::new().timeout(Duration::from_secs(2));
    let server = inside(&Shop::new("")).policy("hang", policy).connect().await.unwrap();
    let began = tokio::time::Instant::now();
    said(&server, "hang", json!({})).await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_it_on_the_server() {
    let shop = Shop::new("");
    let server = inside(&shop).connect().await.unwrap();
    let call = said(&server, "hang", json!({}));
    tokio::time::timeout(Duration::from_secs(1), call).await.unwrap_err();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(*shop.seen.lock().unwrap(), ["list -", "call hang", "cancelled hang"]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_take_too_long_together_are_one_failure() {
    let server = inside(&Shop::new("")).timeout(Duration::from_secs(5)).connect().await.unwrap();
    let hang = || said(&server, "hang", json!({}));
    let errors = tokio::join!(hang(), hang(), hang(), hang(), hang(), hang());
    assert!(errors.0.is_err() && errors.5.is_err());
    assert_eq!((server.health().timeouts, server.health().failures_in_a_row), (6, 1));
    // It is not left alone for it.
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    assert_eq!(server.health().starts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_nothing_is_ended_and_left_alone_for_a_while() {
    let shop = Shop::new("");
    let restarts = Restarts::new().rest_after(2, Duration::from_secs(30));
    let server = inside(&shop).timeout(Duration::from_secs(5)).restarts(restarts).connect().await.unwrap();
    said(&server, "hang", json!({})).await.unwrap_err();
    assert_eq!(server.health().deaths, 0);
    said(&server, "hang", json!({})).await.unwrap_err();
    assert_eq!(server.health().deaths, 1);
    let error = said(&server, "echo", json!({"text": "a"})).await.unwrap_err();
    assert_eq!(
        error,
        "the MCP server `shop` failed 2 times in a row and is left alone for another 30s; its tools can't be used until then"
    );
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    assert_eq!((server.health().starts, server.health().failures_in_a_row), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_is_noticed_and_what_vanished_is_answered_as_an_error() {
    for handshake in [Handshake::Initialize, Handshake::Discover, Handshake::Auto] {
        let shop = Shop::new("");
        let server = inside(&shop).handshake(handshake).connect().await.unwrap();
        let echo = tool(&server, "echo");
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(said(&server, "change", json!({})).await.unwrap(), "changed");
        tokio::time::sleep(Duration::from_millis(1)).await;
        let error = graph_nodes::tool::tool_once::<Trip>(echo, &json!({"text": "a"})).run().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the MCP server `shop` no longer has the tool `echo`; use another one",
            "{handshake:?}"
        );
        // What is new is there for whoever asks.
        assert_eq!(said(&server, "new", json!({})).await.unwrap(), "new says: ");
        assert_eq!(server.health().list_changes, 1, "{handshake:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_became_more_dangerous_is_not_called_on_an_old_promise() {
    let server = inside(&Shop::new("stricter")).connect().await.unwrap();
    let echo = tool(&server, "echo");
    said(&server, "change", json!({})).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let error = graph_nodes::tool::tool_once::<Trip>(echo, &json!({"text": "a"})).run().await.unwrap_err();
    let expected = "the MCP server `shop` now says that `echo` does more than it said before; it is not called until the tools are listed anew";
    assert_eq!(error.to_string(), expected);
    assert!(tool(&server, "echo").is_confirmed());
}

#[tokio::test(start_paused = true)]
async fn what_a_server_asks_for_is_refused_and_counted() {
    let server = inside(&Shop::new("")).connect().await.unwrap();
    let text = said(&server, "ask", json!({})).await.unwrap();
    let expected = "ping: ok\nsampling: -32601 this client doesn't offer sampling\nroots: -32601 this client doesn't offer roots\nelicitation: -32601 this client doesn't offer elicitation";
    assert_eq!((text.as_str(), server.health().refused_requests), (expected, 3));
    assert_eq!(said(&server, "progress", json!({})).await.unwrap(), "progressed");
}

#[tokio::test(start_paused = true)]
async fn a_closed_server_says_so() {
    let server = inside(&Shop::new("")).connect().await.unwrap();
    server.close().await;
    let error = said(&server, "echo", json!({"text": "a"})).await.unwrap_err();
    assert_eq!(error, "the MCP server `shop` was closed by this program; its tools can't be used any more");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_too_long_to_list_its_tools_is_an_error() {
    let error =
        inside(&Shop::new("slow-list=10000")).start_timeout(Duration::from_secs(3)).connect().await.unwrap_err();
    assert_eq!(
        error,
        McpError::StartTimeout { server: "shop".into(), after: Duration::from_secs(3), last_words: String::new() }
    );
}

#[tokio::test]
async fn names_of_servers_are_checked() {
    for name in ["", "a.b", "a__b", "a_", "grüße", &"a".repeat(33)] {
        let error = graph_nodes_mcp::McpServer::stdio(name, fixtures::program("")).connect().await.unwrap_err();
        assert!(matches!(error, McpError::BadServerName { .. }), "{error}");
    }
}
