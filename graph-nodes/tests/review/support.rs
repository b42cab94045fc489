//! A small state with a flow over it.

use std::sync::Arc;

use graph_engine::{Graph, Log, MemoryStore, State, Thread, TurnEnd};
use graph_nodes::flow::{Cursor, Flow};
use graph_nodes::message::{Message, ToolCall, add_messages};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{Draft, GateBook, Seat};
use graph_nodes::tool::{FnTool, ToolBox, ToolReply, tool};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Trip {
    pub(crate) city: String,
    #[state(append)]
    pub(crate) notes: Vec<String>,
    #[state(with = add_messages)]
    pub(crate) history: Log<Message>,
    #[state(append)]
    pub(crate) private: Log<Message>,
    pub(crate) draft: Option<Draft>,
    pub(crate) book: GateBook,
    pub(crate) cursor: Cursor,
}

pub(crate) fn seat() -> Seat<Trip> {
    Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct NoArgs {}

/// A tool that always replies like this.
pub(crate) fn replies(name: &'static str, reply: fn() -> ToolReply<Trip>) -> FnTool<Trip> {
    tool::<Trip, NoArgs>(name, "Does it.", move |_, _| async move { Ok(reply()) })
}

pub(crate) fn tools(tools: impl IntoIterator<Item = FnTool<Trip>>) -> ToolBox<Trip> {
    tools.into_iter().fold(ToolBox::builder(), |all, tool| all.tool(tool)).build().unwrap()
}

pub(crate) fn flow(of: impl IntoIterator<Item = FnTool<Trip>>) -> Flow<Trip> {
    Flow::new("trip", seat(), Trip::CURSOR).tools(tools(of))
}

/// A thread that goes on with every turn, and the model it asks.
pub(crate) struct Talk {
    pub(crate) thread: Thread<Trip>,
    pub(crate) model: ScriptedModel,
}

pub(crate) fn talk(graph: &Graph<Trip>, turns: impl IntoIterator<Item = Turn>) -> Talk {
    let model = ScriptedModel::new(turns);
    let provided: Arc<dyn ChatModel> = Arc::new(model.clone());
    let thread = graph.runner().store(MemoryStore::new()).provide_arc(provided).thread("guest-7");
    Talk { thread, model }
}

impl Talk {
    pub(crate) async fn say(&self, text: &str) -> TurnEnd<Trip> {
        self.thread.run(seat().user(text)).await.unwrap()
    }

    /// The system text of the model's n-th request.
    pub(crate) fn prompt(&self, n: usize) -> String {
        self.model.requests()[n].messages[0].text()
    }
}

pub(crate) fn path(trip: &Trip) -> Vec<&str> {
    trip.cursor.path().map(|stage| stage.as_str()).collect()
}

/// A response that calls these tools without arguments.
pub(crate) fn calls<const N: usize>(names: [&str; N]) -> Turn {
    Turn::calls(names.map(|name| ToolCall::from_text(format!("call-{name}"), name, "{}")))
}
