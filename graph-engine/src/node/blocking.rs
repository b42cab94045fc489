//! Functions that block their thread, as nodes.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use super::Node;
use crate::error::NodeError;
use crate::state::State;
use crate::task::{FromTask, IntoOutcome, NodeInfo, Outcome, Task};

/// A function that blocks its thread, as a node; made by [`blocking`].
pub struct Blocking<F, M> {
    function: Arc<F>,
    signature: PhantomData<fn() -> M>,
}

/// Makes a node of a function that isn't async and may block: it computes for long, or waits for a file or a process.
/// It takes the same arguments and results as an async node and runs on a thread of its own, so that other tasks and
/// other turns go on.
///
/// A blocked thread can't be stopped. When the attempt times out or the turn is cancelled, the engine goes on without
/// it: its result will be dropped, and the report names it in [`stuck`](crate::RunReport::stuck) if it still runs when
/// the turn ends. Long work looks at [`Ctx::is_cancelled`](crate::Ctx::is_cancelled) now and then.
///
/// It needs a tokio runtime, unless [`Seams`](crate::Seams) say where blocking work runs.
///
/// ```
/// use graph_engine::{Graph, START, Snap, State, blocking};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     primes: usize,
/// }
///
/// fn count(trip: Snap<Trip>) -> TripUpdate {
///     let is_prime = |n: &u32| (2..*n).all(|d| n % d != 0);
///     Trip::update().primes((2..100).filter(is_prime).count() + trip.primes)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("count", blocking(count)).edge(START, "count").compile().unwrap();
/// let end = graph.runner().thread("guest-7").run(Trip::update()).await.unwrap();
/// assert_eq!(end.state.primes, 25);
/// # });
/// ```
pub fn blocking<F, M>(function: F) -> Blocking<F, M> {
    Blocking { function: Arc::new(function), signature: PhantomData }
}

impl<F, M> fmt::Debug for Blocking<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blocking({})", std::any::type_name::<F>())
    }
}

macro_rules! functions {
    ($($argument:ident),*) => {
        impl<S, F, R, $($argument),*> Node<S> for Blocking<F, fn($($argument),*) -> R>
        where
            S: State,
            F: Fn($($argument),*) -> R + Send + Sync + 'static,
            R: IntoOutcome<S> + 'static,
            $($argument: FromTask<S> + Send + 'static,)*
        {
            fn run<'a, 'b, 'f>(
                &'a self,
                task: &'b Task<S>,
            ) -> Pin<Box<dyn Future<Output = Result<Outcome<S>, NodeError>> + Send + 'f>>
            where
                'a: 'f,
                'b: 'f,
                Self: 'f,
            {
                $(
                    #[expect(non_snake_case, reason = "the macro names arguments after their types")]
                    let $argument = match $argument::from_task(task) {
                        Ok(argument) => argument,
                        Err(error) => return Box::pin(std::future::ready(Err(error))),
                    };
                )*
                let function = self.function.clone();
                Box::pin(async move { task.blocking(move || function($($argument),*).into_outcome()).await? })
            }

            fn describe(&self) -> NodeInfo {
                let mut info = NodeInfo::default();
                $($argument::describe(&mut info);)*
                R::describe(&mut info);
                info
            }
        }
    };
}

for_every_arity!(functions);
