//! The workloads themselves, as graphs and the nodes in them: what is timed in the rows, and what instructions are counted
//! of. Node bodies, sizes and messages are those of the same names on the other engines.

pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod count;
pub(crate) mod events;
pub(crate) mod fan;
pub(crate) mod gate;
pub(crate) mod hotel;
pub(crate) mod react;
pub(crate) mod sqlite;
pub(crate) mod subgraph;
pub(crate) mod wide;

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

/// So many letters by chance, the same for the same number.
pub(crate) fn letters(i: u64, size: usize) -> String {
    let mut x = (i as u32).wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let letter = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abcdefghijklmnopqrstuvwxyz012345"[(x >> 27) as usize])
    };
    (0..size).map(letter).collect()
}
