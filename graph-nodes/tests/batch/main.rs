//! Lists of ids on tokio's paused clock: what is sent when, and what the report says.

mod chunks;
mod list;
mod random;
mod records;
mod support;
mod tools;
mod writes;
