//! The acceptance gate, driven by a small loop on tokio's paused clock.

mod best;
mod driver;
mod errors;
mod fallback;
mod feedback;
mod limits;
mod verdicts;
