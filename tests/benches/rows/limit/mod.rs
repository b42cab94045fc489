//! The limits: what each workload costs at least when it is written by hand, with one concession, that every node is a
//! boxed async call behind a trait object. No frontier, no merge rules, no routes by name, no limits, no cancellation.

pub(crate) mod hotel;
pub(crate) mod runs;
pub(crate) mod sqlite;

use std::sync::Arc;

use async_trait::async_trait;

use crate::workloads::chat::{Msg, msg};

/// One state for all of them.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    pub(crate) out: Vec<u64>,
    pub(crate) messages: Vec<Arc<Msg>>,
}

/// What a node changes.
#[derive(Default)]
pub(crate) struct Update {
    pub(crate) n: Option<u64>,
    pub(crate) out: Vec<u64>,
    pub(crate) messages: Vec<Arc<Msg>>,
}

impl State {
    pub(crate) fn apply(&mut self, update: Update) {
        if let Some(n) = update.n {
            self.n = n;
        }
        self.out.extend(update.out);
        self.messages.extend(update.messages);
    }
}

/// The concession.
#[async_trait]
pub(crate) trait Node: Send + Sync {
    async fn run(&self, state: &State) -> Update;
}

/// Does nothing.
pub(crate) struct Noop;

#[async_trait]
impl Node for Noop {
    async fn run(&self, _: &State) -> Update {
        Update::default()
    }
}

/// Counts up.
pub(crate) struct Count;

#[async_trait]
impl Node for Count {
    async fn run(&self, state: &State) -> Update {
        Update { n: Some(state.n + 1), ..Update::default() }
    }
}

/// Counts up and adds a message of so many bytes.
pub(crate) struct Append(pub(crate) usize);

#[async_trait]
impl Node for Append {
    async fn run(&self, state: &State) -> Update {
        Update { n: Some(state.n + 1), messages: vec![Arc::new(msg(state.n, self.0))], ..Update::default() }
    }
}

/// Appends its number.
pub(crate) struct Emit(pub(crate) u64);

#[async_trait]
impl Node for Emit {
    async fn run(&self, _: &State) -> Update {
        Update { out: vec![self.0], ..Update::default() }
    }
}

/// The nodes one after the other.
pub(crate) async fn chain(nodes: &[Box<dyn Node>]) -> State {
    let mut state = State::default();
    for node in nodes {
        let update = node.run(&state).await;
        state.apply(update);
    }
    state
}

pub(crate) fn boxed<N: Node + 'static>(count: u64, node: impl Fn(u64) -> N) -> Vec<Box<dyn Node>> {
    (0..count).map(|i| Box::new(node(i)) as Box<dyn Node>).collect()
}
