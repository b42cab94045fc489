//! Functions as nodes.

use std::future::Future;
use std::sync::Arc;

use super::Node;
use super::erased::Function;
use super::ext::NodeSpec;
use crate::state::State;
use crate::task::{FromTask, IntoOutcome};

/// What can be a node: an async function of extractors, a hand-written [`Node`], or one of these with policies.
///
/// `M` is only a marker that keeps the implementations apart.
///
/// ```
/// use graph_engine::{IntoNode, NodeSpec, Snap, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn shout(trip: Snap<Trip>) -> TripUpdate {
///     Trip::update().city(trip.city.to_uppercase())
/// }
///
/// let spec: NodeSpec<Trip> = shout.into_node();
/// # let _ = spec;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a node of a `{S}` graph",
    label = "not a node",
    note = "a node is an `async fn` whose arguments are extractors (`Snap`, `In`, `Res`, `Ctx`) and which returns `()`, an update, a `Command`, a route or a `Result` of these",
    note = "put `#[node({S})]` on the function to see which argument or result is wrong"
)]
pub trait IntoNode<S: State, M>: Sized {
    /// The node with its policies.
    fn into_node(self) -> NodeSpec<S>;
}

/// Marks a hand-written [`Node`].
#[derive(Debug)]
pub struct ByHand;

impl<S: State, N: Node<S>> IntoNode<S, ByHand> for N {
    fn into_node(self) -> NodeSpec<S> {
        NodeSpec::new(Arc::new(self))
    }
}

/// Marks a node that already has policies.
#[derive(Debug)]
pub struct BySpec;

impl<S: State> IntoNode<S, BySpec> for NodeSpec<S> {
    fn into_node(self) -> Self {
        self
    }
}

macro_rules! functions {
    ($($argument:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<S, F, Fut, R, $($argument),*> IntoNode<S, fn($($argument),*) -> R> for F
        where
            S: State,
            F: Fn($($argument),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoOutcome<S> + 'static,
            $($argument: FromTask<S> + Send + 'static,)*
        {
            fn into_node(self) -> NodeSpec<S> {
                NodeSpec::new(Arc::new(Function::<F, fn($($argument),*) -> R>::new(self)))
            }
        }
    };
}

for_every_arity!(functions);
