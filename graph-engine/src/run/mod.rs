//! What users run: a graph with its store and resources, its conversations, their turns.

mod child;
mod drive;
mod end;
mod expire;
mod lease;
mod runner;
mod stream;
mod thread;
mod turn;
mod view;

pub use child::{ChildCall, ChildEnd, ChildError, Subgraph, child};
pub use end::{Status, TurnEnd};
pub use expire::Expired;
pub use lease::WhenBusy;
pub use runner::Runner;
pub use stream::{EventReader, EventStream};
pub use thread::{FinishedTask, Thread, ThreadState};
pub use turn::{Turn, TurnControl};
pub use view::{View, ViewEnd};
