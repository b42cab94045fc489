//! The workloads themselves, as graphs and the nodes in them: what is timed in the rows, and what instructions are counted
//! of. Node bodies, sizes and messages are those of the same names on the other engines.

pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod count;
pub(crate) mod events;
pub(crate) mod fan;
pub(crate) mod gate;
pub(crate) mod sqlite;

use std::rc::Rc;

use graph_engine::{Runner, State, TurnEnd};
use tokio::runtime::{Builder, Runtime};

/// Runs a future to its end on the one thread that all rows use. A clone is the same thread.
#[derive(Clone)]
pub(crate) struct Here(Rc<Runtime>);

impl Here {
    pub(crate) fn new() -> Self {
        Self(Rc::new(Builder::new_current_thread().enable_time().build().expect("a runtime")))
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

/// One turn of the thread `t` from an input; without a store the thread is new each time.
pub(crate) async fn turn<S: State + Default>(runner: &Runner<S>, input: S::Update) -> TurnEnd<S> {
    runner.thread("t").run(input).await.expect("it ends")
}
