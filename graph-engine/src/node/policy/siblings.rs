//! What happens to the other tasks of a super-step when one has failed.

use serde::{Deserialize, Serialize};

/// What happens to the other tasks of a super-step when one has failed for good and no error route takes over. Either
/// way the results of those that finished are kept, and proceeding runs only the others.
///
/// ```
/// use graph_engine::{Graph, START, Siblings, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// let graph = Graph::<Trip>::builder("trip")
///     .siblings(Siblings::Cancel)
///     .node("explore", explore)
///     .edge(START, "explore")
///     .compile()?;
/// # let _ = graph;
/// # Ok::<(), graph_engine::CompileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Siblings {
    /// They run to their end, with all their attempts.
    #[default]
    Finish,
    /// They stop at their next await.
    Cancel,
}
