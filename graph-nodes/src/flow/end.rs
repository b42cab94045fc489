//! The vertex that finishes a thread.

use std::fmt;
use std::sync::Arc;

use graph_engine::{Field, Log, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};
use serde_json::Value;

use crate::message::Message;

/// Says the last words, and completes the thread.
pub(super) struct EndNode<S: State> {
    pub(super) history: Field<S, Log<Message>>,
    pub(super) text: Arc<dyn Fn(&S) -> String + Send + Sync>,
}

#[async_trait]
impl<S: State> Node<S> for EndNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let text = (self.text)(task.state());
        let mut update = S::Update::default();
        self.history.put(&mut update, Log::from([Message::assistant(&*text)]));
        Ok(Outcome::of(update).finish(Value::from(text)))
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Plain);
        info.finish = true;
        info.writes = Some(self.history.set());
        info
    }
}

impl<S: State> fmt::Debug for EndNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndNode").field("history", &self.history.name()).finish_non_exhaustive()
    }
}
