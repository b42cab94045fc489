//! A state-graph engine for agents: nodes over one typed state, super-steps, three moves (`go`, `stay`, `direct`),
//! checkpoints. It knows nothing of messages, models or tools; those are in `graph-nodes`.
//!
//! # Which piece do I choose?
//!
//! | you want to | take |
//! | --- | --- |
//! | say what all nodes share | a struct with [`#[derive(State)]`](macro@State) |
//! | do one piece of work | an `async fn` of [extractors](FromTask): [`Snap`], [`In`], [`Res`], [`Ctx`] |
//! | serve any user's state | an implementation of [`Node`] over [`Field`] keys |
//! | write, and say where to go | return an update, a [`Command`] or a [`#[derive(Route)]`](macro@Route) enum |
//! | connect nodes | [`Graph::builder`]: edges, routers, joins, clusters |
//! | try again, limit the time | [`NodeExt`]: `.retry(..)`, `.timeout(..)` |
//! | run it, and remember | [`Graph::runner`], [`Runner::thread`], a [`CheckpointStore`] |
//! | remember across threads | a [`longterm::LongTermStore`] as a resource |
//! | write it as a plain async function | [`Entrypoint`], [`Workflow::task`] |
//! | watch it | [`Turn::stream`], [`Event`] |
//! | draw it | [`Topology::dot`], [`Topology::mermaid`], [`Topology::json`], [`Dot::svg`] |
//! | draw where turns went | [`ExecutedPath`], [`Dot::executed`], [`Mermaid::executed`] |
//! | keep committed diagrams true | [`Topology::export`], [`Topology::check`] |
//! | read a graph from a file | [`Graph::from_json`], [`Registry`], [`DynState`], [`GraphSpec`] |
//! | test a node without an engine | call it; or `testing::node_once` (feature `testing`) |
//!
//! # A whole program
//!
//! ```
//! use graph_engine::{END, Graph, In, Next, NodeError, Route, START, Snap, State};
//!
//! #[derive(State, Clone, Default)]
//! struct Trip {
//!     city: Option<String>,
//!     #[state(append)]
//!     quotes: Vec<(String, u32)>,
//!     best: Option<String>,
//! }
//!
//! #[derive(Route)]
//! #[route(direct)]
//! enum AfterExplore {
//!     Quote(String),
//! }
//!
//! async fn explore(trip: Snap<Trip>) -> Next<AfterExplore> {
//!     match &trip.city {
//!         None => Next::direct("Which city?"),
//!         Some(city) => Next::fan_out(["Inn", "Palace"].map(|hotel| AfterExplore::Quote(format!("{hotel} {city}")))),
//!     }
//! }
//!
//! async fn quote(In(hotel): In<String>) -> TripUpdate {
//!     Trip::update().quotes([(hotel.to_string(), hotel.len() as u32)])
//! }
//!
//! async fn choose(trip: Snap<Trip>) -> Result<TripUpdate, NodeError> {
//!     let (hotel, _) = trip.quotes.iter().min_by_key(|(_, price)| *price).ok_or("no quotes")?;
//!     Ok(Trip::update().best(hotel.as_str()))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let graph = Graph::<Trip>::builder("trip")
//!     .node("explore", explore)
//!     .node("quote", quote)
//!     .node("choose", choose)
//!     .edge(START, "explore")
//!     .edge("quote", "choose")
//!     .edge("choose", END)
//!     .compile()?;
//! let runner = graph.runner();
//!
//! let asked = runner.thread("guest-7").run(Trip::update()).await?;
//! assert_eq!(asked.reply_as::<String>()?.as_deref(), Some("Which city?"));
//!
//! let chosen = runner.thread("guest-8").run(Trip::update().city("Oslo")).await?;
//! assert_eq!(chosen.state.best.as_deref(), Some("Inn Oslo"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # How a turn runs
//!
//! 1. The input is merged into the state by the same rules as every update; START's edges or router give the first
//!    tasks.
//! 2. A **super-step**: all tasks run on one snapshot. Then their updates are merged in task order (plain tasks by node
//!    name, then sends by sender and index), so the order in which they finish never matters.
//! 3. Every finished task is followed: its command, else its router, else its static edges. That gives the next tasks.
//! 4. When nothing is left the turn is over; what was deferred runs last.
//!
//! A super-step is committed at most once; a node's body, and its effects outside, may run again after a crash. Give
//! outside effects the key of [`Ctx::idempotency_key`].

