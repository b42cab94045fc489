//! A request as a server wants it.

mod body;
mod choice;
mod json_history;
mod messages;
mod parameters;
mod tools;

pub(crate) use body::{Body, Dialect};
