//! Building blocks for agents on graph-engine: messages, models, the assembly
//! of streamed tool calls, the acceptance gate, tools, batches, the vertices of
//! a stage, and flows of stages.
//!
//! # Which piece do I choose?
//!
//! | you want to | take | in |
//! | --- | --- | --- |
//! | build a whole conversation in stages | [`Stage`](flow::Stage) and [`Flow`](flow::Flow) | [`flow`] |
//! | put an agent with a gate and tools into a graph by hand | [`AgentNode`](stage::AgentNode), [`GateNode`](stage::GateNode), [`ToolsNode`](stage::ToolsNode) | [`stage`] |
//! | write a tool | [`#[tool]`](macro@tool::tool), [`tool`](fn@tool::tool), or an implementation of [`Tool`](tool::Tool) | [`tool`] |
//! | accept or reject a response before any effect of it | a [`Validator`](gate::Validator) in a [`GateNode`](stage::GateNode) | [`gate`] |
//! | the same without an engine | [`Gated`](gate::Gated), or [`decide`](gate::decide) in a loop of your own | [`gate`] |
//! | stream a text before it is whole, and judge it nevertheless | [`GatedNode`](stage::GatedNode), an agent and its gate in one vertex | [`stage`] |
//! | talk to a provider, or to a server on this machine | `OpenAi` | the crate `graph-nodes-openai` |
//! | talk to anything else | an implementation of [`ChatModel`](model::ChatModel) | [`model`] |
//! | test without a provider | [`ScriptedModel`](model::ScriptedModel) | [`model`] |
//! | test with what a provider once said | [`RecordedModel`](model::RecordedModel) over a [`Cassette`](model::Cassette) | [`model`] |
//! | run offline by a rule | [`FnModel`](model::FnModel) | [`model`] |
//! | write down a conversation | [`Message`](message::Message) | [`message`] |
//! | know whether a history can be sent | [`check_history`](message::check_history) | [`message`] |
//! | turn streamed fragments into tool calls | [`Assembler`](assemble::Assembler) | [`assemble`] |
//! | look up a list of ids in one call, or write to them | [`BatchLookup`](batch::BatchLookup), [`BatchWrite`](batch::BatchWrite) | [`batch`] |
//! | load keys together that several callers ask for | [`Coalescer`](coalesce::Coalescer) | [`coalesce`] |
//! | know what all attempts cost | [`GateBook`](stage::GateBook), [`GateLedger`](gate::GateLedger) | [`stage`], [`gate`] |
//!
//! # Modules
//!
//! Floor by floor: a module uses only modules above it in this table.
//!
//! | floor | module | what is in it |
//! | --- | --- | --- |
//! | 1 | [`coalesce`] | single look-ups of many callers, loaded together |
//! | 1 | [`message`] | messages, tool calls, tokens, and the rules of a history |
//! | 1 | [`prompt`] | templates |
//! | 2 | [`assemble`] | tool-call fragments by index, id and name to complete calls |
//! | 3 | [`model`] | the model trait, requests, chunks, responses, models for tests |
//! | 4 | [`gate`] | verdicts, budgets and the accounting of attempts |
//! | 5 | [`tool`] | tools, their schemas, what they are given and what they reply |
//! | 6 | [`batch`] | a list of ids, or of writes, as one call with one report |
//! | 6 | [`stage`] | the vertices: agent, gate, tools; and what they keep in the state |
//! | 7 | [`flow`] | stages, and the graph that connects them |
//!
//! # Example
//!
//! A stage whose gate sends the first answer back. Nothing of it is seen by
//! anybody, but it is paid for:
//!
//! ```
//! use std::sync::Arc;
//!
//! use graph_engine::{Graph, Log, START, State};
//! use graph_nodes::gate::{GatePolicy, Validators, Verdict};
//! use graph_nodes::message::Message;
//! use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
//! use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat};
//!
//! #[derive(State, Clone, Default)]
//! struct Trip {
//!     #[state(append)]
//!     history: Log<Message>,
//!     draft: Option<Draft>,
//!     book: GateBook,
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! let names_month = Validators::new().with_fn("names_month", |response, _: &Trip| {
//!     match response.text.contains("May") {
//!         true => Verdict::Accept,
//!         false => Verdict::retry("no_month", "name the month"),
//!     }
//! });
//! let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
//! let agent = AgentNode::new("explore", seat).prompt(|_| "You plan trips.".into());
//! let gate = GateNode::new("explore", seat, GatePolicy::new(), names_month);
//! let graph = Graph::<Trip>::builder("trip")
//!     .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
//!     .edge(START, "agent")
//!     .compile()?;
//!
//! let model = ScriptedModel::new([Turn::text("Bern is lovely."), Turn::text("Bern is lovely in May.")]);
//! let model: Arc<dyn ChatModel> = Arc::new(model);
//! let thread = graph.runner().provide_arc(model).thread("guest-7");
//! let end = thread.run(seat.user("Where shall I go, and when?")).await?;
//!
//! assert_eq!(end.reply_as::<String>()?.as_deref(), Some("Bern is lovely in May."));
//! assert_eq!(end.state.history.len(), 2);
//! let totals = end.state.book.totals("explore");
//! assert_eq!((totals.attempts, totals.accepted.total(), totals.rejected.total()), (2, 110, 110));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod assemble;
pub mod batch;
pub mod coalesce;
pub mod flow;
mod fnv;
pub mod gate;
pub mod message;
pub mod model;
mod panics;
pub mod prompt;
mod schema;
pub mod stage;
pub mod tool;

/// What generated code uses. Not part of the API.
#[doc(hidden)]
pub mod __private {
    pub use graph_engine::{Need, State, async_trait};

    pub use crate::tool::derived::*;
}
