//! Conversations in stages: a whole agent from parts that are vertices of one graph.
//!
//! | you want to | take |
//! | --- | --- |
//! | describe one stage: prompt, model, tools, gate, memory, hooks | [`Stage`] |
//! | connect stages, route every turn to the current one | [`Flow`] |
//! | know where a conversation stands | [`Cursor`], a field of the state |
//! | name models, and refuse parameters that they don't take | [`Catalogue`] |
//! | keep a stage's memory short | [`Compaction`] |
//!
//! Nothing is hidden: a stage is a cluster of [visible vertices](Stage), the same ones that can be put together by hand.

mod build;
mod catalogue;
mod compact;
mod compaction;
mod cursor;
mod end;
mod enter;
mod error;
mod event;
mod hooks;
mod onward;
mod stage;
mod vertices;

pub use build::Flow;
pub use catalogue::{Catalogue, ModelEntry};
pub use compact::CompactNode;
pub use compaction::Compaction;
pub use cursor::Cursor;
pub use enter::EnterNode;
pub use error::{FlowError, FlowProblem};
pub use event::FlowEvent;
pub use stage::Stage;
