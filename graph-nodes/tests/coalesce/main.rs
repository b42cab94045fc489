//! The coalescer on tokio's paused clock: which keys are loaded when, and what every waiter gets.

mod closing;
mod dropped;
mod failures;
mod many;
mod random;
mod support;
mod threads;
mod tools;
mod windows;
