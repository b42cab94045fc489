//! A `#[tool]` function in a whole stage: what its turn provides, and what stays in the history.

use std::sync::Arc;
use std::time::Duration;

use graph_engine::{Graph, Log, Res, Runner, START, State};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{Artifact, Content, Message, ToolCall};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{CancellationToken, Tool, ToolBox, ToolReply, tool};
use serde_json::json;
use tokio::sync::Notify;

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

fn runner(tool: impl Tool<Trip>, arguments: serde_json::Value) -> Runner<Trip> {
    let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    let name = tool.spec().name.clone();
    let tools = ToolBox::builder().tool(tool).build().unwrap();
    let agent = AgentNode::new("explore", seat).prompt(|_| "You plan trips.".into()).tools(tools.clone());
    let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new()).calls("tools");
    let run = ToolsNode::new("explore", seat, tools, [&name]).then("agent");
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let call = Turn::calls([ToolCall::new("c1", &name, &arguments)]);
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([call, Turn::text("done")]));
    graph.runner().provide_arc(model)
}

fn asked() -> TripUpdate {
    Trip::update().history([Message::user("go")])
}

struct Store(&'static str);

/// Writes the prices down.
#[tool]
async fn write_prices(store: Res<Store>, city: String) -> ToolReply<Trip> {
    let artifact = Artifact::new(format!("{}/{city}", store.0)).media_type("text/csv");
    ToolReply::text("written").artifact(artifact).update(Trip::update().city(city))
}

#[tokio::test(start_paused = true)]
async fn an_artifact_is_text_for_the_model_and_typed_for_a_program() {
    let end =
        runner(write_prices, json!({"city": "Oslo"})).provide(Store("s3:")).thread("t").run(asked()).await.unwrap();
    let artifact = Artifact::new("s3:/Oslo").media_type("text/csv");
    let text = "written\n{\"artifact\":\"s3:/Oslo\",\"media_type\":\"text/csv\"}";
    let answer = end.state.history.iter().find(|message| message.call_id() == Some("c1")).unwrap();
    assert_eq!(answer.content, [Content::text(text), Content::Artifact { artifact }]);
    assert_eq!(answer.text(), text);
    assert_eq!(end.state.city, "Oslo");

    let stored = serde_json::to_value(answer).unwrap();
    assert_eq!(
        stored["content"][1],
        json!({
            "type": "artifact", "artifact": {"artifact": "s3:/Oslo", "media_type": "text/csv"},
        })
    );
    assert_eq!(&serde_json::from_value::<Message>(stored).unwrap(), answer);
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_a_tools_resource_fails_before_it_begins() {
    let error = runner(write_prices, json!({"city": "Oslo"})).thread("t").run(asked()).await.err().unwrap().to_string();
    assert!(error.contains("`tools`") && error.contains("tool_in_stage::Store"), "{error}");
}

struct Started(Notify);
struct Stopped(Notify);

/// Waits until it is stopped.
#[tool]
async fn wait(token: CancellationToken, started: Res<Started>, stopped: Res<Stopped>) -> &'static str {
    let stopped = stopped.into_arc();
    tokio::spawn(async move {
        token.cancelled().await;
        stopped.0.notify_one();
    });
    started.0.notify_one();
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_token_of_a_call_is_cancelled_with_its_turn() {
    let (started, stopped) = (Arc::new(Started(Notify::new())), Arc::new(Stopped(Notify::new())));
    let thread = runner(wait, json!({})).provide_arc(started.clone()).provide_arc(stopped.clone()).thread("t");
    let turn = tokio::spawn(async move { thread.run(asked()).await.map(|_| ()) });
    started.0.notified().await;
    turn.abort();
    tokio::time::timeout(Duration::from_secs(1), stopped.0.notified()).await.expect("the token is cancelled");
}
