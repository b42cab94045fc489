//! One run of a thread: awaited, or streamed.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::runner::Runner;
use crate::driver::{Bench, BoxFuture, Event, EventKind, Hub, LocalDriver, Origin, StreamOptions};
use crate::graph::Graph;
use crate::machine::{Machine, Start, Stopped};
use crate::name::Name;
use crate::reply::Reply;
use crate::report::RunReport;
use crate::run_error::{RunError, TurnError};
use crate::state::State;
use crate::store::{Place, Tags};
use crate::task::{Cancel, CancelOnDrop, Resources, Sink, Snap, TurnContext};

/// How a turn ended.
///
/// ```
/// use graph_engine::Status;
///
/// assert_ne!(Status::Done, Status::Cancelled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Nothing is left to run.
    Done,
    /// The thread is complete; it takes no further input.
    Completed,
    /// It was cancelled; `proceed` goes on.
    Cancelled,
}

/// The end of a turn that did not fail.
#[derive(Clone)]
#[non_exhaustive]
pub struct TurnEnd<S> {
    /// How it ended.
    pub status: Status,
    /// The state at the end. Keeping it over the next turn costs one copy of the state when there is no store.
    pub state: Snap<S>,
    /// Direct replies by (step, task).
    pub replies: Vec<Reply>,
    /// What the turn did.
    pub report: RunReport,
}

impl<S> fmt::Debug for TurnEnd<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnEnd")
            .field("status", &self.status)
            .field("replies", &self.replies)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<S> TurnEnd<S> {
    /// The first reply.
    #[must_use]
    pub fn reply(&self) -> Option<&Value> {
        self.replies.first().map(|reply| &reply.value)
    }

    /// The first reply as a value of your own type.
    ///
    /// # Errors
    /// If the reply is no `T`.
    pub fn reply_as<T: DeserializeOwned>(&self) -> serde_json::Result<Option<T>> {
        self.reply().map(T::deserialize).transpose()
    }
}

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
    runner: Runner<S>,
    thread: Name,
    start: Start<S>,
    resources: Resources,
    tags: Tags,
    cancel: Cancel,
    cancel_on: Option<BoxFuture>,
    readers: Vec<(StreamOptions, mpsc::Sender<Event<S>>)>,
}

impl<S: State> Turn<S> {
    pub(crate) fn new(runner: Runner<S>, thread: Name, start: Start<S>) -> Self {
        Self {
            runner,
            thread,
            start,
            resources: Resources::default(),
            tags: Tags::new(),
            cancel: Cancel::default(),
            cancel_on: None,
            readers: Vec::new(),
        }
    }

    /// Gives the nodes a resource for this turn only, in front of the runner's. It is never stored and needed again
    /// when the thread goes on.
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// The same for a value that is shared already, or a trait object.
    pub fn with_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.resources.insert(value);
        self
    }

    /// Marks the turn's checkpoints, so that [`Thread::history`](crate::Thread::history) finds them.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Cancels the turn when the future is ready. Nodes stop at their next await; nothing of an unfinished task is
    /// applied, and `proceed` goes on.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.cancel_on = Some(Box::pin(signal));
        self
    }

    /// Adds a reader of events beside whatever drives the turn. Dropping it only ends its own reading.
    pub fn reader(&mut self, options: StreamOptions) -> EventReader<S> {
        let (queue, events) = options.channel();
        self.readers.push((options, queue));
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
        let (guard, thread) = (self.cancel.guard(), self.thread.clone());
        EventStream { thread, reader, turn: tokio::spawn(self.into_future()), _guard: guard }
    }

    async fn drive(mut self) -> Result<TurnEnd<S>, TurnError> {
        let turn: Name = self.runner.seams_ref().ids.turn().into();
        let hub = (!self.readers.is_empty()).then(|| {
            let names = self.runner.graph().inner().names.clone();
            let clock = self.runner.seams_ref().clock.clone();
            let mut hub = Hub::new(turn.clone(), Name::default(), names, clock, self.cancel.clone());
            self.readers.drain(..).for_each(|(options, queue)| hub.add(options, queue));
            Arc::new(hub)
        });
        let mut step = 0;
        let ended = self.run_to_end(turn, hub.as_ref(), &mut step).await;
        if let Some(hub) = &hub {
            let outcome = match &ended {
                Ok(end) => format!("{:?}", end.status).to_lowercase(),
                Err(failed) => failed.to_string(),
            };
            hub.send(Origin::step(step), EventKind::Ended { outcome }).await;
        }
        ended
    }

    async fn run_to_end(self, turn: Name, hub: Option<&Arc<Hub<S>>>, step: &mut u64) -> Result<TurnEnd<S>, TurnError> {
        let _lease = self.runner.lease(&self.thread)?;
        let mut resources = self.runner.resources().clone();
        resources.extend(&self.resources);
        let graph = self.runner.graph().clone();
        if !matches!(self.start, Start::Abandon) {
            check_needs(&graph, &self.thread, &resources)?;
        }
        let store = self.runner.checkpoints().cloned();
        if store.is_none() && matches!(self.start, Start::Proceed) {
            return Err(RunError::NoStore { thread: self.thread, operation: "proceed" }.into());
        }
        let seams = self.runner.seams_ref().clone();
        let mut context = turn_context(&graph, &self.thread, turn);
        context.resources = resources;
        context.cancel = self.cancel.clone();
        context.sink = hub.map(|hub| {
            let sink: Arc<dyn Sink> = hub.clone();
            Arc::downgrade(&sink)
        });
        let context = Arc::new(context);
        let mut machine = Machine::new(graph.clone(), self.runner.options(), context.clone(), self.tags.into());
        let place = Place::thread(&self.thread);
        if let Some(store) = &store {
            let stored = store.load(&place, None).await;
            let stored = stored.map_err(|cause| RunError::Store { thread: self.thread.clone(), cause })?;
            if let Some(stored) = stored {
                machine.restore(stored)?;
            }
        }
        *step = machine.step();
        if let Some(hub) = hub {
            hub.send(Origin::step(*step), EventKind::Started).await;
        }
        let nodes = graph.inner().names.len();
        let measure = self.runner.measures();
        let mut driver = LocalDriver {
            bench: Arc::new(Bench { graph: graph.clone(), turn: context, seams, hub: hub.cloned(), measure }),
            store: store.map(|store| (store, place)),
            parallel: self.runner.parallel_mode(),
            node_time: vec![Duration::ZERO; nodes],
        };
        let stopped = driver.drive(&mut machine, self.start).await;
        *step = machine.step();
        let mut report = machine.take_report();
        let times = graph.inner().names.iter().zip(driver.node_time).filter(|(_, took)| !took.is_zero());
        report.node_time = times.map(|(name, took)| (name.clone(), took)).collect();
        let ended = match stopped {
            Ok(Stopped::Done) => Ok(if machine.frontier().completed { Status::Completed } else { Status::Done }),
            Ok(Stopped::Cancelled) => Ok(Status::Cancelled),
            Ok(Stopped::Failed(error)) | Err(error) => Err(error),
        };
        match ended {
            Ok(status) => Ok(TurnEnd {
                status,
                replies: machine.frontier().replies.clone(),
                state: Snap::shared(machine.snapshot().clone()),
                report,
            }),
            Err(error) => Err(TurnError::new(error, report, driver.store.is_some())),
        }
    }
}

