//! A thread as of one of its checkpoints: from there turns begin a new branch.

use std::fmt;

use serde::Serialize;

use super::edit::{Edit, Edits};
use super::thread::{Thread, ThreadState};
use super::turn::Turn;
use crate::checkpoint_id::CheckpointId;
use crate::machine::Start;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::InterruptId;

/// A thread as of one of its checkpoints. What begins here is a new branch: its first checkpoint follows this one, the
/// old branch stays readable, and the thread's head is the new branch.
///
/// The super-step that comes next here is made anew: results that the old branch had saved since are not used, and keys
/// of its tasks differ from those of the old one. What the checkpoint itself holds of finished tasks stays.
///
/// ```
/// use graph_engine::{Filter, Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     #[state(append)]
///     log: Vec<String>,
/// }
///
/// async fn choose() -> TripUpdate {
///     Trip::update().city("Oslo").log(["choose".to_owned()])
/// }
///
/// async fn book() -> TripUpdate {
///     Trip::update().log(["book".to_owned()])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("choose", choose)
///     .node("book", book)
///     .edge(START, "choose")
///     .edge("choose", "book")
///     .compile()
///     .unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update()).await.unwrap();
/// // Newest first: after `book`, after `choose`, the input.
/// let history = thread.history(&Filter::default()).await.unwrap();
/// let chosen = thread.at(history[1].id);
/// assert_eq!(chosen.state().await.unwrap().state.log, ["choose"]);
/// chosen.edit(Trip::update().city("Bergen")).await.unwrap();
/// let end = thread.proceed().await.unwrap();
/// assert_eq!((end.state.city.as_str(), &end.state.log[..]), ("Bergen", &["choose".to_owned(), "book".to_owned()][..]));
/// # });
/// ```
#[derive(Clone)]
pub struct At<S: State> {
    thread: Thread<S>,
    checkpoint: CheckpointId,
}

impl<S: State> Thread<S> {
    /// The thread as of one of its checkpoints. Whether it is stored is seen when something is done with it:
    /// [`RunError::UnknownCheckpoint`] if not.
    #[must_use]
    pub fn at(&self, checkpoint: CheckpointId) -> At<S> {
        At { thread: self.clone(), checkpoint }
    }
}

impl<S: State> At<S> {
    fn turn(&self, start: Start<S>) -> Turn<S> {
        self.here(self.thread.turn(start))
    }

    fn here(&self, mut turn: Turn<S>) -> Turn<S> {
        turn.rare().at = Some(self.checkpoint);
        turn
    }

    /// A turn with new input on a new branch. A checkpoint with unfinished tasks takes none:
    /// [`abandon`](Self::abandon) them here first.
    pub fn run(&self, input: S::Update) -> Turn<S> {
        self.turn(Start::Input(input))
    }

    /// A turn that goes on from here on a new branch. From a checkpoint at which nothing is left to run it is
    /// [`RunError::NothingToProceed`].
    pub fn proceed(&self) -> Turn<S> {
        self.turn(Start::Proceed)
    }

    /// A turn that answers the question that was open here, on a new branch; see [`Thread::resume`].
    pub fn resume(&self, answer: impl Serialize) -> Turn<S> {
        self.here(self.thread.resume(answer))
    }

    /// A turn that answers several of them by their ids, on a new branch; see [`Thread::resume_by_id`].
    pub fn resume_by_id<A: Serialize>(&self, answers: impl IntoIterator<Item = (InterruptId, A)>) -> Turn<S> {
        self.here(self.thread.resume_by_id(answers))
    }

    /// Makes a branch on which nothing is left to run. If that is so here already, nothing happens and the head stays.
    ///
    /// # Errors
    /// As [`Thread::abandon`], and [`RunError::UnknownCheckpoint`].
    pub async fn abandon(&self) -> Result<(), RunError> {
        self.turn(Start::Abandon).await.map(|_| ()).map_err(|failed| *failed.error)
    }

    /// The state here and what came next.
    ///
    /// # Errors
    /// As [`Thread::state_at`].
    pub async fn state(&self) -> Result<ThreadState<S>, RunError> {
        self.thread.state_at(Some(self.checkpoint)).await
    }

    /// A write from outside that begins a branch; see [`Thread::edit`].
    pub fn edit(&self, update: S::Update) -> Edits<S> {
        self.edit_all([Edit::new(update)])
    }

    /// Several of them; see [`Thread::edit_all`].
    pub fn edit_all(&self, edits: impl IntoIterator<Item = Edit<S>>) -> Edits<S> {
        Edits::new(self.thread.clone(), Some(self.checkpoint), edits)
    }

    /// A new thread that ends here: it has this checkpoint as its head, and what led to it as its history; see
    /// [`Thread::fork`].
    ///
    /// # Errors
    /// As [`Thread::fork`], and [`RunError::UnknownCheckpoint`].
    pub async fn fork(&self, thread: impl Into<Name>) -> Result<Thread<S>, RunError> {
        self.thread.fork_at(self.checkpoint, thread.into()).await
    }
}

impl<S: State> fmt::Debug for At<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("At").field("thread", self.thread.id()).field("checkpoint", &self.checkpoint).finish()
    }
}
