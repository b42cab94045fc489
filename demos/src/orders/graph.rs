//! The state of a conversation, and the graph: one stage with its agent, its gate and its tools.

use crate::orders::shop::Tracking;
use crate::orders::tools::toolbox;
use graph_engine::{Graph, Log, START, State};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::Message;
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};

/// The state of a conversation.
#[derive(State, Clone, Debug, Default)]
pub struct Support {
    /// Everything said.
    #[state(append)]
    pub history: Log<Message>,
    /// The response on its way from the model to the gate and the tools.
    pub draft: Option<Draft>,
    /// What the gate counted.
    pub book: GateBook,
}

/// Which fields the stage uses.
#[must_use]
pub fn seat() -> Seat<Support> {
    Seat { history: Support::HISTORY, draft: Support::DRAFT, book: Support::BOOK }
}

/// Builds the graph. It asks for a model as `dyn ChatModel`.
///
/// ```
/// let graph = demos::orders::graph::graph(&Default::default())?;
/// assert!(graph.warnings().is_empty());
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// # Errors
/// If the description is not consistent, which a test rules out.
pub fn graph(tracking: &Tracking) -> anyhow::Result<Graph<Support>> {
    let tools = toolbox(tracking)?;
    let names = tools.names().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let policy = GatePolicy::new();
    let agent = AgentNode::new("support", seat())
        .prompt(|_| "You answer questions about orders. Look up all orders of a question in one call.".to_owned())
        .tools(tools.clone())
        .policy(&policy);
    let gate = GateNode::new("support", seat(), policy, Validators::new()).calls("tools");
    let run = ToolsNode::new("support", seat(), tools, names).then("agent");
    let graph = Graph::<Support>::builder("orders")
        .cluster("support", "agent", |stage| {
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()?;
    Ok(graph)
}
