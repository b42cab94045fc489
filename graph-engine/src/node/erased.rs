//! The one place where the future of a node function is boxed.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use super::Node;
use crate::error::NodeError;
use crate::state::State;
use crate::task::{FromTask, IntoOutcome, NodeInfo, Outcome, Task};

/// A function with the types of its arguments and result.
pub(super) struct Function<F, M> {
    function: F,
    signature: PhantomData<fn() -> M>,
}

impl<F, M> Function<F, M> {
    pub(super) fn new(function: F) -> Self {
        Self { function, signature: PhantomData }
    }
}

macro_rules! functions {
    ($($argument:ident),*) => {
        impl<S, F, Fut, R, $($argument),*> Node<S> for Function<F, fn($($argument),*) -> R>
        where
            S: State,
            F: Fn($($argument),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoOutcome<S> + 'static,
            $($argument: FromTask<S> + Send + 'static,)*
        {
            // Written out instead of by the attribute, so that the arguments are not kept alive by the future twice.
            fn run<'a, 'b, 'f>(
                &'a self,
                task: &'b Task<S>,
            ) -> Pin<Box<dyn Future<Output = Result<Outcome<S>, NodeError>> + Send + 'f>>
            where
                'a: 'f,
                'b: 'f,
                Self: 'f,
            {
                let _ = task;
                $(
                    #[expect(non_snake_case, reason = "the macro names arguments after their types")]
                    let $argument = match $argument::from_task(task) {
                        Ok(argument) => argument,
                        Err(error) => return Box::pin(std::future::ready(Err(error))),
                    };
                )*
                let call = (self.function)($($argument),*);
                Box::pin(async move { call.await.into_outcome() })
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
