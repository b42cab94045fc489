//! The vertices of a stage: alone, and as whole graphs with scripted models on tokio's paused clock.

mod agent;
mod best;
mod book;
mod concurrency;
mod durable;
mod fallback;
mod gate;
mod gate_limits;
mod group_errors;
mod groups;
mod office;
mod protocol;
mod random;
mod routes;
mod support;
mod toolbox;
mod tools;
