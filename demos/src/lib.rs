//! Complete programs on graph-engine. The library part holds what the demos
//! know of their subject, without any engine, so that it can be tested alone.
//!
//! * [`hotel`]: dates, prices, catalogue and language of the hotel concierge.

pub mod hotel;
