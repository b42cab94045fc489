//! Helpers for tests of nodes and graphs (feature `testing`).
//!
//! | you want to test | take |
//! | --- | --- |
//! | what a node function does with its arguments | call it: it is a plain `async fn`; [`TestCtx`] makes a [`Ctx`](crate::Ctx) |
//! | a node through the engine's own extraction | [`node_once`] |
//! | which nodes run in which super-step | [`Stepper`] |
//! | what a turn told | [`run_logged`] |
//! | an implementation of a long-term store | [`long_term_store_conformance!`](crate::long_term_store_conformance) |
//! | that no order of finishing, failure or crash changes the end | [`Shuffled`] |
//! | a checkpoint store of your own | [`checkpoint_store_conformance!`](crate::checkpoint_store_conformance) |

pub mod conformance;
mod ctx;
mod logged;
pub mod longterm;
mod node_once;
mod shuffled;
mod stepper;

pub use ctx::{TestCtx, TestEvents};
pub use logged::run_logged;
pub use node_once::{NodeOnce, node_once};
pub use shuffled::{Shuffled, ShuffledRun};
pub use stepper::{StepReport, Stepper};
