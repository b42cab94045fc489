//! One conversation: it runs turns, and remembers them when the runner has a store.

use std::fmt;
use std::future::Future;

use serde::Serialize;

use super::runner::Runner;
use super::stream::EventReader;
use super::turn::Turn;
use crate::checkpoint_id::CheckpointId;
use crate::driver::StreamOptions;
use crate::error::StoreError;
use crate::graph::Graph;
use crate::machine::{Machine, Start};
use crate::name::Name;
use crate::panic::no_panic;
use crate::reply::Reply;
use crate::run_error::RunError;
use crate::state::{State, to_json};
use crate::store::{CheckpointInfo, Filter, Place, Stored};
use crate::task::{Answers, Interrupt, InterruptId, Move, Snap, TurnContext};
use crate::task_id::TaskId;

/// One conversation of a graph.
///
/// Without a store each run starts from the graph's initial state; with one it goes on where the last turn ended.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     said: Vec<String>,
/// }
///
/// async fn listen() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("listen", listen).edge(START, "listen").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update().said(["hello"])).await.unwrap();
/// thread.run(Trip::update().said(["Oslo"])).await.unwrap();
/// assert_eq!(thread.state().await.unwrap().state.said, ["hello", "Oslo"]);
/// # });
/// ```
#[derive(Clone)]
pub struct Thread<S: State> {
    pub(super) runner: Runner<S>,
    pub(super) id: Name,
}

/// Where a thread stands.
#[derive(Clone)]
#[non_exhaustive]
pub struct ThreadState<S> {
    /// The committed state.
    pub state: Snap<S>,
    /// The checkpoint it is from; `None` for a thread that never ran.
    pub checkpoint: Option<CheckpointId>,
    /// The nodes that would run next; empty when the last turn is over.
    pub next: Vec<Name>,
    /// What tasks of the unfinished super-step have done already. It is not in the state yet; `proceed` merges it and
    /// runs only the others.
    pub finished: Vec<FinishedTask>,
    /// The open questions, in task order.
    pub interrupts: Vec<Interrupt>,
    /// The replies of the last turn.
    pub replies: Vec<Reply>,
    /// The thread was completed by a `finish`.
    pub completed: bool,
    /// Super-steps since the thread began.
    pub step: u64,
}

/// A task that has finished while its super-step has not.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, Move, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn find() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// async fn book() -> Result<(), NodeError> {
///     Err(NodeError::fatal("no room"))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("find", find)
///     .node("book", book)
///     .edge(START, "find")
///     .edge(START, "book")
///     .compile()
///     .unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update()).await.unwrap_err();
/// let state = thread.state().await.unwrap();
/// assert_eq!((state.state.city.as_str(), &state.next[..]), ("", &["book".into()][..]));
/// assert_eq!((&*state.finished[0].node, &state.finished[0].wrote[..]), ("find", &["city".into()][..]));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FinishedTask {
    /// The node.
    pub node: Name,
    /// The task.
    pub task: TaskId,
    /// The fields that it writes.
    pub wrote: Vec<Name>,
    /// Where it goes.
    pub next: Move,
}

impl<S: State> Thread<S> {
    pub(crate) fn new(runner: Runner<S>, id: Name) -> Self {
        Self { runner, id }
    }

    /// The thread's id.
    #[must_use]
    pub fn id(&self) -> &Name {
        &self.id
    }

    pub(crate) fn graph(&self) -> &Graph<S> {
        self.runner.graph()
    }

    /// A turn with new input, which passes through the same merge rules as every update.
    pub fn run(&self, input: S::Update) -> Turn<S> {
        self.turn(Start::Input(input))
    }

    /// A turn that goes on after a failure, a cancellation or the step limit: what finished is not run again.
    pub fn proceed(&self) -> Turn<S> {
        self.turn(Start::Proceed)
    }

