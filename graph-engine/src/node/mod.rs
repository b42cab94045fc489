//! Vertices: what a node is, what it says of itself, and how functions become nodes.

/// Calls a macro with the type names of 0 to 8 arguments.
macro_rules! for_every_arity {
    ($functions:ident) => {
        $functions!();
        $functions!(A);
        $functions!(A, B);
        $functions!(A, B, C);
        $functions!(A, B, C, D);
        $functions!(A, B, C, D, E);
        $functions!(A, B, C, D, E, G);
        $functions!(A, B, C, D, E, G, H);
        $functions!(A, B, C, D, E, G, H, I);
    };
}

mod blocking;
mod erased;
mod ext;
mod into_node;
mod policy;

pub use blocking::{Blocking, blocking};
pub use ext::{NodeExt, NodeSpec};
pub use into_node::{ByHand, BySpec, IntoNode};
pub use policy::{Cache, Layer, NodeDefaults, Policy, Retry, Siblings};

use crate::error::NodeError;
use crate::state::State;
use crate::task::{NodeInfo, Outcome, Task};

/// A vertex of a graph. Most nodes are async functions; a library node that serves any state implements this.
///
/// # Contract
/// `run` is called once for each attempt of a task and sees the state as the super-step found it. What it writes and
/// where it goes is in the outcome; nothing of a failed or cancelled attempt is applied. The future is dropped before
/// the outcome is used, so a node that keeps a snapshot costs one copy of the state. `describe` is called when the
/// graph compiles and must always say the same.
///
/// ```
/// use graph_engine::{Field, Log, Node, NodeError, Outcome, State, Task};
///
/// /// Writes one line to a log field of any state.
/// struct Note<S: State> {
///     into: Field<S, Log<String>>,
///     text: &'static str,
/// }
///
/// #[graph_engine::async_trait]
/// impl<S: State> Node<S> for Note<S> {
///     async fn run(&self, _: &Task<S>) -> Result<Outcome<S>, NodeError> {
///         let mut update = S::Update::default();
///         self.into.put(&mut update, Log::from([self.text.to_owned()]));
///         Ok(Outcome::of(update))
///     }
/// }
/// ```
#[async_trait::async_trait]
pub trait Node<S: State>: Send + Sync + 'static {
    /// Runs one attempt of a task.
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError>;

    /// What the node needs, declares and looks like.
    fn describe(&self) -> NodeInfo {
        NodeInfo::default()
    }

    /// Whether it is a child graph itself, with nothing around it that could run it twice for one task.
    #[doc(hidden)]
    fn is_child_graph(&self) -> bool {
        false
    }
}
