//! The concierge for a small language model, which can choose a tool and copy a few words, and not more.
//!
//! The stages, the state, the gates and what tools do are those of [the graph](crate::hotel::graph). What differs:
//!
//! | | capable model | small model |
//! | --- | --- | --- |
//! | tools | all, with their whole schemas | few, with short ones; `find_hotels` records and searches |
//! | tool choice | its own | always a call |
//! | examples | none | two calls a stage, made of the offers on the list |
//! | words to the guest | its own | the program's ([`phrase`](crate::hotel::phrase)), after the call |
//! | criteria that nobody said | rejected if impossible | taken out of the call by the gate |
//!
//! A tool that stays in its stage replies to the guest at once. One that leads to another stage is followed by a second
//! call there, `tell_guest`, so that the stage speaks for itself.

mod ask;
mod examples;
mod find;
mod graph;
mod spoken;
mod tell;
mod tools;

pub(crate) use find::FindArgs;
pub use graph::graph;
