//! The gate around one model call, without an engine and in one vertex; and the checks that come with the library.

mod budgets;
mod checks;
mod forms;
mod hostile;
mod judges;
mod node;
mod node_stream;
mod output;
mod reported;
mod sampling;
mod streaming;
mod structured;
mod support;
mod traces;
mod wrapper;
