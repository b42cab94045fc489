//! Plain async functions with the durability of a graph: an [`Entrypoint`] is a graph of one node whose tasks are
//! remembered in the order of their calls.

mod diverged;
mod end;
mod entrypoint;
mod last;
mod runner;
mod task_call;
mod thread;
mod workflow;

pub use diverged::TaskDiverged;
pub use end::{WorkflowEnd, WorkflowError};
pub use entrypoint::Entrypoint;
pub use last::Final;
pub use runner::WorkflowRunner;
pub use task_call::TaskCall;
pub use thread::{WorkflowThread, WorkflowTurn};
pub use workflow::Workflow;

/// The fields of the state behind an entrypoint.
const INPUT: &str = "input";
const OUTPUT: &str = "output";
const SAVED: &str = "saved";
