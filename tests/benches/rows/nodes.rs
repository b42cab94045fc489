//! The state and nodes that rows share, for the engine and for the limits: one boxed call a node behind a trait
//! object, and nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use graph_engine::{Log, Node, NodeError, Outcome, Runner, State, Task};

use crate::Here;

#[derive(State, Default, Clone)]
pub(crate) struct Count {
    pub(crate) ticks: u64,
    #[state(append)]
    pub(crate) sums: Log<u64>,
}

/// Counts up.
pub(crate) struct Tick;

#[async_trait]
impl Node<Count> for Tick {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().ticks(task.state().ticks + 1)))
    }
}

/// Appends one number.
pub(crate) struct Add;

#[async_trait]
impl Node<Count> for Add {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().sums([task.state().ticks])))
    }
}

/// Does nothing.
pub(crate) struct Rest;

#[async_trait]
impl Node<Count> for Rest {
    async fn run(&self, _: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::default())
    }
}

/// The same nodes without an engine.
#[async_trait]
pub(crate) trait Bare: Send + Sync {
    async fn run(&self, count: &Count) -> CountUpdate;
}

#[async_trait]
impl Bare for Tick {
    async fn run(&self, count: &Count) -> CountUpdate {
        Count::update().ticks(count.ticks + 1)
    }
}

#[async_trait]
impl Bare for Add {
    async fn run(&self, count: &Count) -> CountUpdate {
        Count::update().sums([count.ticks])
    }
}

#[async_trait]
impl Bare for Rest {
    async fn run(&self, _: &Count) -> CountUpdate {
        Count::update()
    }
}

pub(crate) fn bare<B: Bare + 'static>(count: u64, node: impl Fn() -> B) -> Vec<Arc<dyn Bare>> {
    (0..count).map(|_| Arc::new(node()) as Arc<dyn Bare>).collect()
}

/// The `i`th name: in the order of numbers and of names.
pub(crate) fn name(i: u64) -> String {
    format!("n{i:05}")
}

/// One turn of a fresh thread.
pub(crate) fn turn<S: State + Default>(here: &Here, runner: &Runner<S>) {
    let end = here.run(async { runner.thread("t").run(S::Update::default()).await });
    assert!(end.is_ok());
}
