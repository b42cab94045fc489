//! A server that is a child: its crashes, its noise, its environment and its end. The clock is the real one.

mod fixtures;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixtures::{child, is_alive, is_there, lines, program, said, tool};
use graph_nodes_mcp::{McpError, McpServer, Restarts};
use serde_json::json;

fn quick() -> Restarts {
    Restarts::new().backoff(Duration::from_millis(20), Duration::from_millis(50))
}

#[tokio::test]
async fn a_call_that_dies_with_the_server_is_an_error_and_the_next_one_starts_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = child(&format!("log={}", log.display())).restarts(quick()).connect().await.unwrap();
    let first = said(&server, "pid", json!({})).await.unwrap();
    let error = said(&server, "crash", json!({})).await.unwrap_err();
    let expected = "the MCP server `shop` ended while `crash` ran; what it should do may have happened or not, so look before you call it again";
    assert_eq!(error, expected);
    let second = said(&server, "pid", json!({})).await.unwrap();
    assert_ne!(first, second);
    let health = server.health();
    assert_eq!((health.starts, health.deaths, health.calls, health.resent), (2, 1, 3, 0));
    assert_eq!(health.failures_in_a_row, 0);
    // Its tools were listed again, and the call that died was not sent twice.
    let seen = lines(&log, |_| true).await;
    assert_eq!(seen.iter().filter(|line| line.starts_with("call crash")).count(), 1);
    assert_eq!(seen.iter().filter(|line| line.starts_with("list")).count(), 2);
}

#[tokio::test]
async fn calls_that_only_read_or_may_be_repeated_are_sent_again_once() {
    for name in ["crash_reading", "crash_idempotent"] {
        let folder = tempfile::tempdir().unwrap();
        let words = format!("crash-once={}", folder.path().join("crashed").display());
        let server = child(&words).restarts(quick()).connect().await.unwrap();
        assert_eq!(said(&server, name, json!({})).await.unwrap(), "alive again");
        assert_eq!((server.health().starts, server.health().resent), (2, 1));
        // One that always crashes the server is sent twice and no more.
        let server = child("").restarts(quick()).connect().await.unwrap();
        assert!(said(&server, name, json!({})).await.unwrap_err().contains("ended while"));
        assert_eq!((server.health().calls, server.health().resent), (2, 1));
    }
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_is_left_alone() {
    let restarts = quick().rest_after(3, Duration::from_secs(60));
    let server = child("crash-on-call=1").restarts(restarts).connect().await.unwrap();
    for _ in 0..3 {
        assert!(said(&server, "add", json!({"text": "a"})).await.unwrap_err().contains("ended while `add` ran"));
    }
    let error = said(&server, "add", json!({"text": "a"})).await.unwrap_err();
    assert!(
        error.starts_with("the MCP server `shop` failed 3 times in a row and is left alone for another"),
        "{error}"
    );
    assert_eq!((server.health().starts, server.health().deaths, server.health().failures_in_a_row), (3, 3, 3));
}

#[tokio::test]
async fn a_tool_that_is_gone_after_a_restart_is_answered_as_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("vanish={}", folder.path().join("listed").display());
    let server = child(&words).restarts(quick()).connect().await.unwrap();
    let echo = tool(&server, "echo");
    said(&server, "crash", json!({})).await.unwrap_err();
    let call = graph_nodes::tool::tool_once::<fixtures::Trip>(echo, &json!({"text": "a"}));
    let error = call.run().await.unwrap_err().to_string();
    assert_eq!(error, "the MCP server `shop` no longer has the tool `echo`; use another one");
}

#[tokio::test]
async fn calls_at_once_that_lose_their_server_start_it_once() {
    let server = child("").restarts(quick()).connect().await.unwrap();
    let (hang, crash) = (said(&server, "hang", json!({})), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        said(&server, "crash", json!({})).await
    });
    let hang = tokio::time::timeout(Duration::from_secs(5), hang);
    let (hang, crash) = tokio::join!(hang, crash);
    // The one that reads was sent again, and hangs again.
    assert!(hang.is_err());
    assert!(crash.unwrap_err().contains("ended while `crash` ran"));
    assert_eq!((server.health().starts, server.health().deaths), (2, 1));
}

#[tokio::test]
async fn a_dropped_call_reaches_the_child_as_a_cancellation() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = child(&format!("log={}", log.display())).connect().await.unwrap();
    let call = said(&server, "hang", json!({}));
    tokio::time::timeout(Duration::from_millis(300), call).await.unwrap_err();
    lines(&log, |lines| lines.iter().any(|line| line == "cancelled hang")).await;
}

#[tokio::test]
async fn garbage_on_both_outputs_is_survived_and_secrets_are_hidden() {
    let command = program("garbage").secret_env("SHOP_TOKEN", "t0ken-t0ken");
    assert!(!format!("{command:?}").contains("t0ken"));
    let server = McpServer::stdio("shop", command).connect().await.unwrap();
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    let env = said(&server, "env", json!({})).await.unwrap();
    assert!(env.contains("SHOP_TOKEN=[secret]") && !env.contains("t0ken-t0ken"), "{env}");
    assert!(!format!("{server:?}").contains("t0ken"));
}

