//! The lists as tools of a graph: one message for each call, whatever comes of it.

use std::sync::Arc;

use graph_engine::{Graph, Log, START, State};
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

/// The tool messages that answer one response with these arguments for calls of `tool`.
async fn answers(tool: impl Tool<Shop>, arguments: impl IntoIterator<Item = Value>) -> Vec<Message> {
    let name = tool.spec().name.clone();
    let seat = Seat { history: Shop::HISTORY, draft: Shop::DRAFT, book: Shop::BOOK };
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
    let end = graph.runner().provide_arc(model).thread("t").run(seat.user("hi")).await.unwrap();
    check_history(end.state.history.iter()).unwrap();
    end.state.history.iter().filter(|message| message.call_id().is_some()).cloned().collect()
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
async fn an_irreversible_write_is_answered_with_what_is_pending() {
    let write = BatchWrite::new("delete", |_| async { Ok(()) }).irreversible();
    let messages = answers(write.into_tool("delete_orders", "Deletes orders."), [json!({"ids": ["ORD-1"]})]).await;
    assert_eq!(messages[0].status(), Some(CallStatus::Ok));
    let report = report(&messages[0]);
    assert_eq!(report.summary.status, BatchStatus::PendingConfirmation);
    assert_eq!(report.confirmation.unwrap().items.len(), 1);
}
