//! Drivers do what the machine asks for: run tasks, store checkpoints, wait, tell.

mod event;
mod execute;
mod hub;
mod local;
mod seams;

pub use event::{Event, EventKind, Mode, canonical_log};
pub(crate) use execute::Bench;
pub(crate) use hub::{Hub, Origin};
pub use hub::{Slow, StreamOptions};
pub(crate) use local::LocalDriver;
pub use local::Parallel;
pub use seams::{BoxFuture, Clock, Ids, Seams, Spawn};