/// Keeps what is logged by this package, a line for each event.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Logged {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{}={value:?} ", field.name());
            }
        }
        if event.metadata().target().starts_with("graph_nodes_mcp") {
            let mut text = Text(String::new());
            event.record(&mut text);
            self.0.lock().unwrap().push(text.0);
        }
    }
}

#[tokio::test]
async fn what_a_child_writes_is_logged_bounded_and_without_secrets() {
    use tracing_subscriber::layer::SubscriberExt;
    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(logged.clone()));
    let command = program("garbage").secret_env("SHOP_TOKEN", "t0ken-t0ken");
    let server = McpServer::stdio("shop", command).connect().await.unwrap();
    said(&server, "echo", json!({"text": "a"})).await.unwrap();
    // All noise was read, or the child would wait for somebody to take it.
    server.close().await;
    let lines = logged.0.lock().unwrap().clone();
    let wrote = lines.iter().filter(|line| line.contains("wrote to its error output")).count();
    let more = lines.iter().filter(|line| line.contains("further lines of its error output are not logged")).count();
    assert_eq!((wrote, more), (1_000, 1), "{:?}", lines.last());
    assert!(lines[0].contains("secret of the shop: [secret]"), "{}", lines[0]);
    assert!(lines.iter().all(|line| !line.contains("t0ken") && line.len() < 1_400));
}

#[tokio::test]
async fn a_child_sees_little_of_the_environment() {
    // Cargo sets many variables for a test; `CARGO_MANIFEST_DIR` is one of them.
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let server = child("").connect().await.unwrap();
    let env = said(&server, "env", json!({})).await.unwrap();
    let known = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];
    let names: Vec<&str> = env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.contains(&"PATH") && names.iter().all(|name| known.contains(name)), "{names:?}");
    let command = program("").inherit(["CARGO_MANIFEST_DIR", "NOT_SET"]).env("CITY", "Oslo");
    let server = McpServer::stdio("shop", command).connect().await.unwrap();
    let env = said(&server, "env", json!({})).await.unwrap();
    assert!(env.contains(&format!("CARGO_MANIFEST_DIR={here}")) && env.contains("CITY=Oslo"), "{env}");
}

#[tokio::test]
async fn a_child_ends_with_the_last_handle_and_leaves_no_zombie() {
    let server = child("").connect().await.unwrap();
    let pid = said(&server, "pid", json!({})).await.unwrap();
    let (other, echo) = (server.clone(), tool(&server, "echo"));
    drop(server);
    drop(other);
    assert!(is_alive(&pid));
    drop(echo);
    for _ in 0..1_000 {
        if !is_there(&pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the child {pid} is still there");
}

#[tokio::test]
async fn closing_waits_for_the_end_of_a_child_that_ignores_its_closed_input() {
    let server = child("stubborn").connect().await.unwrap();
    let pid = said(&server, "pid", json!({})).await.unwrap();
    server.close().await;
    assert!(!is_there(&pid));
    assert!(matches!(said(&server, "pid", json!({})).await, Err(error) if error.contains("closed by this program")));
}

#[test]
fn a_child_ends_with_the_runtime_too() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, pid) = runtime.block_on(async {
        let server = child("stubborn").connect().await.unwrap();
        let pid = said(&server, "pid", json!({})).await.unwrap();
        (server, pid)
    });
    drop(runtime);
    for _ in 0..1_000 {
        if !is_alive(&pid) {
            drop(server);
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the child {pid} is still alive");
}

#[tokio::test]
async fn a_program_that_does_not_start_or_does_not_speak_is_an_error_with_its_last_words() {
    let command = program("die").secret_env("SHOP_TOKEN", "t0ken-t0ken");
    let error = McpServer::stdio("shop", command).connect().await.unwrap_err();
    let McpError::Handshake { reason, last_words, .. } = &error else { panic!("{error}") };
    assert_eq!(reason, "it ended before it had answered the greeting");
    assert_eq!(last_words, "no bread today, [secret]");
    let error = child("sleep").start_timeout(Duration::from_millis(300)).connect().await.unwrap_err();
    assert!(matches!(error, McpError::StartTimeout { .. }), "{error}");
    let error =
        McpServer::stdio("shop", graph_nodes_mcp::Command::new("/no/such/program")).connect().await.unwrap_err();
    let McpError::Spawn { program, .. } = &error else { panic!("{error}") };
    assert_eq!(program, "/no/such/program");
}

#[tokio::test]
async fn several_servers_at_once_know_nothing_of_each_other() {
    let one = McpServer::stdio("one", program("crash-on-call=1")).restarts(quick()).connect().await.unwrap();
    let other = McpServer::stdio("other", program("")).connect().await.unwrap();
    let call = |server: &McpServer, name: &str| {
        let tool = server.tools().unwrap().into_iter().find(|tool| tool.name() == name).unwrap();
        graph_nodes::tool::tool_once::<fixtures::Trip>(tool, &json!({"text": "a"})).run()
    };
    let (dead, alive) = tokio::join!(call(&one, "one.add"), call(&other, "other.add"));
    assert!(dead.unwrap_err().to_string().starts_with("the MCP server `one` ended"));
    assert!(alive.is_ok());
    assert_eq!((one.health().deaths, other.health().deaths), (1, 0));
}
