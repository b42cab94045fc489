//! Complete programs on graph-engine, as a library, so that tests reach every part of them.
//!
//! * [`hotel`]: a concierge in the terminal; its guide is `docs/hotel.md`.
//! * [`orders`]: a support agent that looks up many orders by one tool call; see `docs/demos.md`.
//! * [`weather`]: two tool calls of one response that become one request; see `docs/demos.md`.

pub mod console;
pub mod hotel;
pub mod orders;
pub mod weather;
