//! A question that a node asks of a person or another system, and the answers to such questions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint_id::{CheckpointId, IdPrefix};
use crate::name::Name;
use crate::task_id::TaskId;

/// Identifies a question. It is derived from the checkpoint that scheduled the task, the task, the scope and the number
/// of the question in it, so it stays the same however often the node runs again.
///
/// ```
/// use graph_engine::InterruptId;
///
/// let id: InterruptId = "000000000000000000000000000000ff".parse()?;
/// assert_eq!(id.to_string(), "000000000000000000000000000000ff");
/// assert!("ff".parse::<InterruptId>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InterruptId(CheckpointId);

impl InterruptId {
    pub(crate) fn derive(origin: &str, task: TaskId, scope: &str, nth: u32) -> Self {
        Self(IdPrefix::new(origin, scope, &task.to_string()).id(None, nth.into()))
    }
}

impl fmt::Display for InterruptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for InterruptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for InterruptId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|_| format!("`{text}` is not the id of an interrupt; it has 32 hexadecimal digits"))
    }
}

/// An open question: the turn is paused until somebody answers it.
///
/// ```
/// use graph_engine::{Ctx, Graph, MemoryStore, NodeError, START, State, Status};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     booked: bool,
/// }
///
/// async fn book(ctx: Ctx) -> Result<TripUpdate, NodeError> {
///     let sure: bool = ctx.interrupt("Book the Palace?")?;
///     Ok(Trip::update().booked(sure))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("book", book).edge(START, "book").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// let paused = thread.run(Trip::update()).await.unwrap();
/// assert_eq!(paused.status, Status::Paused);
/// assert_eq!(paused.interrupts()[0].question, "Book the Palace?");
///
/// let end = thread.resume(true).await.unwrap();
/// assert!(end.state.booked);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interrupt {
    /// By this it is answered.
    pub id: InterruptId,
    /// The namespace of the child graph that asks; empty at the top.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub namespace: Name,
    /// The node that asks.
    pub node: Name,
    /// Its task.
    pub task: TaskId,
    /// What it asks.
    pub question: Value,
    /// When it is answered by its default, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

fn is_empty(name: &Name) -> bool {
    name.is_empty()
}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` asks {} ({})", self.node, self.question, self.id)
    }
}

/// An answer that is not of the type that the node asked for. The question is open again.
///
/// ```
/// use graph_engine::{Ctx, Graph, MemoryStore, NodeError, RunError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     guests: u32,
/// }
///
/// async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
///     Ok(Trip::update().guests(ctx.interrupt::<u32>("How many guests?")?))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("ask", ask).edge(START, "ask").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update()).await.unwrap();
/// let refused = thread.resume("many").await.unwrap_err();
/// let RunError::BadAnswer { bad, .. } = &*refused.error else { panic!("{refused}") };
/// assert_eq!(bad[0].node, "ask");
/// assert_eq!(thread.resume(3).await.unwrap().state.guests, 3);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadAnswer {
    /// The question.
    pub id: InterruptId,
    /// The node that asked it.
    pub node: Name,
    /// What is wrong with the answer.
    pub why: String,
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer to {} of `{}` was refused: {}", self.id, self.node, self.why)
    }
}

/// What a turn is resumed with.
pub(crate) enum Answers {
    /// For the only question that is open.
    One(Value),
    /// For each question its own.
    ById(BTreeMap<InterruptId, Value>),
    /// It can't be written as JSON.
    Invalid(String),
}
