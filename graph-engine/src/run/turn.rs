//! One run of a thread: awaited, or streamed.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;

use super::breakpoints::{BreakAt, Breakpoints};
use super::end::TurnEnd;
use super::replay::Again;
use super::runner::Runner;
use super::stream::{EventReader, EventStream};
use crate::checkpoint_id::CheckpointId;
use crate::driver::{BoxFuture, Clock, Durability, Event, Mode, StreamOptions, TokenReader};
use crate::machine::Start;
use crate::name::Name;
use crate::run_error::TurnError;
use crate::state::State;
use crate::store::Tags;
use crate::task::{Cancel, CancelOnDrop, Cause, Resources};

/// A turn that has not begun: `.await` it, or `.stream()` it.
///
/// Awaiting drives it in place, and dropping the future cancels it. [`stream`](Self::stream) runs it in a task of its
/// own.
///
/// ```
/// use futures_util::StreamExt;
/// use graph_engine::{Ctx, EventKind, Graph, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore(ctx: Ctx) -> Result<(), NodeError> {
///     ctx.emit("looking").await
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let mut events = graph.runner().thread("guest-7").run(Trip::update()).stream();
/// let mut said = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom(value) = event.kind {
///         said.push(value);
///     }
/// }
/// assert_eq!(said, ["looking"]);
/// assert_eq!(events.end().await.unwrap().report.steps, 1);
/// # });
/// ```
#[must_use = "a turn does nothing until it is awaited or streamed"]
pub struct Turn<S: State> {
    pub(super) runner: Runner<S>,
    pub(super) thread: Name,
    pub(super) start: Start<S>,
    /// Whoever waits for the cancellation must also wake when the turn is dropped.
    pub(super) cancel: CancelOnDrop,
    pub(super) deadline: Option<Duration>,
    pub(super) durability: Durability,
    /// Boxed, because a turn is moved about before it runs.
    pub(super) rare: Option<Box<Rare<S>>>,
}

/// What few turns are given.
pub(super) struct Rare<S> {
    pub(super) resources: Resources,
    pub(super) tags: Option<Arc<Tags>>,
    /// The checkpoint from which it begins a branch.
    pub(super) at: Option<CheckpointId>,
    /// Beside those of the runner.
    pub(super) breaks: Breakpoints,
    pub(super) again: Option<Again>,
    pub(super) readers: Vec<(StreamOptions, mpsc::Sender<Event<S>>)>,
    cancel_on: Option<BoxFuture>,
    drain_on: Option<BoxFuture>,
}

impl<S> Default for Rare<S> {
    fn default() -> Self {
        Self {
            resources: Resources::default(),
            tags: None,
            at: None,
            breaks: Breakpoints::default(),
            again: None,
            readers: Vec::new(),
            cancel_on: None,
            drain_on: None,
        }
    }
}

impl<S: State> Turn<S> {
    pub(crate) fn new(runner: Runner<S>, thread: Name, start: Start<S>) -> Self {
        Self {
            deadline: runner.turn_deadline(),
            durability: runner.durability_mode(),
            runner,
            thread,
            start,
            cancel: CancelOnDrop::default(),
            rare: None,
        }
    }

    pub(super) fn rare(&mut self) -> &mut Rare<S> {
        self.rare.get_or_insert_default()
    }

    /// Gives the nodes a resource for this turn only, in front of the runner's. It is never stored and needed again
    /// when the thread goes on.
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// The same for a value that is shared already, or a trait object.
    pub fn with_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.rare().resources.insert(value);
        self
    }

    /// Marks the turn's checkpoints, so that [`Thread::history`](crate::Thread::history) finds them.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        Arc::make_mut(self.rare().tags.get_or_insert_default()).insert(key.into(), value.into());
        self
    }

    /// Cancels the turn when the future is ready. Nodes stop at their next await; nothing of an unfinished task is
    /// applied, and `proceed` goes on.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.rare().cancel_on = Some(Box::pin(signal));
        self
    }

    /// Stops the turn before its next super-step once the future is ready: what runs finishes and is merged, the turn
    /// ends as [`Status::Drained`](crate::Status::Drained), and `proceed` goes on. A turn that has nothing left to run
    /// ends as done.
    pub fn drain_on(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.rare().drain_on = Some(Box::pin(signal));
        self
    }

    /// How long this turn may take, in place of the runner's [`deadline`](crate::Runner::deadline).
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// When this turn's checkpoints are stored, in place of the runner's [`durability`](crate::Runner::durability).
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Stops the turn before super-steps in which one of these nodes would run, as
    /// [`Status::Paused`](crate::Status::Paused); `proceed` goes on from there and stops again at a later visit. The
    /// places add to those of [`Runner::break_before`](crate::Runner::break_before).
    ///
    /// A name that is no node of the graph is [`RunError::UnknownNode`](crate::RunError::UnknownNode), and a runner
    /// without a store [`RunError::NoStore`](crate::RunError::NoStore), before anything runs.
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, START, State, Status};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     booked: bool,
    /// }
    ///
    /// async fn book() -> TripUpdate {
    ///     Trip::update().booked(true)
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("book", book).edge(START, "book").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// let end = thread.run(Trip::update()).break_before("book").await.unwrap();
    /// assert_eq!((end.status, end.state.booked), (Status::Paused, false));
    /// assert_eq!(end.report.breakpoints[0].to_string(), "before `book`");
    /// assert!(thread.proceed().break_before("book").await.unwrap().state.booked);
    /// # });
    /// ```
    pub fn break_before(mut self, nodes: impl Into<BreakAt>) -> Self {
        self.rare().breaks.before.push(nodes.into());
        self
    }

    /// Stops the turn after super-steps in which one of these nodes has finished, in the same way. A turn that has
    /// nothing left to run ends as done.
    pub fn break_after(mut self, nodes: impl Into<BreakAt>) -> Self {
        self.rare().breaks.after.push(nodes.into());
        self
    }

    /// What stops the turn from elsewhere, while it runs.
    #[must_use]
    pub fn control(&self) -> TurnControl {
        TurnControl { cancel: self.cancel.cancel().clone() }
    }

    /// Adds a reader of the text that nodes emit piece by piece, beside whatever drives the turn.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use graph_engine::{Ctx, Graph, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn speak(ctx: Ctx) {
    ///     ctx.token("Hel").await;
    ///     ctx.token("lo").await;
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("speak", speak).edge(START, "speak").compile().unwrap();
    /// let mut turn = graph.runner().thread("guest-7").run(Trip::update());
    /// let tokens = turn.tokens(16);
    /// let (end, pieces) = tokio::join!(turn.into_future(), tokens.filter_map(async |piece| piece.text).collect::<String>());
    /// assert_eq!(pieces, "Hello");
    /// # end.unwrap();
    /// # });
    /// ```
    pub fn tokens(&mut self, buffer: usize) -> TokenReader<S> {
        let options = StreamOptions::default().modes([Mode::Tokens]).buffer(buffer);
        let (queue, events) = options.channel();
        self.rare().readers.push((options, queue));
        TokenReader { events }
    }

    /// Adds a reader of events beside whatever drives the turn. Dropping it only ends its own reading.
    pub fn reader(&mut self, options: StreamOptions) -> EventReader<S> {
        let (queue, events) = options.channel();
        self.rare().readers.push((options, queue));
        EventReader { events }
    }

    /// Runs the turn in a task of its own and gives its events. Dropping the stream cancels the turn.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn stream(self) -> EventStream<S> {
        self.stream_with(StreamOptions::default())
    }

    /// The same with other events or another policy for a slow reader.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn stream_with(mut self, options: StreamOptions) -> EventStream<S> {
        let reader = self.reader(options);
        let (guard, thread) = (self.cancel.cancel().guard(), self.thread.clone());
        EventStream { thread, reader, turn: tokio::spawn(self.into_future()), _guard: guard }
    }
}

