//! A typed state-graph engine for agents.

mod checkpoint_id;
mod diagnostic;
mod driver;
mod error;
mod graph;
mod machine;
mod name;
mod node;
mod panic;
mod reply;
mod report;
mod runner;
mod state;
mod store;
mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod thread;
mod topology;
mod turn;

pub use async_trait::async_trait;
#[doc(inline)]
pub use graph_engine_macros::{Route, State, node};

pub use checkpoint_id::CheckpointId;
pub use diagnostic::{Diagnostic, Level, Lint};
pub use driver::{
    BoxFuture, Clock, Event, EventKind, Ids, Mode, Parallel, Seams, Slow, Spawn, StreamOptions, canonical_log,
};
pub use error::{BoxError, CompileError, FaultKind, NodeError, RunError, StoreError, TaskFailure, TaskRef, TurnError};
pub use graph::{Builder, Graph};
pub use name::Name;
pub use node::{ByHand, BySpec, IntoNode, Node, NodeExt, NodeInfo, NodeKind, NodeSpec, Policy, Retry};
pub use reply::Reply;
pub use report::{RunReport, WaitingJoin};
pub use runner::Runner;
pub use state::{
    Added, Append, CodecError, Encoding, Field, FieldSet, FieldSpec, Fields, Log, LogIter, Merge, Persist,
    PersistAppend, ReduceError, Reduced, State,
};
pub use store::{
    CheckpointInfo, CheckpointStore, Commit, FieldRow, Filter, Keep, MemoryStore, Place, Segment, Stored,
    Tags,
};
pub use task::{
    CanDirect, CanFinish, CanStay, Command, Ctx, END, FromTask, In, IntoNext, IntoOutcome, Move, Need, Next, Nowhere,
    Outcome, Payload, PayloadType, Res, Route, RouteSpec, START, Snap, TargetSpec, Task, TaskId,
};
pub use thread::{Thread, ThreadState};
pub use topology::{Cluster, Direction, Dot, Edge, EdgeKind, Mermaid, Topology, Vertex};
pub use turn::{EventReader, EventStream, Status, Turn, TurnEnd};

/// What generated code uses. Not part of the API.
#[doc(hidden)]
pub mod __private {
    use std::future::Future;

    pub use serde_json;

    use crate::state::State;
    pub use crate::state::{decode_field, derived, encode_field};
    use crate::task::{FromTask, IntoOutcome};

    pub fn check_arg<S: State, T: FromTask<S>>() {}

    pub fn check_result<S: State, R: IntoOutcome<S>>() {}

    /// For a result that can't be written outside of a signature: `impl Trait`.
    pub fn check_output<S: State, F: Future<Output: IntoOutcome<S>>>(_: F) {}

    pub fn check_send<F: Future + Send>(future: F) -> F {
        future
    }
}
