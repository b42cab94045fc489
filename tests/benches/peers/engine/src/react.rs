//! The vertices of the node library as an agent with a tool, and streamed tool calls put together.

use std::sync::Arc;

use graph_engine::{EventKind, Graph, Log, Mode, START, State};
use graph_nodes::assemble::{Assembler, CallDelta};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::{ChatModel, FnModel, Request, Response};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{ToolBox, ToolReply, tool};
use measure::{Asked, Times};
use serde_json::json;

use crate::state::Here;
use crate::streams::read;

#[derive(State, Clone, Default)]
struct Talk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Lookup {
    query: String,
}

/// Calls the tool so many times, then says that it is done.
fn model(rounds: u64) -> FnModel {
    FnModel::new("scripted", move |request: Request| {
        let done = request.messages.iter().filter(|message| message.call_id().is_some()).count() as u64;
        Ok(if done < rounds {
            let arguments = json!({"query": measure::letters(done, 36).repeat(100)});
            Response::from_calls([ToolCall::new(format!("call-{done}"), "lookup", &arguments)])
        } else {
            Response::from_text("done. ".repeat(100))
        })
    })
}

pub(crate) fn react(here: &Here, asked: &Asked) -> Times {
    let lookup = tool::<Talk, Lookup>("lookup", "Looks it up.", |args: Lookup, _| async move {
        Ok(ToolReply::text(format!("answer to {};", args.query).repeat(10)))
    });
    let tools = ToolBox::builder().tool(lookup).build().expect("a toolbox");
    let seat = Seat { history: Talk::HISTORY, draft: Talk::DRAFT, book: Talk::BOOK };
    let agent = AgentNode::new("talk", seat).tools(tools.clone());
    let gate = GateNode::new("talk", seat, GatePolicy::new(), Validators::new()).calls("tools");
    let run = ToolsNode::new("talk", seat, tools, ["lookup"]).then("agent");
    let graph = Graph::<Talk>::builder("talk")
        .node("agent", agent)
        .node("gate", gate)
        .node("tools", run)
        .edge(START, "agent")
        .edge("agent", "gate")
        .compile()
        .expect("compiles");
    let runner = graph.runner().provide_arc::<dyn ChatModel>(Arc::new(model(asked.n)));
    let runner = runner.step_limit(3 * asked.n + 10).stay_limit(u32::MAX).timings(false);
    asked.times(1, || {
        let turn = || runner.thread("t").run(seat.user("hello"));
        let (updates, end) = read(here, turn, Mode::Updates, |kind| matches!(kind, EventKind::NodeFinished { .. }));
        // Agent and gate once more than the tools.
        assert_eq!(updates, 3 * asked.n + 2);
        assert_eq!(end.state.history.len() as u64, 2 * asked.n + 2);
        assert_eq!(end.state.history.iter().filter(|message| message.call_id().is_some()).count() as u64, asked.n);
    })
}

fn fragments(count: u64) -> Vec<CallDelta> {
    let calls = 0..4u32;
    let first = calls.clone().map(|k| CallDelta::new().at(k).id(format!("c{k}")).name("search").text("{\"q\":\""));
    let middle = (0..count - 8).map(|i| CallDelta::new().at((i % 4) as u32).text("abcdefgh"));
    first.chain(middle).chain(calls.map(|k| CallDelta::new().at(k).text("\"}"))).collect()
}

pub(crate) fn assemble(asked: &Asked) -> Times {
    let fragments = fragments(asked.n);
    asked.times(asked.n, || {
        let mut assembler = Assembler::new();
        fragments.iter().for_each(|fragment| drop(assembler.push_ref(fragment)));
        let calls = assembler.finish().expect("whole calls").calls;
        let length = |call: &ToolCall| call.arguments.parsed().expect("JSON")["q"].as_str().expect("a text").len();
        assert!(calls.len() == 4 && calls.iter().all(|call| length(call) as u64 == 2 * (asked.n - 8)));
    })
}
