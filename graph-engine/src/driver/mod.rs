//! Drivers do what the machine asks for: run tasks, store checkpoints, wait, tell.

mod attempt;
mod event;
mod execute;
mod gate;
mod guard;
mod hub;
mod inbox;
mod keep;
mod live;
mod local;
mod lone;
mod metrics;
mod relay;
mod seams;
mod spans;
mod tokens;

pub use event::{Event, EventKind, Mode, canonical_log};
pub(crate) use execute::Bench;
pub(crate) use guard::Guards;
pub(crate) use hub::Origin;
pub use hub::{Slow, StreamOptions};
pub(crate) use keep::Keep;
pub(crate) use live::Live;
pub(crate) use local::LocalDriver;
pub use local::{Durability, Parallel};
pub use metrics::{AttemptEnd, Metrics};
pub(crate) use relay::Relay;
pub(crate) use seams::millis;
pub use seams::{BoxFuture, Clock, Ids, Seams, Spawn};
pub(crate) use spans::Spans;
pub use tokens::{TokenEvent, TokenReader};