/// What happens to a turn from outside while it runs.
struct Signals {
    cancel_on: Option<BoxFuture>,
    drain_on: Option<BoxFuture>,
    deadline: Option<BoxFuture>,
    cancel: Cancel,
}

impl Signals {
    /// Whether something has happened.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        fn is_ready(signal: &mut Option<BoxFuture>, cx: &mut Context<'_>) -> bool {
            let ready = signal.as_mut().is_some_and(|signal| signal.as_mut().poll(cx).is_ready());
            if ready {
                *signal = None;
            }
            ready
        }
        let drained = is_ready(&mut self.drain_on, cx);
        if drained {
            self.cancel.drain();
        }
        let cancelled = is_ready(&mut self.cancel_on, cx);
        if cancelled {
            self.cancel.stop(Cause::Asked);
        }
        let late = is_ready(&mut self.deadline, cx);
        if late {
            self.cancel.stop(Cause::Deadline);
        }
        drained || cancelled || late
    }
}

impl<S: State> IntoFuture for Turn<S> {
    type Output = Result<TurnEnd<S>, TurnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        let (cancel_on, drain_on) = match &mut self.rare {
            Some(rare) => (rare.cancel_on.take(), rare.drain_on.take()),
            None => (None, None),
        };
        if cancel_on.is_none() && drain_on.is_none() && self.deadline.is_none() {
            return Box::pin(self.drive());
        }
        let clock = &self.runner.seams_ref().0.clock;
        let deadline = self.deadline.map(|after| (clock.clone(), after));
        let signals = Signals { cancel_on, drain_on, deadline: None, cancel: self.cancel.cancel().clone() };
        Box::pin(self.drive_with(signals, deadline))
    }
}

impl<S: State> Turn<S> {
    async fn drive_with(
        self,
        mut signals: Signals,
        deadline: Option<(Arc<dyn Clock>, Duration)>,
    ) -> Result<TurnEnd<S>, TurnError> {
        let mut turn = pin!(self.drive());
        // The time begins when the turn does.
        signals.deadline = deadline.map(|(clock, after)| clock.sleep(after));
        let mut began = false;
        poll_fn(|cx| {
            // A signal that is ready at once comes before the turn; later, a turn that ends at the moment of a signal
            // has ended before it.
            if !std::mem::replace(&mut began, true) {
                signals.poll(cx);
            }
            match turn.as_mut().poll(cx) {
                Poll::Pending if signals.poll(cx) => turn.as_mut().poll(cx),
                polled => polled,
            }
        })
        .await
    }
}

/// Stops a turn from elsewhere. Clones stop the same turn.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State, Status};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// let turn = thread.run(Trip::update());
/// turn.control().drain();
/// assert_eq!(turn.await.unwrap().status, Status::Drained);
/// assert_eq!(thread.proceed().await.unwrap().status, Status::Done);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct TurnControl {
    cancel: Cancel,
}

impl TurnControl {
    /// Cancels the turn: nodes stop at their next await, nothing of an unfinished task is applied.
    pub fn cancel(&self) {
        self.cancel.stop(Cause::Asked);
    }

    /// Lets the turn finish the super-step that runs, and no other.
    pub fn drain(&self) {
        self.cancel.drain();
    }
}

impl<S: State> fmt::Debug for Turn<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("thread", &self.thread).finish_non_exhaustive()
    }
}
