//! Graphs inside of graphs: as nodes, and called by nodes.

mod call;
mod error;
mod host;
mod nest;
mod space;
mod subgraph;

pub use call::{ChildCall, ChildEnd};
pub use error::ChildError;
pub(super) use host::Hosting;
pub use subgraph::{Subgraph, child};

/// What is stored of a child graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// One call: it may pause and go on, and the next one begins anew.
    #[default]
    PerTurn,
    /// All calls at this place of the thread.
    PerThread,
    Nothing,
}
