//! The lists as tools of a graph: one message for each call, whatever comes of it.

use std::sync::{Arc, Mutex};

use graph_engine::{Graph, Log, MemoryStore, START, State, Thread};
use graph_nodes::batch::{BatchReport, BatchStatus, BatchWrite};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{CallStatus, Message, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{Tool, ToolBox};
use serde_json::{Value, json};

use crate::support::{Act, Backend, numbered};

#[derive(State, Clone, Default)]
struct Shop {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

fn seat() -> Seat<Shop> {
    Seat { history: Shop::HISTORY, draft: Shop::DRAFT, book: Shop::BOOK }
}

/// The tool messages that answer one response with these arguments for calls of `tool`.
async fn answers(tool: impl Tool<Shop>, arguments: impl IntoIterator<Item = Value>) -> Vec<Message> {
    tool_messages(&shop(tool, arguments).run(seat().user("hi")).await.unwrap().state)
}

fn tool_messages(shop: &Shop) -> Vec<Message> {
    check_history(shop.history.iter()).unwrap();
    shop.history.iter().filter(|message| message.call_id().is_some()).cloned().collect()
}

/// A thread whose model calls `tool` with these arguments in one response.
fn shop(tool: impl Tool<Shop>, arguments: impl IntoIterator<Item = Value>) -> Thread<Shop> {
    let (name, seat) = (tool.spec().name.clone(), seat());
    let tools = ToolBox::builder().tool(tool).build().unwrap();
    let agent = AgentNode::new("support", seat).tools(tools.clone());
    let gate = GateNode::new("support", seat, GatePolicy::new(), Validators::new()).calls("tools");
    let run = ToolsNode::new("support", seat, tools, [&name]).then("agent");
    let graph = Graph::<Shop>::builder("shop")
        .cluster("support", "agent", |stage| {
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let calls = arguments.into_iter().enumerate();
    let calls = calls.map(|(at, arguments)| ToolCall::new(format!("c{at}"), &name, &arguments));
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([Turn::calls(calls), Turn::text("done")]));
    graph.runner().store(MemoryStore::new()).provide_arc(model).thread("t")
}

fn report(message: &Message) -> BatchReport {
    serde_json::from_str(&message.text()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_lookup_is_a_tool_with_one_argument_and_its_report_is_the_answer() {
    let backend = Backend::default();
    let tool = backend.orders(|_| Act::After(0)).into_tool("order_status", "Looks up orders.");
    let messages = answers(tool, [json!({"ids": numbered(1, 12)}), json!({"ids": ["17"]})]).await;
    assert_eq!(messages[0].status(), Some(CallStatus::Ok));
    assert!(messages[0].text().starts_with(r#"{"summary":{"status":"ok","requested":12,"ok":12,"#));
    assert_eq!(report(&messages[0]).summary.status, BatchStatus::Ok);
    // Nothing was answered: the same report, as an error of the call.
    assert_eq!(messages[1].status(), Some(CallStatus::Error));
    assert_eq!(report(&messages[1]).summary.invalid, 1);
    assert_eq!(backend.sizes(), [(0, 10), (0, 2)]);
}

#[tokio::test(start_paused = true)]
async fn b1_and_b2_a_tool_call_without_ids_is_answered_with_an_error() {
    let backend = Backend::default();
    let tool = backend.orders(|_| Act::After(0)).into_tool("order_status", "Looks up orders.");
    let arguments =
        [json!({"ids": []}), json!({"ids": ["", " "]}), json!({"ids": null}), json!({"ids": [null]}), json!({})];
    let messages = answers(tool, arguments).await;
    assert!(messages.iter().all(|message| message.status() == Some(CallStatus::Error)));
    let texts: Vec<String> = messages.iter().map(Message::text).collect();
    assert_eq!(texts[..2], ["no id is left once blank ones are dropped; name at least one"; 2]);
    let refused = |what: &str| {
        format!("the arguments of `order_status` don't fit its schema: {what}; correct them and call again")
    };
    assert_eq!(texts[2], refused("at `/ids`: expected an array, found null"));
    assert_eq!(texts[3], refused("at `/ids/0`: expected a string, found null"));
    assert_eq!(texts[4], refused("at `/ids`: missing, but required"));
    assert_eq!(backend.sizes(), []);
}

#[tokio::test(start_paused = true)]
async fn a_write_is_a_tool_too_and_a_second_call_changes_nothing() {
    let write = BatchWrite::new("cancel", |write| async move { Ok(format!("{} cancelled", write.id)) });
    let ids = || json!({"ids": ["ORD-1"]});
    let messages = answers(write.into_tool("cancel_orders", "Cancels orders."), [ids(), ids()]).await;
    assert_eq!(messages[0].text(), messages[1].text());
    assert_eq!(report(&messages[0]).summary.ok, 1);
}

#[tokio::test(start_paused = true)]
async fn b17_an_irreversible_write_is_one_question_with_the_whole_list_and_a_person_may_choose() {
    let all = |answer: Value, done: &[&str], status, outcomes: [&str; 3]| {
        let done: Vec<String> = done.iter().map(ToString::to_string).collect();
        (answer, done, status, outcomes.map(str::to_owned))
    };
    for (answer, done, status, outcomes) in [
        all(json!(true), &["ORD-1", "ORD-2"], CallStatus::Ok, ["ok", "invalid", "ok"]),
        all(json!({"approve": true, "only": [1]}), &["ORD-2"], CallStatus::Ok, ["skipped", "invalid", "ok"]),
        all(json!(false), &[], CallStatus::Declined, ["", "", ""]),
    ] {
        let effects = Arc::new(Mutex::new(Vec::new()));
        let written = effects.clone();
        let delete = BatchWrite::new("delete", move |write| {
            written.lock().unwrap().push(write.id);
            async { Ok(()) }
        });
        let delete = delete.irreversible().validate(|id| if id == "X" { Err("no order".into()) } else { Ok(()) });
        let tool = delete.into_tool("delete_orders", "Deletes orders.");
        let thread = shop(tool, [json!({"ids": ["ORD-1", "X", "ORD-2", "ORD-1"]})]);
        let paused = thread.run(seat().user("hi")).await.unwrap();
        let [asked] = paused.interrupts() else { panic!("one question") };
        assert_eq!(asked.question["text"], "May `delete` be done to 2 ids? It can't be undone.");
        assert_eq!(
            asked.question["details"],
            json!({"operation": "delete", "items": [{"id": "ORD-1"}, {"id": "ORD-2"}]})
        );
        assert!(effects.lock().unwrap().is_empty());

        let wrong = thread.resume(json!({"approve": true, "only": [2]})).await.unwrap_err();
        assert!(wrong.to_string().contains("`only` names parts from 0 to 1"), "{wrong}");
        let end = thread.resume(answer).await.unwrap();
        let messages = tool_messages(&end.state);
        assert_eq!((messages[0].status(), effects.lock().unwrap().clone()), (Some(status), done));
        if status == CallStatus::Ok {
            let report = report(&messages[0]);
            let found = ["ORD-1", "X", "ORD-2"].map(|id| serde_json::to_value(report.outcome(id)).unwrap());
            assert_eq!(found.map(|outcome| outcome["status"].as_str().unwrap().to_owned()), outcomes);
            assert_eq!((report.summary.duplicates, report.confirmation), (1, None));
        }
    }
}
