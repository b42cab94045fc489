//! Complete programs on graph-engine, as a library, so that tests reach every part of them.
//!
//! * [`hotel`]: a concierge in the terminal; its guide is `docs/hotel.md`.

pub mod hotel;
