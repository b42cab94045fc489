//! The three vertices of a stage, over any user's state: an agent, its gate, its tools.
//!
//! ```text
//!            +------- stay: ask again --------+
//!            v                                |
//! START -> agent ----------------------------> gate -> direct reply (or a node)
//!            ^                                |  \---> a node for refusals, exhaustion, ..
//!            |                                v
//!            +---- no tool routes --------- tools ---> go, direct, finish of a tool
//! ```
//!
//! | vertex | does | writes |
//! | --- | --- | --- |
//! | [`AgentNode`] | asks the model once; what comes back, an error too, is the draft | draft; the book, when it finds an unfinished round |
//! | [`GateNode`] | judges the draft before any effect of it, counts, waits, asks again | draft, book; the history, for an accepted text |
//! | [`ToolsNode`] | runs the calls of an accepted response and answers every one | draft, history, book, what tools write |
//!
//! Or ask and judge in one vertex, a [`GatedNode`], which can stream a text before it is whole:
//!
//! | vertex | does | writes |
//! | --- | --- | --- |
//! | [`GatedNode`] | both of the above | draft, book; the history, for an accepted text |
//!
//! Put the three into one [cluster](graph_engine::Builder::cluster) whose entry is the agent: the gate asks again by
//! staying. A stay counts against [`Runner::stay_limit`](graph_engine::Runner::stay_limit) since the cluster was
//! entered from outside, so raise that limit when a stage may have many rounds with many attempts.
//!
//! # What holds at every checkpoint
//!
//! No call in the history is unanswered. A rejected response never enters the history, none of its calls runs, and
//! none of its text is emitted. No attempt and no token is lost from the [`GateBook`]: the draft of a turn that was
//! cancelled or failed before it was judged is counted when the stage is entered again, and then overwritten.
//!
//! Two streams are for debugging and show more: modes `Updates` and `State` the fields of the seat as they are, the draft
//! too; mode `Nodes` the feedback of a stay, so a validator that must not show what it rejected doesn't quote it.
//!
//! ```
//! use graph_engine::{Graph, Log, START, State};
//! use graph_nodes::gate::{GatePolicy, Validators};
//! use graph_nodes::message::{Message, ToolCall};
//! use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
//! use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
//! use graph_nodes::tool::{ToolBox, ToolReply, tool};
//!
//! #[derive(State, Clone, Default)]
//! struct Trip {
//!     city: String,
//!     #[state(append)]
//!     history: Log<Message>,
//!     draft: Option<Draft>,
//!     book: GateBook,
//! }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Capture {
//!     city: String,
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let capture = tool::<Trip, Capture>("capture_city", "Saves the city.", |args: Capture, _| async move {
//!     Ok(ToolReply::text("saved").update(Trip::update().city(args.city)))
//! });
//! let tools = ToolBox::builder().tool(capture).build()?;
//! let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
//!
//! let agent = AgentNode::new("explore", seat).prompt(|_| "You plan trips.".into()).tools(tools.clone());
//! let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new()).calls("tools");
//! let run = ToolsNode::new("explore", seat, tools, ["capture_city"]).then("agent");
//! let graph = Graph::<Trip>::builder("trip")
//!     .cluster("explore", "agent", |stage| {
//!         stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
//!     })
//!     .edge(START, "agent")
//!     .compile()?;
//!
//! let model = ScriptedModel::new([
//!     Turn::calls([ToolCall::from_text("c1", "capture_city", r#"{"city": "Oslo"}"#)]),
//!     Turn::text("Oslo it is."),
//! ]);
//! let runner = graph.runner().provide_arc::<dyn ChatModel>(std::sync::Arc::new(model));
//! let end = runner.thread("guest-7").run(seat.user("To Oslo, please.")).await?;
//! assert_eq!(end.reply_as::<String>()?.as_deref(), Some("Oslo it is."));
//! assert_eq!(end.state.city, "Oslo");
//! assert_eq!(end.state.history.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod agent;
mod book;
mod book_table;
mod conflict;
mod correction;
mod dispatch;
mod draft;
mod effects;
mod error;
mod event;
mod evidence;
mod example;
mod finalize;
mod gate;
mod gated;
mod gated_sink;
mod guards;
mod next_prompt;
mod output;
mod request;
mod round;
mod seat;
mod settle;
mod several;
mod signature;
mod tool_ledger;
mod tools;
mod totals;

pub use accept::Accepted;
pub use agent::AgentNode;
pub use book::{GateBook, Round, RoundEnd};
pub use conflict::{RouteConflict, RouteOf};
pub use correction::Correction;
pub use draft::{Draft, Held};
pub use error::StageError;
pub use event::StageEvent;
pub use evidence::RequireEvidence;
pub use example::Example;
pub use finalize::FinalizePolicy;
pub use gate::GateNode;
pub use gated::GatedNode;
pub use guards::Guards;
pub use next_prompt::NextPrompt;
pub use seat::Seat;
pub use several::SeveralCalls;
pub use tool_ledger::{PastCall, ToolLedger, ToolTally};
pub use tools::ToolsNode;
pub use totals::StageTotals;