impl<S: State> IntoFuture for Turn<S> {
    type Output = Result<TurnEnd<S>, TurnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        let cancel = self.cancel.clone();
        let mut signal = self.cancel_on.take();
        let mut turn = Box::pin(self.drive());
        // Whoever waits for the cancellation must also wake when the turn is dropped.
        let guard = cancel.guard();
        Box::pin(async move {
            let ended = poll_fn(|cx| {
                if let Some(waiting) = &mut signal
                    && waiting.as_mut().poll(cx).is_ready()
                {
                    signal = None;
                    cancel.cancel();
                }
                turn.as_mut().poll(cx)
            })
            .await;
            drop(guard);
            ended
        })
    }
}

impl<S: State> fmt::Debug for Turn<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// What the tasks of a turn are given, before readers and resources are known.
pub(crate) fn turn_context<S: State>(graph: &Graph<S>, thread: &Name, turn: Name) -> TurnContext {
    TurnContext {
        thread: thread.clone(),
        turn,
        namespace: Name::default(),
        nodes: graph.inner().names.clone(),
        resources: Resources::default(),
        cancel: Cancel::default(),
        sink: None,
    }
}

fn check_needs<S: State>(graph: &Graph<S>, thread: &Name, resources: &Resources) -> Result<(), RunError> {
    let vertices = graph.inner().vertices.iter().zip(graph.inner().names.iter());
    let needs = vertices.flat_map(|(vertex, name)| vertex.info.needs.iter().map(move |need| (name, *need)));
    match resources.missing(needs) {
        None => Ok(()),
        Some((node, need)) => {
            Err(RunError::MissingResource { thread: thread.clone(), node, resource: need.type_name() })
        }
    }
}

/// Events of a turn that somebody else drives. It ends after the event `Ended`.
pub struct EventReader<S> {
    events: mpsc::Receiver<Event<S>>,
}

impl<S> Stream for EventReader<S> {
    type Item = Event<S>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<S>>> {
        self.events.poll_recv(cx)
    }
}

/// A running turn and its events. It ends after the event `Ended`; [`end`](Self::end) gives the result.
pub struct EventStream<S> {
    thread: Name,
    reader: EventReader<S>,
    turn: JoinHandle<Result<TurnEnd<S>, TurnError>>,
    /// Cancels the turn when the stream is dropped.
    _guard: CancelOnDrop,
}

impl<S> EventStream<S> {
    /// The result of the turn; events that were not read are dropped.
    ///
    /// # Errors
    /// The turn's own error.
    pub async fn end(mut self) -> Result<TurnEnd<S>, TurnError> {
        // From here on nobody reads: the turn must not wait for room in the queue.
        self.reader.events.close();
        while self.reader.events.recv().await.is_some() {}
        let ended = (&mut self.turn).await;
        ended.unwrap_or_else(|error| {
            let what = if error.is_panic() { "the turn's task panicked" } else { "the turn's task was dropped" };
            Err(RunError::Internal { thread: self.thread.clone(), what: what.into() }.into())
        })
    }
}

impl<S> Stream for EventStream<S> {
    type Item = Event<S>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<S>>> {
        Pin::new(&mut self.reader).poll_next(cx)
    }
}

impl<S> fmt::Debug for EventReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventReader")
    }
}

impl<S> fmt::Debug for EventStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}