    /// A turn that answers the only open question and runs what waits for it.
    ///
    /// The turn fails, and nothing changes, if there is no open question, or if several are open
    /// ([`RunError::WhichAnswer`]). An answer of another type than the node asked for is refused
    /// ([`RunError::BadAnswer`]), and the question stays open.
    pub fn resume(&self, answer: impl Serialize) -> Turn<S> {
        self.turn(Start::Resume(match to_json(answer) {
            Ok(answer) => Answers::One(answer),
            Err(why) => Answers::Invalid(why),
        }))
    }

    /// A turn that answers open questions by their ids. Tasks whose questions are not among them go on waiting.
    ///
    /// ```
    /// use graph_engine::{Ctx, Graph, MemoryStore, NodeError, START, State, Status};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     #[state(append)]
    ///     said: Vec<String>,
    /// }
    ///
    /// async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    ///     let answer: String = ctx.interrupt(ctx.node().as_str())?;
    ///     Ok(Trip::update().said([answer]))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip")
    ///     .node("city", ask)
    ///     .node("date", ask)
    ///     .edge(START, "city")
    ///     .edge(START, "date")
    ///     .compile()
    ///     .unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// let paused = thread.run(Trip::update()).await.unwrap();
    /// let [city, date] = paused.interrupts() else { panic!("two questions") };
    /// let still = thread.resume_by_id([(date.id, "in May")]).await.unwrap();
    /// assert_eq!((still.status, still.interrupts()), (Status::Paused, std::slice::from_ref(city)));
    /// assert_eq!(thread.resume("Oslo").await.unwrap().state.said, ["Oslo", "in May"]);
    /// # });
    /// ```
    pub fn resume_by_id<A: Serialize>(&self, answers: impl IntoIterator<Item = (InterruptId, A)>) -> Turn<S> {
        let answers = answers.into_iter().map(|(id, answer)| Ok((id, to_json(answer)?)));
        let answers: Result<_, String> = answers.collect();
        self.turn(Start::Resume(answers.map_or_else(Answers::Invalid, Answers::ById)))
    }

    /// A turn that answers by their defaults the questions whose time is over.
    pub(super) fn expire(&self, now_ms: u64) -> Turn<S> {
        self.turn(Start::Expire(now_ms))
    }

    /// Reads the events of the turn that runs now, from here on; `None` if none of this thread runs in this process. A
    /// reader that comes late misses what was told before, and gets everything from then on until the end.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use graph_engine::{Ctx, EventKind, Graph, NodeError, START, State, StreamOptions};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn explore(ctx: Ctx) -> Result<(), NodeError> {
    ///     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    ///     ctx.emit("found").await
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// let thread = graph.runner().thread("guest-7");
    /// let turn = tokio::spawn(thread.run(Trip::update()).into_future());
    /// tokio::task::yield_now().await;
    /// let events = thread.subscribe(StreamOptions::default()).expect("the turn runs");
    /// let said = events.filter_map(async |event| match event.kind {
    ///     EventKind::Custom(value) => Some(value),
    ///     _ => None,
    /// });
    /// assert_eq!(said.collect::<Vec<_>>().await, ["found"]);
    /// # turn.await.unwrap().unwrap();
    /// # });
    /// ```
    #[must_use]
    pub fn subscribe(&self, options: StreamOptions) -> Option<EventReader<S>> {
        let bench = self.runner.bench(&self.id)?;
        let (queue, events) = options.channel();
        bench.add_reader(options, queue).then_some(EventReader { events })
    }

    pub(super) fn turn(&self, start: Start<S>) -> Turn<S> {
        Turn::new(self.runner.clone(), self.id.clone(), start)
    }

    pub(super) fn place(&self) -> Place {
        Place::thread(&self.id)
    }

    pub(super) fn store_error(&self, cause: StoreError) -> RunError {
        RunError::Store { thread: self.id.clone(), cause }
    }

