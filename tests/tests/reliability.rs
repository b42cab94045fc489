//! Faults that must not lose anything.

mod reliability_cancellation;
mod reliability_durable;
mod reliability_limits;
mod reliability_panics;
mod reliability_stuck;
