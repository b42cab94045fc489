//! A small state with a flow of two stages over it.

use std::sync::Arc;

use graph_engine::{Graph, Log, MemoryStore, Snap, State, Thread, TurnEnd};
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{Draft, GateBook, Seat};
use graph_nodes::tool::{FnTool, ToolBox, ToolReply, tool};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Trip {
    pub(crate) city: String,
    /// What hooks and nodes noted, and the city they saw.
    #[state(append)]
    pub(crate) notes: Vec<String>,
    #[state(append)]
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
struct NoArgs {}

/// A tool that moves to the stage of its name: `to_present` goes to `present`.
pub(crate) fn go(name: &'static str) -> FnTool<Trip> {
    tool::<Trip, NoArgs>(name, "Moves on.", move |_, _| async move {
        let to = name.trim_start_matches("to_");
        Ok(ToolReply::text("moved").update(Trip::update().city(to)).go(to))
    })
}

pub(crate) fn tools() -> ToolBox<Trip> {
    ["to_explore", "to_present", "to_bye", "to_check"]
        .map(go)
        .into_iter()
        .fold(ToolBox::builder(), |all, tool| all.tool(tool))
        .build()
        .unwrap()
}

pub(crate) fn flow() -> Flow<Trip> {
    Flow::new("trip", seat(), Trip::CURSOR).tools(tools())
}

/// A stage that notes all of its hooks.
pub(crate) fn noted(name: &'static str, leads_to: &'static str) -> Stage<Trip> {
    let note = move |hook: &'static str| {
        move |trip: Snap<Trip>| async move { Trip::update().notes([format!("{hook} {name} at `{}`", trip.city)]) }
    };
    Stage::new(name)
        .tools([format!("to_{leads_to}")])
        .leads_to([leads_to])
        .on_enter(note("enter"))
        .on_exit(note("exit"))
        .on_restore(note("restore"))
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
}

pub(crate) fn path(trip: &Trip) -> Vec<&str> {
    trip.cursor.path().map(|stage| stage.as_str()).collect()
}

pub(crate) fn calls<const N: usize>(names: [&str; N]) -> Turn {
    let call = |name: &str| graph_nodes::message::ToolCall::from_text(format!("call-{name}"), name, "{}");
    Turn::calls(names.map(call))
}
