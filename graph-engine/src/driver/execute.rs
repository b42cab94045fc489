//! Runs one task: its cache, its place among the tasks at once, and one attempt with what is told of it.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use tracing::{Instrument, Span};

use super::event::{EventKind, Mode};
use super::guard::{Guards, Made};
use super::hub::{Hub, Origin};
use super::live::Live;
use super::local::Durability;
use super::metrics::{AttemptEnd, Metrics};
use super::seams::{Seams, millis};
use super::spans::Spans;
use crate::error::{FaultKind, NodeError};
use crate::graph::Graph;
use crate::machine::{Batch, Failure, TaskOutcome};
use crate::panic::panic_text;
use crate::state::{Merge, State};
use crate::store::Tags;
use crate::task::{NodeIx, Outcome, Task, TurnContext, Verdict};
use crate::task_id::TaskId;

/// What attempts need beside their task.
pub(crate) struct Bench<S: State> {
    pub(crate) graph: Graph<S>,
    pub(crate) turn: Arc<TurnContext>,
    pub(crate) seams: Seams,
    /// Who reads events, once somebody does.
    pub(crate) live: Live<S>,
    /// Only there when some node has a cache or a limit, or the turn has one.
    pub(crate) guards: Option<Guards>,
    /// Whether the time of each attempt is taken.
    pub(crate) measure: bool,
    pub(crate) metrics: Option<Arc<dyn Metrics>>,
    pub(crate) spans: Spans,
    /// The span of the super-step at hand.
    pub(crate) step: Mutex<Span>,
    pub(crate) given: Given,
}

/// What child graphs are given by the turn around them, beside what they take from its runner.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) durability: Durability,
    pub(crate) tags: Option<Arc<Tags>>,
    /// What keeps the thread from its next turn, once there is something to be stored. Weak, because a snapshot that
    /// outlives the turn must not.
    pub(crate) lease: OnceLock<Weak<dyn Any + Send + Sync>>,
}

/// An attempt that is over.
pub(crate) struct Ended<S: State> {
    pub(crate) id: TaskId,
    pub(crate) node: NodeIx,
    pub(crate) took: Duration,
    pub(crate) outcome: TaskOutcome<S>,
}

impl<S: State> Bench<S> {
    /// What attempts need that nobody watches.
    pub(crate) fn new(graph: Graph<S>, turn: Arc<TurnContext>, seams: Seams, guards: Option<Guards>) -> Self {
        let (spans, step) = (Spans { on: false, content: false }, Mutex::new(Span::none()));
        let (live, given) = (Live::default(), Given::default());
        Self { graph, turn, seams, live, guards, measure: false, metrics: None, spans, step, given }
    }

    /// Forgets a turn that is over; false if somebody may have something of it yet, or if it was no plain one.
    pub(crate) fn rest(bench: &mut Arc<Self>) -> bool {
        // Whoever reads its events, or reads late, has a reference.
        let Some(bench) = Arc::get_mut(bench) else { return false };
        // Each field by its name, so that none is forgotten.
        let Self { graph: _, turn, seams: _, live, guards, measure: _, metrics: _, spans, step: _, given } = bench;
        *given = Given::default();
        !spans.on
            && guards.is_none()
            && live.is_unused()
            // Whoever keeps a snapshot, or works on, has one too.
            && Arc::get_mut(turn).is_some_and(TurnContext::rest)
    }

    /// What a batch says of tasks that are not in it: which siblings are to stop, and who gives up its place.
    #[inline]
    pub(crate) fn prepare(&self, step: u64, batch: &mut Batch<S>) {
        // Before places are given back, so that nobody who is to stop gets one.
        if std::mem::take(&mut batch.stop) {
            self.turn.cancel.stop_step(step);
        }
        if let Some(guards) = &self.guards {
            guards.settle(|id| batch.tasks.iter().any(|task| task.id == id));
            guards.enter(batch.tasks.iter().map(|task| (task.id, task.node)));
        }
        if let Some(metrics) = &self.metrics {
            for task in batch.tasks.iter().filter(|task| task.attempt > 1) {
                metrics.retry(self.graph.name(), self.graph.inner().name_of(task.node), task.wait);
            }
        }
    }

