//! The state of a conversation, and the graph: one stage with its agent, its gate and its tool.

use crate::weather::tools::weather;
use graph_engine::{Graph, Log, START, State};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::Message;
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::ToolBox;

/// The state of a conversation.
#[derive(State, Clone, Debug, Default)]
pub struct Talk {
    /// Everything said.
    #[state(append)]
    pub history: Log<Message>,
    /// The response on its way from the model to the gate and the tool.
    pub draft: Option<Draft>,
    /// What the gate counted.
    pub book: GateBook,
}

/// Which fields the stage uses.
#[must_use]
pub fn seat() -> Seat<Talk> {
    Seat { history: Talk::HISTORY, draft: Talk::DRAFT, book: Talk::BOOK }
}

/// Builds the graph. It asks for a model as `dyn ChatModel`, and for what [`weather`] needs.
///
/// ```
/// let graph = demos::weather::graph::graph()?;
/// assert!(graph.warnings().is_empty());
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// # Errors
/// If the description is not consistent, which a test rules out.
pub fn graph() -> anyhow::Result<Graph<Talk>> {
    let tools = ToolBox::builder().tool(weather()).build()?;
    let policy = GatePolicy::new();
    let agent = AgentNode::new("forecast", seat())
        .prompt(|_| "You tell the weather. Call the tool once for every city.".to_owned())
        .tools(tools.clone())
        .policy(&policy);
    let gate = GateNode::new("forecast", seat(), policy, Validators::new()).calls("tools");
    let run = ToolsNode::new("forecast", seat(), tools, ["weather"]).then("agent");
    let graph = Graph::<Talk>::builder("weather")
        .cluster("forecast", "agent", |stage| {
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()?;
    Ok(graph)
}
