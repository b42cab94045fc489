//! The state of a conversation, and the graph: one stage with its agent, its gate and its tools.

use crate::orders::shop::Tracking;
use crate::orders::tools::toolbox;
use graph_engine::{Graph, Log, State};
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::message::Message;
use graph_nodes::stage::{Draft, GateBook, Seat};

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
    /// Where the conversation stands.
    pub cursor: Cursor,
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
    let support = Stage::new("support")
        .prompt(|_| "You answer questions about orders. Look up all orders of a question in one call.".to_owned())
        .tools(tools.names());
    Ok(Flow::new("orders", seat(), Support::CURSOR).tools(tools.clone()).stage(support).build()?)
}