    /// An attempt is over, and the machine is told next.
    pub(crate) fn over(&self, ended: &Ended<S>) {
        let Some(guards) = &self.guards else { return };
        // A task that was dropped or stopped before it began may have been given a place.
        guards.leave(ended.id);
        if matches!(ended.outcome, TaskOutcome::Failed(_)) {
            guards.tell(ended.id);
        }
    }

    /// Runs an attempt. The task still holds its snapshot afterwards: drop it before the machine gets the outcome.
    pub(crate) async fn timed(&self, task: &mut Task<S>) -> Ended<S> {
        let (id, node) = (task.id, task.node);
        // Rare paths are boxed, so that the future of a plain attempt stays small enough for tokio to spawn it unboxed.
        let waited = task.wait.is_zero() || Box::pin(self.sleep(id, task.wait)).await;
        if !waited || self.turn.cancel.stops(id.step) {
            return Ended { id, node, took: Duration::ZERO, outcome: TaskOutcome::Cancelled { started: false } };
        }
        let (took, outcome) = match (&self.guards, self.spans.on) {
            (None, false) => {
                let began = self.now();
                let outcome = self.execute(task).await;
                (self.since(began), outcome)
            }
            (Some(guards), false) => Box::pin(self.guarded(guards, task)).await,
            (_, true) => Box::pin(self.spanned(task)).await,
        };
        if let Some(metrics) = &self.metrics {
            metrics.attempt(self.graph.name(), self.graph.inner().name_of(node), end(&outcome), took);
        }
        Ended { id, node, took, outcome }
    }

    /// The same within a span of its own.
    async fn spanned(&self, task: &mut Task<S>) -> (Duration, TaskOutcome<S>) {
        let step = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let span = self.spans.attempt(&self.graph, &step, task);
        drop(step);
        let run = async {
            match &self.guards {
                Some(guards) => self.guarded(guards, task).await,
                None => {
                    let began = self.now();
                    let outcome = self.execute(task).await;
                    (self.since(began), outcome)
                }
            }
        };
        let (took, outcome) = run.instrument(span.clone()).await;
        self.spans.end_attempt(&span, &outcome);
        (took, outcome)
    }

    /// When an attempt begins, if that is of interest.
    pub(super) fn now(&self) -> Option<Duration> {
        (self.measure || self.metrics.is_some()).then(|| self.seams.0.clock.elapsed())
    }

    pub(super) fn since(&self, began: Option<Duration>) -> Duration {
        began.map_or(Duration::ZERO, |began| self.seams.0.clock.elapsed().saturating_sub(began))
    }

