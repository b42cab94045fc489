//! One error type for each stage: a node's failure, compiling a graph, running a turn, storing a checkpoint.

mod compile;
mod node;
mod run;
mod store;

pub use compile::CompileError;
pub use node::{BoxError, FaultKind, NodeError};
pub use run::{RunError, TaskFailure, TaskRef, TurnError};
pub use store::StoreError;
