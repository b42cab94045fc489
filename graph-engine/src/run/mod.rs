//! What users run: a graph with its store and resources, its conversations, their turns.

mod runner;
mod thread;
mod turn;

pub use runner::Runner;
pub use thread::{Thread, ThreadState};
#[cfg(feature = "testing")]
pub(crate) use turn::turn_context;
pub use turn::{EventReader, EventStream, Status, Turn, TurnEnd};
