//! States and nodes that several workloads share.

use async_trait::async_trait;
use graph_engine::{Log, Node, NodeError, Outcome, Route, State, Task};
use serde::{Deserialize, Serialize};

/// The one thread that everything runs on.
pub(crate) struct Here(pub(crate) tokio::runtime::Runtime);

impl Here {
    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

#[derive(State, Default, Clone)]
pub(crate) struct Count {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    #[state(append)]
    pub(crate) out: Log<u64>,
}

#[derive(State, Default, Clone)]
pub(crate) struct Chat {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    #[state(append)]
    pub(crate) messages: Log<Message>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Message {
    role: String,
    id: u64,
    content: String,
}

pub(crate) fn message(i: u64) -> Message {
    Message { role: measure::role(i).to_owned(), id: i, content: measure::letters(i, 100) }
}

/// Counts up.
pub(crate) struct Tick;

#[async_trait]
impl Node<Count> for Tick {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().n(task.state().n + 1)))
    }
}

#[async_trait]
impl Node<Chat> for Tick {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        Ok(Outcome::of(Chat::update().n(task.state().n + 1)))
    }
}

/// Counts up and says something.
pub(crate) struct Say;

#[async_trait]
impl Node<Chat> for Say {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        let n = task.state().n;
        Ok(Outcome::of(Chat::update().n(n + 1).messages([message(n)])))
    }
}

/// Does nothing.
pub(crate) struct Rest;

#[async_trait]
impl<S: State> Node<S> for Rest {
    async fn run(&self, _: &Task<S>) -> Result<Outcome<S>, NodeError> {
        Ok(Outcome::default())
    }
}

/// Back to `tick`, or the end.
#[derive(Route)]
pub(crate) enum Again {
    Tick,
    #[route(end)]
    End,
}

impl Again {
    pub(crate) fn until(done: bool) -> Self {
        if done { Self::End } else { Self::Tick }
    }
}
