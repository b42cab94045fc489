//! Stages and flows: hooks, memory, models, what is found when a flow is built.

mod build;
mod examples;
mod hooks;
mod memory;
mod support;
mod vertices;
