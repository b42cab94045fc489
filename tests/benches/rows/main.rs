//! The engine beside the least that Rust can do by hand, in one process: CPU time, limit and engine in turn, the
//! ratio of each pair, the median of nine. Then how costs grow: two sizes in turn, the median ratio of their units.
//!
//! ```text
//! cargo bench -p behaviour-tests             all rows
//! cargo bench -p behaviour-tests -- loop     rows whose name contains `loop`
//! ```

mod assemble;
mod checkpoints;
mod dispatch;
mod fan;
mod gate;
mod invoke;
mod measure;
mod nodes;
mod sequence;
mod shape;
mod state_size;
mod stream;
mod together;

use tokio::runtime::{Builder, Runtime};

use crate::measure::heading;

/// Runs a future to its end on the one thread that all rows use.
pub(crate) struct Here(Runtime);

impl Here {
    fn new() -> Self {
        Self(Builder::new_current_thread().enable_time().build().expect("a runtime"))
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

fn main() {
    let here = Here::new();
    heading(&["row", "unit", "limit", "engine", "ratio", "target", "verdict"]);
    sequence::rows(&here);
    checkpoints::rows(&here);
    fan::rows(&here);
    invoke::rows(&here);
    state_size::rows(&here);
    stream::rows(&here);
    gate::rows(&here);
    dispatch::rows(&here);
    shape::rows();
    together::rows(&here);
    assemble::rows();
    heading(&["law", "unit", "small", "large", "ratio", "target", "verdict"]);
    sequence::laws(&here);
    checkpoints::laws(&here);
    fan::laws(&here);
    state_size::laws(&here);
    gate::laws(&here);
    dispatch::laws(&here);
    shape::laws();
    together::laws(&here);
    assemble::laws();
}