    /// Drops what is unfinished, so that new input is accepted. The merged state stays.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, [`RunError::Busy`] while a turn runs, and what the store says.
    pub async fn abandon(&self) -> Result<(), RunError> {
        if self.runner.checkpoints().is_none() {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "abandon" });
        }
        self.turn(Start::Abandon).await.map(|_| ()).map_err(|failed| *failed.error)
    }

    /// The committed state and what would come next.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, and what the store says.
    pub async fn state(&self) -> Result<ThreadState<S>, RunError> {
        self.state_at(None).await
    }

    /// The same as of an earlier checkpoint.
    ///
    /// # Errors
    /// As [`state`](Self::state); a checkpoint that is not stored is
    /// [`RunError::UnknownCheckpoint`].
    pub async fn state_at(&self, checkpoint: Option<CheckpointId>) -> Result<ThreadState<S>, RunError> {
        let Some(store) = self.runner.checkpoints() else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "state" });
        };
        self.guarded(async {
            let Some(id) = checkpoint else {
                let mut machine = self.reader();
                self.runner.restore_head(&**store, &self.id, &mut machine).await?;
                return Ok(self.view(&machine));
            };
            let stored = store.load(&self.place(), Some(id)).await.map_err(|cause| self.store_error(cause))?;
            if stored.is_none() {
                return Err(RunError::UnknownCheckpoint { thread: self.id.clone(), id });
            }
            self.restored(stored)
        })
        .await
    }

    /// A store and a state's serialisers are the user's: a panic in one is an error.
    pub(super) async fn guarded<T>(&self, work: impl Future<Output = Result<T, RunError>>) -> Result<T, RunError> {
        let panicked = |what| Err(RunError::Panicked { thread: self.id.clone(), step: 0, what });
        no_panic(work).await.unwrap_or_else(panicked)
    }

    /// A machine of no turn.
    fn reader(&self) -> Machine<S> {
        let graph = self.runner.graph().clone();
        let context = TurnContext::new(self.id.clone(), Name::default(), graph.inner().names.clone());
        Machine::new(graph, self.runner.options(), context.into(), None)
    }

    pub(super) fn restored(&self, stored: Option<Stored>) -> Result<ThreadState<S>, RunError> {
        let mut machine = self.reader();
        if let Some(stored) = stored {
            machine.restore(stored)?;
        }
        Ok(self.view(&machine))
    }

    /// Where a machine stands.
    pub(super) fn view(&self, machine: &Machine<S>) -> ThreadState<S> {
        let fields = machine.snapshot().state.fields();
        let finished = machine.finished().map(|(node, task, outcome)| FinishedTask {
            node: node.clone(),
            task,
            wrote: machine
                .snapshot()
                .state
                .written(&outcome.update)
                .iter()
                .map(|at| (&*fields[at].name).into())
                .collect(),
            next: outcome.to_move(),
        });
        let finished = finished.collect();
        ThreadState {
            state: Snap::shared(machine.snapshot().clone()),
            checkpoint: machine.head(),
            next: machine.pending(),
            finished,
            interrupts: machine.interrupts(),
            replies: machine.frontier().replies.clone(),
            completed: machine.frontier().completed,
            step: machine.step(),
        }
    }

    /// The thread's checkpoints that pass the filter, the newest first.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, and what the store says.
    pub async fn history(&self, filter: &Filter) -> Result<Vec<CheckpointInfo>, RunError> {
        let Some(store) = self.runner.checkpoints() else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "history" });
        };
        self.guarded(async { store.list(&self.place(), filter).await.map_err(|cause| self.store_error(cause)) }).await
    }

    /// Deletes everything stored of the thread; `false` if there was nothing.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, [`RunError::Busy`] while a turn runs, and what the store says.
    pub async fn delete(&self) -> Result<bool, RunError> {
        let Some(store) = self.runner.checkpoints() else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "delete" });
        };
        let _lease = self.runner.take(&self.id, None).await?;
        self.runner.kept().forget(&self.id);
        self.guarded(async { store.delete(&self.id).await.map_err(|cause| self.store_error(cause)) }).await
    }
}

impl<S: State> fmt::Debug for Thread<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for ThreadState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadState")
            .field("checkpoint", &self.checkpoint)
            .field("step", &self.step)
            .field("next", &self.next)
            .field("completed", &self.completed)
            .finish_non_exhaustive()
    }
}
