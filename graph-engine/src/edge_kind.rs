//! What an edge is: the word that the declared shape and the executed path share.

use serde::{Deserialize, Serialize};

/// What an edge is.
///
/// ```
/// use graph_engine::EdgeKind;
///
/// assert!(EdgeKind::Go.is_conditional());
/// assert!(!EdgeKind::Static.is_conditional());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EdgeKind {
    /// Always taken.
    Static,
    /// Taken once all sources of a join have finished.
    Join,
    /// Chosen by a router or a command.
    Go,
    /// One task for each payload.
    FanOut,
    /// Back to the entry of the cluster, with feedback; a loop on the node when it is in no cluster.
    Stay,
    /// A reply that ends the branch.
    Direct,
    /// A reply that completes the thread.
    Finish,
    /// To the handler of a node that failed for good.
    Error,
}

impl EdgeKind {
    /// Whether the edge is taken only sometimes.
    #[must_use]
    pub const fn is_conditional(self) -> bool {
        !matches!(self, Self::Static | Self::Join)
    }
}
