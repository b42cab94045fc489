//! `ckpt_loop` and `state_size`: a loop beside a list of messages, which it appends to or leaves alone.

use std::sync::Arc;

use async_trait::async_trait;
use graph_engine::{Graph, Log, Node, NodeError, Outcome, Runner, START, State, Task};

use super::count::Again;
use super::letters;

/// A message as every side has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Msg {
    pub(crate) role: String,
    pub(crate) id: u64,
    pub(crate) content: String,
}

/// The `i`th message: a text of so many bytes that no store can compress away.
pub(crate) fn msg(i: u64, size: usize) -> Msg {
    let content = letters(i, size);
    Msg { role: if i.is_multiple_of(2) { "user" } else { "assistant" }.to_owned(), id: i, content }
}

/// A counter, how far it goes, and what was said.
#[derive(State, Default, Clone)]
pub(crate) struct Chat {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    #[state(append)]
    pub(crate) messages: Log<Msg>,
}

/// Counts up and says one thing more.
struct Grow;

#[async_trait]
impl Node<Chat> for Grow {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        let n = task.state().n;
        Ok(Outcome::of(Chat::update().n(n + 1).messages([msg(n, 100)])))
    }
}

/// Adds a message of 100 bytes in each super-step, up to the limit.
pub(crate) fn growing() -> Runner<Chat> {
    let again = |chat: &Chat| if chat.n < chat.limit { Again::Step } else { Again::End };
    let graph = Graph::builder("chat").node("step", Grow).edge(START, "step").route("step", again);
    graph.compile().expect("compiles").runner().step_limit(u64::MAX).timings(false)
}

/// The same with messages by pointer, as they travel within a process.
#[derive(State, Default, Clone)]
pub(crate) struct History {
    pub(crate) n: u64,
    pub(crate) limit: u64,
    #[state(append)]
    pub(crate) messages: Log<Shared>,
}

/// A message by pointer.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(from = "Msg", into = "Msg")]
pub(crate) struct Shared(pub(crate) Arc<Msg>);

impl From<Msg> for Shared {
    fn from(message: Msg) -> Self {
        Self(Arc::new(message))
    }
}

impl From<Shared> for Msg {
    fn from(shared: Shared) -> Self {
        (*shared.0).clone()
    }
}

/// Whether a loop appends to the messages beside it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Touch {
    Idle,
    Append,
}

struct Step(Touch);

#[async_trait]
impl Node<History> for Step {
    async fn run(&self, task: &Task<History>) -> Result<Outcome<History>, NodeError> {
        let n = task.state().n;
        let update = History::update().n(n + 1);
        Ok(Outcome::of(match self.0 {
            Touch::Idle => update,
            Touch::Append => update.messages([Shared(Arc::new(msg(n, 100)))]),
        }))
    }
}

/// A loop beside so many bytes of messages of 100 bytes.
pub(crate) fn beside(bytes: u64, touch: Touch) -> Runner<History> {
    let messages = (0..bytes / 100).map(|i| Shared(Arc::new(msg(i, 100)))).collect();
    let again = |history: &History| if history.n < history.limit { Again::Step } else { Again::End };
    let graph = Graph::starting_from("history", History { messages, ..History::default() })
        .node("step", Step(touch))
        .edge(START, "step")
        .route("step", again);
    graph.compile().expect("compiles").runner().step_limit(u64::MAX).timings(false)
}
