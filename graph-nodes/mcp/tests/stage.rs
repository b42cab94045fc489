//! Tools of a server in a stage, through the whole engine.

mod fixtures;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fixtures::{Shop, inside, lines, program};
use graph_engine::{Graph, Log, State, Status};
use graph_engine_sqlite::SqliteStore;
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::message::{CallStatus, Message, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{Draft, GateBook, Seat};
use graph_nodes::tool::{ConfirmQuestion, Confirmation, ToolBox};
use graph_nodes_mcp::McpServer;
use serde_json::json;

#[derive(State, Clone, Default)]
struct Talk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
    cursor: Cursor,
}

fn seat() -> Seat<Talk> {
    Seat { history: Talk::HISTORY, draft: Talk::DRAFT, book: Talk::BOOK }
}

fn graph(server: &McpServer, names: &[&str]) -> Graph<Talk> {
    let tools = ToolBox::builder().tools(server.tools().unwrap()).build().unwrap();
    let stage = Stage::new("talk").tools(names.iter().copied());
    Flow::new("talk", seat(), Talk::CURSOR).stage(stage).tools(tools).build().unwrap()
}

fn model(turns: impl IntoIterator<Item = Turn>) -> Arc<dyn ChatModel> {
    Arc::new(ScriptedModel::new(turns))
}

fn answers(talk: &Talk) -> Vec<(String, Option<CallStatus>)> {
    let answers = talk.history.iter().filter(|message| message.call_id().is_some());
    answers.map(|message| (message.text(), message.status())).collect()
}

async fn shop(log: &Path) -> McpServer {
    McpServer::stdio("shop", program(&format!("log={}", log.display()))).connect().await.unwrap()
}

#[tokio::test]
async fn a_destructive_call_waits_for_a_person_over_a_restart_and_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let (log, file) = (folder.path().join("log"), folder.path().join("threads.sqlite"));
    let calls = [
        ToolCall::new("c1", "shop__echo", &json!({"text": "hello"})),
        ToolCall::new("c2", "shop__wipe", &json!({"text": "the floor"})),
        ToolCall::new("c3", "shop__add", &json!({"text": "a note"})),
    ];
    {
        let server = shop(&log).await;
        let graph = graph(&server, &["shop.echo", "shop.wipe", "shop.add"]);
        let store = SqliteStore::open(&file).unwrap();
        let thread = graph.runner().store(store).provide_arc(model([Turn::calls(calls)])).thread("guest-7");
        let paused = thread.run(seat().user("Clean up")).await.unwrap();
        assert_eq!(paused.status, Status::Paused);
        let question: ConfirmQuestion = serde_json::from_value(paused.interrupts()[0].question.clone()).unwrap();
        assert_eq!(question.text, "May `shop.wipe` run?");
        assert_eq!(question.calls[0].arguments, json!({"text": "the floor"}));
        assert_eq!(question.details["destructive"], true);
        server.close().await;
    }
    // Another process would begin here: a new server, a new graph, the store from its file.
    let server = shop(&log).await;
    let graph = graph(&server, &["shop.echo", "shop.wipe", "shop.add"]);
    let store = SqliteStore::open(&file).unwrap();
    let thread = graph.runner().store(store).provide_arc(model([Turn::text("All clean.")])).thread("guest-7");
    let end = thread.resume(Confirmation::yes()).await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("All clean."));
    let ok = |text: &str| (text.to_owned(), Some(CallStatus::Ok));
    assert_eq!(answers(&end.state), [ok("echo says: hello"), ok("done: the floor"), ok("done: a note")]);
    check_history(end.state.history.iter()).unwrap();
    let seen = lines(&log, |_| true).await;
    let calls: Vec<&String> = seen.iter().filter(|line| line.starts_with("call")).collect();
    assert_eq!(calls, ["call echo hello", "call wipe the floor", "call add a note"]);
}

#[tokio::test]
async fn a_person_who_says_no_keeps_the_call_from_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = shop(&log).await;
    let graph = graph(&server, &["shop.wipe"]);
    let wipe = ToolCall::new("c1", "shop__wipe", &json!({"text": "all"}));
    let model = model([Turn::calls([wipe]), Turn::text("As you like.")]);
    let store = graph_engine::MemoryStore::new();
    let thread = graph.runner().store(store).provide_arc(model).thread("guest-7");
    thread.run(seat().user("Wipe it")).await.unwrap();
    let end = thread.resume(Confirmation::no().reason("not today")).await.unwrap();
    assert_eq!(answers(&end.state)[0].1, Some(CallStatus::Declined));
    assert!(lines(&log, |_| true).await.iter().all(|line| !line.starts_with("call")));
}

#[tokio::test(start_paused = true)]
async fn calls_that_only_read_run_beside_each_other() {
    let server = inside(&Shop::new("")).timeout(Duration::from_secs(5)).connect().await.unwrap();
    let graph = graph(&server, &["shop.meet"]);
    let meet = |id: &str| ToolCall::new(id, "shop__meet", &json!({}));
    let model = model([Turn::calls([meet("c1"), meet("c2")]), Turn::text("They met.")]);
    let end = graph.runner().provide_arc(model).thread("guest-7").run(seat().user("Meet")).await.unwrap();
    // One alone would wait until its time is over.
    assert_eq!(answers(&end.state), [("met".into(), Some(CallStatus::Ok)), ("met".into(), Some(CallStatus::Ok))]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_cancels_its_calls_on_the_server() {
    let shop = Shop::new("");
    let server = inside(&shop).connect().await.unwrap();
    let graph = graph(&server, &["shop.hang"]);
    let model = model([Turn::calls([ToolCall::new("c1", "shop__hang", &json!({}))])]);
    let turn = graph.runner().provide_arc(model).thread("guest-7").run(seat().user("Hang"));
    let end = turn.cancel_on(tokio::time::sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!(end.status, Status::Cancelled);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(*shop.seen.lock().unwrap(), ["list -", "call hang", "cancelled hang"]);
}

#[tokio::test]
async fn a_server_that_dies_in_a_stage_is_an_answer_and_the_turn_goes_on() {
    let server = McpServer::stdio("shop", program("")).connect().await.unwrap();
    let graph = graph(&server, &["shop.crash", "shop.echo"]);
    let crash = ToolCall::new("c1", "shop__crash", &json!({}));
    let echo = ToolCall::new("c2", "shop__echo", &json!({"text": "still here"}));
    let model = model([Turn::calls([crash, echo]), Turn::text("One of two.")]);
    let end = graph.runner().provide_arc(model).thread("guest-7").run(seat().user("Try")).await.unwrap();
    let answers = answers(&end.state);
    assert!(answers[0].0.contains("ended while `crash` ran") && answers[0].1 == Some(CallStatus::Error));
    assert_eq!(answers[1], ("echo says: still here".to_owned(), Some(CallStatus::Ok)));
    assert_eq!(server.health().starts, 2);
}
