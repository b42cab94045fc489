//! The vertices of a stage: alone, and as whole graphs with scripted models on tokio's paused clock.

mod agent;
mod best;
mod blocking;
mod book;
mod concurrency;
mod confirm;
mod dispatch_random;
mod durable;
mod evidence;
mod fallback;
mod finalize;
mod gate;
mod gate_limits;
mod group_errors;
mod groups;
mod guards;
mod office;
mod protocol;
mod random;
mod replies;
mod reported;
mod routes;
mod several;
mod support;
mod toolbox;
mod tools;
