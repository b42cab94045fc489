//! The state of a conversation, and the graph: one stage with its agent, its gate and its tool.

use crate::weather::tools::weather;
use graph_engine::{Graph, Log, State};
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::message::Message;
use graph_nodes::stage::{Draft, GateBook, Seat};
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
    /// Where the conversation stands.
    pub cursor: Cursor,
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
    let forecast = Stage::new("forecast")
        .prompt(|_| "You tell the weather. Call the tool once for every city.".to_owned())
        .tools(["weather"]);
    let tools = ToolBox::builder().tool(weather()).build()?;
    Ok(Flow::new("weather", seat(), Talk::CURSOR).tools(tools).stage(forecast).build()?)
}
