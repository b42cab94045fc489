//! What `#[derive(State)]` generates, in a crate that denies what careless code would trigger.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, clippy::pedantic)]

pub mod hotel;
mod merge;
mod shapes;
mod store;