mod checkpoint_id;
mod compile_error;
mod diagnostic;
mod driver;
mod edge_kind;
mod error;
mod executed;
mod functional;
mod graph;
pub mod longterm;
mod machine;
mod name;
mod node;
mod panic;
mod reply;
mod report;
mod run;
mod run_error;
mod spec;
mod state;
mod store;
mod stuck_task;
mod task;
mod task_id;
#[cfg(feature = "testing")]
pub mod testing;
mod topology;

pub use async_trait::async_trait;
#[doc(inline)]
pub use graph_engine_macros::{Route, State, node};

pub use checkpoint_id::CheckpointId;
pub use compile_error::CompileError;
pub use diagnostic::{Diagnostic, Level, Lint};
pub use driver::{
    AttemptEnd, BoxFuture, Clock, Durability, Event, EventKind, Ids, Metrics, Mode, Parallel, Seams, Slow, Spawn,
    StreamOptions, TokenEvent, TokenReader, canonical_log,
};
pub use error::{BoxError, FaultKind, NodeError, StoreError};
pub use executed::{ExecutedPath, Taken, Visit};
pub use functional::{
    Entrypoint, Final, TaskCall, TaskDiverged, Workflow, WorkflowEnd, WorkflowError, WorkflowRunner, WorkflowThread,
    WorkflowTurn,
};
pub use graph::{Builder, Graph};
pub use name::Name;
pub use node::{
    Blocking, ByHand, BySpec, Cache, IntoNode, Layer, Node, NodeDefaults, NodeExt, NodeSpec, Policy, Retry, Siblings,
    blocking,
};
pub use reply::Reply;
pub use report::{Breakpoint, ChildReport, RunReport, WaitingJoin};
pub use run::{
    At, BreakAt, ChildCall, ChildEnd, ChildError, Deviation, Edit, Edits, EventReader, EventStream, Expired,
    FieldChange, FinishedTask, KeptStates, Replay, ReplayedStep, Runner, StateDiff, StateHash, Status, Subgraph,
    Thread, ThreadState, TransferError, Turn, TurnControl, TurnEnd, View, ViewEnd, WhenBusy, WrittenBy, child,
};
pub use run_error::{RunError, TaskFailure, TaskRef, TurnError};
pub use spec::{
    CacheEntry, ClusterEntry, EdgeEntry, FieldEntry, GraphSpec, JoinEntry, Mistake, MistakeKind, Moves, NodeEntry,
    PolicyEntry, Registry, RetryEntry, RouterEntry, SpecError, TextPlace,
};
pub use state::dynamic::{DynStaged, DynState, DynUpdate, FieldError, JsonType, Schema, SchemaError, SchemaField};
pub use state::{
    Added, Append, CodecError, Deltas, Encoding, Field, FieldSet, FieldSpec, Fields, Log, LogIter, Merge, Persist,
    PersistAppend, ReduceError, Reduced, State, StoredFields,
};
pub use store::{
    AtOnce, CacheKey, CheckpointInfo, CheckpointKind, CheckpointStore, Commit, FieldRow, Filter, Keep, Mark,
    MemoryCache, MemoryStore, NodeCache, Place, SavedResult, Segment, SegmentRef, Segments, Stored, Tags, ThreadFilter,
    ThreadInfo,
};
pub use stuck_task::StuckTask;
pub use task::{
    Ask, BadAnswer, BlockingWork, CanDirect, CanFinish, CanStay, Command, Ctx, END, FailedTask, FromTask, In,
    Interrupt, InterruptId, IntoNamedNext, IntoNext, IntoOutcome, Move, NamedNext, Need, Next, NodeInfo, NodeKind,
    Nowhere, Outcome, Payload, PayloadType, Res, Route, RouteSpec, START, Snap, TargetSpec, Task,
};
pub use task_id::TaskId;
#[cfg(feature = "ascii-dag")]
pub use topology::TextDrawing;
pub use topology::{
    Cluster, DiagramFormat, Direction, Dot, Edge, EdgeKind, ExportError, Graphviz, Mermaid, StaleDiagram, SvgError,
    Topology, Vertex,
};

/// What generated code uses. Not part of the API.
#[doc(hidden)]
pub mod __private {
    use std::future::Future;

    use crate::state::State;
    pub use crate::state::derived;
    use crate::task::{FromTask, IntoOutcome};

    pub fn check_arg<S: State, T: FromTask<S>>() {}

    pub fn check_result<S: State, R: IntoOutcome<S>>() {}

    /// For a result that can't be written outside of a signature: `impl Trait`.
    pub fn check_output<S: State, F: Future<Output: IntoOutcome<S>>>(_: F) {}

    pub fn check_send<F: Future + Send>(future: F) -> F {
        future
    }
}
