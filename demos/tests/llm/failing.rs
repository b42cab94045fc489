//! Servers that are not there, don't know the key, or can't be used.

use crate::played::{options, talk, text};
use demos::hotel::terminal::{Options, Style, run};
use graph_nodes::message::check_history;
use graph_nodes_openai::testing::{Reply, Server};
use std::process::{Command, Stdio};

#[tokio::test]
async fn a_server_that_is_not_there_costs_three_attempts_and_an_apology() {
    // The port was free a moment ago, and nobody listens to it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (said, chat) = talk(&options(&format!("http://{free}/v1")), &["hello", "hello?"]).await;
    assert_eq!(said.matches("I am sorry, I have no good answer to that.").count(), 2, "{said}");
    let found = chat.conversations().await.unwrap().pop().unwrap();
    let totals = found.state.book.totals("explore");
    assert_eq!((totals.rounds, totals.attempts, totals.accepted_attempts), (2, 6, 0));
    assert_eq!(check_history(found.state.history.iter()), Ok(()));
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_again_and_never_shown() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-canary-7","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    let refused = || Reply::status(401).body(body);
    let server = Server::start([refused(), refused(), refused(), text("At your service.")]).await.unwrap();
    let url = server.base_url();
    let output =
        tokio::task::spawn_blocking(move || hotel(&["--llm", &url, "--model", "m"], Some("sk-canary-7"), "hello\n"))
            .await
            .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("canary"), "{said}");
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "{said}");
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-canary-7"));
}

/// The program with this key and no other one of the environment.
fn hotel(arguments: &[&str], key: Option<&str>, input: &str) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
    command.args(arguments).args(["--store", "memory", "--today", "2026-06-10"]).env_remove("OPENAI_API_KEY");
    command.envs(key.map(|key| ("OPENAI_API_KEY", key)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn what_cannot_be_used_is_said_before_anything_else() {
    let complaint = |arguments: &[&str]| {
        let output = hotel(arguments, None, "");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        complaint(&["--llm", "http://10.0.0.1/v1", "--model", "m"]),
        "hotel: there is no key for `http://10.0.0.1/v1`; set `OPENAI_API_KEY` in the environment, to anything if the \
         server wants none\n"
    );
    let said = complaint(&["--llm", "127.0.0.1:8080/v1", "--model", "m"]);
    assert!(said.starts_with("hotel: the language model can't be used: the base URL can't be used"), "{said}");
    let said = complaint(&["--llm", "http://127.0.0.1:8080/v1", "--model", " "]);
    assert!(said.contains("the name of the model is empty"), "{said}");
    for arguments in [
        &["--llm", "http://127.0.0.1/v1"][..],
        &["--model", "m"],
        &["--guided"],
        &["--local", "--faults"],
        &["--local", "--llm", "http://127.0.0.1/v1", "--model", "m"],
    ] {
        assert_eq!(hotel(arguments, None, "").status.code(), Some(2), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_small_model_that_is_not_installed_and_cannot_be_is_a_clear_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_llm");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    // A Python that can't make an environment, so that nothing is downloaded, wherever this runs.
    let python = folder.join("bin/python3");
    std::fs::write(&python, "#!/bin/sh\ntest \"$1\" != -m\n").unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotel"));
    command.args(["--local", "--store", "memory"]).env("GRAPH_ENGINE_LLM_DIR", &folder).env("PATH", path);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{said}");
    for words in [
        "about 127 MB to download",
        "local-llm: python3 can't make an environment; install its module venv",
        "hotel: the language model can't be installed; what `scripts/local-llm install` said stands above",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
}

#[tokio::test]
async fn the_offline_model_asks_nobody() {
    let server = Server::start([]).await.unwrap();
    let options = Options { store: Some("memory".into()), ..Options::default() };
    let mut said = Vec::new();
    run(&options, &b"hello\n"[..], &mut said, false, Style::PLAIN).await.unwrap();
    assert!(String::from_utf8(said).unwrap().starts_with("Hotel concierge. I am a rule-based program and offline"));
    assert_eq!(server.requests(), []);
}

#[test]
fn a_password_in_the_url_is_refused_and_never_shown() {
    let output = hotel(&["--llm", "http://user:canary-7@10.0.0.1/v1", "--model", "m"], None, "");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("the base URL holds a user or a password") && !said.contains("canary"), "{said}");
}
