//! Logic goes on.

use std::sync::Arc;

use graph_engine::{Layer, Move, Name, Node, NodeError, Outcome, State, Task, async_trait};

/// Around the logic of this stage: going to the stage itself fails the task, because the same state would lead there
/// again. By way of another node, which may write, it may come back.
pub(super) struct Onward(pub(super) Name);

struct Goes<S: State> {
    stage: Name,
    inner: Arc<dyn Node<S>>,
}

impl<S: State> Layer<S> for Onward {
    fn wrap(&self, inner: Arc<dyn Node<S>>) -> Arc<dyn Node<S>> {
        Arc::new(Goes { stage: self.0.clone(), inner })
    }
}

#[async_trait]
impl<S: State> Node<S> for Goes<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let outcome = self.inner.run(task).await?;
        match outcome.to_move() {
            Move::Go(nodes) | Move::FanOut(nodes) if nodes.contains(&self.stage) => {
                Err(NodeError::fatal(format!("stage `{}` goes to itself; go to another stage, or finish", self.stage)))
            }
            _ => Ok(outcome),
        }
    }
}
