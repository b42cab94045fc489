//! Calls of one response that ask for single keys.

use std::sync::Arc;

use graph_engine::{Graph, Log, START, State};
use graph_nodes::coalesce::Coalescer;
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{FnTool, ToolBox, ToolReply, tool};
use serde_json::json;

use crate::support::{Backend, Weather};

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    city: String,
}

fn weather() -> FnTool<Trip> {
    tool::<Trip, City>("weather", "The weather in a city.", |args: City, call| async move {
        let key = ["a", "b", "c"].into_iter().find(|key| *key == args.city).ok_or("no such city")?;
        let value = call.resource::<Weather>()?.tenant("acme").get(key).await?;
        Ok(ToolReply::text(value.unwrap_or_default()))
    })
    .needs::<Weather>()
}

/// When the backend was called with what for three calls of one response, and what the calls were answered.
async fn calls(tool: FnTool<Trip>) -> (Vec<(u64, Vec<&'static str>)>, Vec<String>) {
    let backend = Backend::new([]);
    let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    let tools = ToolBox::builder().tool(tool).build().unwrap();
    let agent = AgentNode::new("explore", seat).tools(tools.clone());
    let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new()).calls("tools");
    let run = ToolsNode::new("explore", seat, tools, ["weather"]).then("agent");
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let calls = ["a", "b", "c"].map(|city| ToolCall::new(city, "weather", &json!({"city": city})));
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([Turn::calls(calls), Turn::text("done")]));
    let runner = graph.runner().provide_arc(model).provide(backend.weather(Coalescer::builder()));
    let end = runner.thread("t").run(seat.user("hi")).await.unwrap();
    let answers = end.state.history.iter().filter(|message| message.call_id().is_some()).map(Message::text);
    (backend.calls(), answers.collect())
}

#[tokio::test(start_paused = true)]
async fn c17_calls_of_a_tool_that_runs_alone_are_batches_of_one_and_of_a_concurrent_one_a_single_batch() {
    let answers = ["acme: a", "acme: b", "acme: c"].map(str::to_owned);
    let alone = calls(weather()).await;
    assert_eq!(alone, (vec![(5, vec!["a"]), (10, vec!["b"]), (15, vec!["c"])], answers.to_vec()));
    let together = calls(weather().concurrent()).await;
    assert_eq!(together, (vec![(5, vec!["a", "b", "c"])], answers.to_vec()));
}