    async fn guarded(&self, guards: &Guards, task: &mut Task<S>) -> (Duration, TaskOutcome<S>) {
        let (id, node) = (task.id, task.node);
        let graph = self.graph.inner();
        let now = || self.seams.0.clock.elapsed();
        let key = match guards.look_up(graph, task, now()).await {
            Ok(hit) => {
                let outcome = TaskOutcome::Cached(hit);
                guards.leave(id);
                if let Some(hub) = self.hub() {
                    let origin = |index| Origin::task(id, node, task.attempt, index);
                    self.tell(hub, &outcome, origin, 0).await;
                }
                return (Duration::ZERO, outcome);
            }
            Err(key) => key,
        };
        let queued = now();
        let Some(place) = guards.place(id, &self.turn.cancel).await else {
            return (Duration::ZERO, TaskOutcome::Cancelled { started: false });
        };
        if let Some(metrics) = &self.metrics
            && graph.at(node).policy.limit.is_some()
        {
            metrics.queue(&graph.name, graph.name_of(node), now().saturating_sub(queued));
        }
        let began = self.now();
        let outcome = self.execute(task).await;
        let took = self.since(began);
        match &outcome {
            TaskOutcome::Failed(_) => guards.keep(id, place),
            TaskOutcome::Done(outcome) => {
                drop(place);
                let journals = &self.turn.journals;
                match key {
                    // Nobody else is to be served what was made of one person's answer.
                    Some(key) if journals.any() && journals.answered(id) => {
                        guards.warn(format!("the result of `{}` was not cached: it depends on an answer", key.node))
                    }
                    Some(key) => guards.note(graph, key, Made { id, node, state: task.state(), outcome }, now()),
                    None => {}
                }
            }
            TaskOutcome::Cached(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused => {}
        }
        (took, outcome)
    }

    async fn execute(&self, task: &mut Task<S>) -> TaskOutcome<S> {
        if self.turn.cancel.is_read() {
            task.emitted = Some(Arc::new(AtomicU32::new(1)));
        }
        if let Some(hub) = self.followed() {
            hub.send(Origin::task(task.id, task.node, task.attempt, 0), EventKind::NodeStarted).await;
        }
        if self.graph.inner().at(task.node).policy.idle_timeout.is_some() {
            task.pulse = Some(Arc::default());
        }
        let journals = &self.turn.journals;
        if journals.any() || task.attempt > 1 {
            journals.begin(task.id, task.attempt);
        }
        let outcome = self.attempt(task).await;
        self.ended(task, outcome).await
    }

    /// What an attempt comes to, once the readers know of it.
    pub(super) async fn ended(&self, task: &Task<S>, mut outcome: TaskOutcome<S>) -> TaskOutcome<S> {
        if self.turn.journals.any() {
            outcome = self.judged(task.id, task.attempt, outcome);
        }
        let is_told = !matches!(outcome, TaskOutcome::Done(_)) || self.followed().is_some();
        match self.hub() {
            Some(hub) if is_told => Box::pin(self.told(hub, task, outcome)).await,
            _ => outcome,
        }
    }

    /// What an attempt comes to that may have asked something: it pauses, whatever the node made of its error.
    #[cold]
    fn judged(&self, id: TaskId, attempt: u32, outcome: TaskOutcome<S>) -> TaskOutcome<S> {
        use FaultKind::{Fatal, Interrupted, Retryable};
        let own = match &outcome {
            TaskOutcome::Done(_) => true,
            TaskOutcome::Failed(failure) => matches!(failure.kind, Retryable | Fatal | Interrupted),
            TaskOutcome::Cached(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused => false,
        };
        if !own {
            self.turn.journals.end(id, attempt);
            return outcome;
        }
        match self.turn.journals.settle(id, attempt, || millis(self.seams.0.clock.now())) {
            Verdict::Stands => outcome,
            Verdict::Paused => TaskOutcome::Paused,
            Verdict::Refused(why) => TaskOutcome::Failed(Failure::fatal(why)),
        }
    }

    /// The outcome, once the readers know how the attempt ended.
    async fn told(&self, hub: &Hub<S>, task: &Task<S>, outcome: TaskOutcome<S>) -> TaskOutcome<S> {
        let last = task.emitted.as_ref();
        let last =
            last.map_or_else(|| self.live.late_index(task.id, task.attempt), |emitted| emitted.load(Ordering::Relaxed));
        let origin = |index| Origin::task(task.id, task.node, task.attempt, index);
        self.tell(hub, &outcome, origin, last).await;
        outcome
    }

    /// Waits, unless the task is to stop meanwhile.
    async fn sleep(&self, id: TaskId, wait: Duration) -> bool {
        let mut sleep = self.seams.0.clock.sleep(wait);
        let stop = self.turn.cancel.step_token(id.step);
        let mut stopped = pin!(stop.cancelled());
        poll_fn(|cx| match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => stopped.as_mut().poll(cx).map(|()| false),
        })
        .await
    }

    /// Tells how an attempt ended; `last` is the index of its next event.
    #[cold]
    async fn tell(&self, hub: &Hub<S>, outcome: &TaskOutcome<S>, origin: impl Fn(u32) -> Origin, last: u32) {
        match outcome {
            _ if self.followed().is_none() => {}
            TaskOutcome::Done(done) | TaskOutcome::Cached(done) => {
                let kind = self.finished(hub, done, matches!(outcome, TaskOutcome::Cached(_)));
                hub.send(origin(last), kind).await;
            }
            TaskOutcome::Failed(failure) => {
                let message = failure.text();
                hub.send(origin(last), EventKind::NodeFailed { kind: failure.kind, message }).await;
            }
            TaskOutcome::Paused => {
                let origin = origin(last);
                let interrupts = origin.task.map_or_else(Vec::new, |(id, _)| self.turn.journals.open(id));
                hub.send(origin, EventKind::NodePaused { interrupts }).await;
            }
            TaskOutcome::Cancelled { .. } => {}
        }
        if last > 1 && !matches!(outcome, TaskOutcome::Done(_)) {
            hub.send(origin(last + 1), EventKind::AttemptDiscarded).await;
        }
    }

    fn finished(&self, hub: &Hub<S>, outcome: &Outcome<S>, cached: bool) -> EventKind<S> {
        let state = &self.graph.inner().initial;
        let wrote = state.written(&outcome.update).iter().map(|field| state.fields()[field].name.as_ref().into());
        let update = hub.asks(Mode::Updates).then(|| shown_update(state, &outcome.update));
        EventKind::NodeFinished { wrote: wrote.collect(), next: outcome.to_move(), update: update.flatten(), cached }
    }
}

/// Runs an attempt beside others in the driver's own task. What became of it is handed on once its snapshot is gone, so
/// that the machine finds itself the only owner of the state.
#[expect(clippy::manual_async_fn, reason = "an async function would hold its arguments twice")]
pub(super) fn execute_owned<S: State>(bench: &Bench<S>, mut task: Task<S>) -> impl Future<Output = Ended<S>> + Send {
    async move {
        let ended = bench.timed(&mut task).await;
        drop(task);
        ended
    }
}

/// The written values as people see them: of a field that collects, the items.
fn shown_update<S: State>(state: &S, update: &S::Update) -> Option<Value> {
    let mut json = Vec::new();
    // Serialising is the user's, and what nobody can show must not fail the task.
    let encoded = catch_unwind(AssertUnwindSafe(|| state.encode_update(update, &mut json)));
    encoded.ok()?.ok()?;
    let mut shown: Value = serde_json::from_slice(&json).ok()?;
    for field in state.fields().iter().filter(|field| matches!(field.merge, Merge::Append | Merge::With)) {
        let Some(Value::Object(write)) = shown.get_mut(&*field.name) else { continue };
        let overwritten =
            write.get("overwrite").is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
        if !overwritten && let Some(items) = write.remove("items") {
            shown[&*field.name] = items;
        }
    }
    Some(shown)
}

fn end<S: State>(outcome: &TaskOutcome<S>) -> AttemptEnd {
    match outcome {
        TaskOutcome::Done(_) => AttemptEnd::Done,
        TaskOutcome::Cached(_) => AttemptEnd::Cached,
        TaskOutcome::Failed(_) => AttemptEnd::Failed,
        TaskOutcome::Cancelled { .. } => AttemptEnd::Cancelled,
        TaskOutcome::Paused => AttemptEnd::Paused,
    }
}

pub(super) fn panicked(panic: &(dyn Any + Send)) -> NodeError {
    NodeError::new(FaultKind::Panicked, format!("it panicked: {}", panic_text(panic)).into())
}

/// What a user's function returns; a panic in it is a failure.
pub(super) fn caught<T>(call: impl FnOnce() -> Result<T, NodeError>) -> Result<T, NodeError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}
