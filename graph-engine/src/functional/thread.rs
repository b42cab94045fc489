//! Runs of one thread of a workflow.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::end::stored;
use super::{INPUT, SAVED, WorkflowEnd, WorkflowError};
use crate::name::Name;
use crate::run::{EventStream, Thread, Turn};
use crate::state::dynamic::DynState;
use crate::state::to_json;
use crate::task::InterruptId;

/// One thread of a workflow: runs one after the other, each with what the last one saved.
///
/// ```
/// use graph_engine::{Entrypoint, MemoryStore, Workflow};
///
/// let ask = Entrypoint::new("ask", |workflow: Workflow<u32>, (): ()| async move { workflow.interrupt::<u32>("How many?") });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let thread = ask.runner().unwrap().store(MemoryStore::new()).thread("guest-7");
/// assert_eq!(thread.run(&()).await.unwrap().output, None);
/// assert_eq!(thread.resume(3).await.unwrap().output, Some(3));
/// assert_eq!(thread.saved::<u32>().await.unwrap(), Some(3));
/// # });
/// ```
pub struct WorkflowThread<I, O> {
    thread: Thread<DynState>,
    types: PhantomData<fn(I) -> O>,
}

impl<I: Serialize, O: DeserializeOwned> WorkflowThread<I, O> {
    pub(super) fn new(thread: Thread<DynState>) -> Self {
        Self { thread, types: PhantomData }
    }

    /// The thread of the graph behind it: its state, its history, `abandon`.
    #[must_use]
    pub fn thread(&self) -> &Thread<DynState> {
        &self.thread
    }

    /// A run with new input.
    pub fn run(&self, input: &I) -> WorkflowTurn<O> {
        let input = to_json(input).and_then(|input| {
            let update = self.thread.graph().inner().initial.update().set(INPUT, input);
            update.map_err(|error| error.to_string())
        });
        let thread = self.thread.id().clone();
        self.turn(input.map(|update| self.thread.run(update)).map_err(|why| WorkflowError::Input { thread, why }))
    }

    /// Goes on with the answer to the only open question: see [`Thread::resume`].
    pub fn resume(&self, answer: impl Serialize) -> WorkflowTurn<O> {
        self.turn(Ok(self.thread.resume(answer)))
    }

    /// Goes on with answers by the ids of their questions: see [`Thread::resume_by_id`].
    pub fn resume_by_id<A: Serialize>(&self, answers: impl IntoIterator<Item = (InterruptId, A)>) -> WorkflowTurn<O> {
        self.turn(Ok(self.thread.resume_by_id(answers)))
    }

    /// Goes on after a failure or a cancellation; finished tasks are not run again.
    pub fn proceed(&self) -> WorkflowTurn<O> {
        self.turn(Ok(self.thread.proceed()))
    }

    /// What the last finished run saved.
    ///
    /// # Errors
    /// What [`Thread::state`] says, and [`WorkflowError::Stored`] if it is no `V`.
    pub async fn saved<V: DeserializeOwned>(&self) -> Result<Option<V>, WorkflowError> {
        let state = self.thread.state().await.map_err(|error| WorkflowError::Thread(Box::new(error)))?.state;
        let saved: Option<(V,)> = stored(self.thread.id(), SAVED, &state)?;
        Ok(saved.map(|(saved,)| saved))
    }

    fn turn(&self, turn: Result<Turn<DynState>, WorkflowError>) -> WorkflowTurn<O> {
        WorkflowTurn { thread: self.thread.id().clone(), turn, types: PhantomData }
    }
}

impl<I, O> Clone for WorkflowThread<I, O> {
    fn clone(&self) -> Self {
        Self { thread: self.thread.clone(), types: PhantomData }
    }
}

impl<I, O> fmt::Debug for WorkflowThread<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkflowThread").field(&self.thread).finish()
    }
}

/// A run of a workflow that has not begun: `.await` it, or [`stream`](Self::stream) it.
///
/// ```
/// use futures_util::StreamExt;
/// use graph_engine::{Entrypoint, EventKind, Workflow, WorkflowEnd};
///
/// let echo = Entrypoint::new("echo", |workflow: Workflow<String>, said: String| async move {
///     workflow.ctx().emit("heard").await?;
///     Ok(said)
/// });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut events = echo.runner().unwrap().thread("t").run(&"hi".to_owned()).stream().unwrap();
/// let mut custom = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom(value) = event.kind {
///         custom.push(value);
///     }
/// }
/// let end = WorkflowEnd::<String>::of(&"t".into(), events.end().await.unwrap()).unwrap();
/// assert_eq!((custom, end.output.as_deref()), (vec!["heard".into()], Some("hi")));
/// # });
/// ```
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct WorkflowTurn<O> {
    thread: Name,
    turn: Result<Turn<DynState>, WorkflowError>,
    types: PhantomData<fn() -> O>,
}

impl<O: DeserializeOwned> WorkflowTurn<O> {
    /// Everything that a [`Turn`] can be told, such as what cancels it.
    pub fn with(self, change: impl FnOnce(Turn<DynState>) -> Turn<DynState>) -> Self {
        Self { turn: self.turn.map(change), ..self }
    }

    /// Runs it in a task of its own and gives its events; [`WorkflowEnd::of`] reads how it ended.
    ///
    /// # Errors
    /// If the input is no JSON.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn stream(self) -> Result<EventStream<DynState>, WorkflowError> {
        self.turn.map(Turn::stream)
    }
}

impl<O: DeserializeOwned + 'static> IntoFuture for WorkflowTurn<O> {
    type Output = Result<WorkflowEnd<O>, WorkflowError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { thread, turn, .. } = self;
        Box::pin(async move { WorkflowEnd::of(&thread, turn?.await?) })
    }
}

impl<O> fmt::Debug for WorkflowTurn<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowTurn").field("thread", &self.thread).finish_non_exhaustive()
    }
}
