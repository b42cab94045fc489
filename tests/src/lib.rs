//! Helpers of the behaviour tests: one small state, nodes that note when they run, a store that fails on demand, and
//! futures that are dropped in the middle.

mod alive;
pub mod crash;
mod doc_tests;
#[cfg(doctest)]
mod docs;
mod lints;
mod nodes;
pub mod simulation;
mod store;
mod times;
mod traced;
mod trip;
mod wide;

pub use alive::{Alive, Guard, poll_at_most};
pub use doc_tests::{is_name, quoted, root, tests_in};
pub use lints::findings;
pub use nodes::{BoxNode, Runs, after, note};
pub use store::TestStore;
pub use times::Times;
pub use traced::Traced;
pub use trip::{Trip, TripUpdate};
pub use wide::Wide;
