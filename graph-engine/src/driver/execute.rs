//! Runs one attempt of one task: panics become failures, timeouts and cancellation win at the next await, and the
//! node's future with its snapshot is gone before the outcome leaves.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use super::event::{EventKind, Mode};
use super::hub::{Hub, Origin};
use super::seams::Seams;
use crate::error::{FaultKind, NodeError};
use crate::graph::Graph;
use crate::machine::{Failure, TaskOutcome, TaskSpec};
use crate::panic::panic_text;
use crate::state::State;
use crate::task::{NodeIx, Outcome, Task, TurnContext};
use crate::task_id::TaskId;

/// What attempts need beside their task.
pub(crate) struct Bench<S: State> {
    pub(crate) graph: Graph<S>,
    pub(crate) turn: Arc<TurnContext>,
    pub(crate) seams: Seams,
    pub(crate) hub: Option<Arc<Hub<S>>>,
    /// Whether the time of each attempt is taken.
    pub(crate) measure: bool,
}

/// An attempt that is over.
pub(crate) struct Ended<S: State> {
    pub(crate) id: TaskId,
    pub(crate) node: NodeIx,
    pub(crate) took: Duration,
    pub(crate) outcome: TaskOutcome<S>,
}

type Ran<S> = Result<Outcome<S>, NodeError>;
type NodeFuture<'a, S> = Pin<Box<dyn Future<Output = Ran<S>> + Send + 'a>>;

impl<S: State> Bench<S> {
    /// Runs an attempt that is spawned or joined, and so owns what it needs.
    pub(crate) async fn execute_owned(self: Arc<Self>, spec: TaskSpec<S>) -> Ended<S> {
        self.timed(spec).await
    }

    pub(crate) async fn timed(&self, spec: TaskSpec<S>) -> Ended<S> {
        let (id, node) = (spec.id, spec.node);
        // Rare paths are boxed, so that the future of a plain attempt stays small enough for tokio to spawn it unboxed.
        let waited = spec.wait.is_zero() || Box::pin(self.sleep(spec.wait)).await;
        if !waited || self.turn.cancel.is_cancelled() {
            return Ended { id, node, took: Duration::ZERO, outcome: TaskOutcome::Cancelled { started: false } };
        }
        let began = self.measure.then(|| self.seams.clock.elapsed());
        let outcome = self.execute(spec).await;
        let took = began.map_or(Duration::ZERO, |began| self.seams.clock.elapsed().saturating_sub(began));
        Ended { id, node, took, outcome }
    }

    async fn execute(&self, spec: TaskSpec<S>) -> TaskOutcome<S> {
        let (id, node, attempt) = (spec.id, spec.node, spec.attempt);
        let emitted = self.hub.is_some().then(|| Arc::new(AtomicU32::new(1)));
        if let Some(hub) = &self.hub {
            Box::pin(hub.send(Origin::task(id, node, attempt, 0), EventKind::NodeStarted)).await;
        }
        let outcome = {
            let TaskSpec { payload, extra, shared, remaining_steps, origin, .. } = spec;
            let task =
                Task { shared, id, node, attempt, origin, remaining_steps, payload, extra, emitted: emitted.clone() };
            self.attempt(&task).await
        };
        if let (Some(hub), Some(emitted)) = (&self.hub, emitted) {
            let origin = |index| Origin::task(id, node, attempt, index);
            Box::pin(self.tell(hub, &outcome, origin, &emitted)).await;
        }
        outcome
    }

    /// Waits, unless the turn is cancelled meanwhile.
    async fn sleep(&self, wait: Duration) -> bool {
        let mut sleep = self.seams.clock.sleep(wait);
        let mut cancelled = pin!(self.turn.cancel.token().cancelled());
        poll_fn(|cx| match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => cancelled.as_mut().poll(cx).map(|()| false),
        })
        .await
    }

    async fn attempt(&self, task: &Task<S>) -> TaskOutcome<S> {
        let vertex = self.graph.inner().at(task.node);
        let mut future = match catch_unwind(AssertUnwindSafe(|| vertex.node.run(task))) {
            Ok(future) => future,
            Err(panic) => return failed(panicked(&*panic)),
        };
        // Most nodes that only compute are ready at once and need neither a timer nor a place in the list of those
        // who wait for the cancellation.
        let ready = poll_fn(|cx| Poll::Ready(poll_node(&mut future, cx))).await;
        let ran = match ready {
            Poll::Ready(ran) => ran.map_err(Some),
            Poll::Pending => match Box::pin(self.wait(&mut future, vertex.policy.timeout)).await {
                Some(ran) => ran.map_err(Some),
                None => Err(None),
            },
        };
        // What the node left in its future is dropped here, and may panic as the node itself may.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(move || drop(future))) {
            return failed(panicked(&*panic));
        }
        match ran {
            Ok(outcome) => TaskOutcome::Done(outcome),
            Err(Some(error)) => failed(error),
            Err(None) => TaskOutcome::Cancelled { started: true },
        }
    }

    /// `None` is a cancellation.
    async fn wait(&self, future: &mut NodeFuture<'_, S>, timeout: Option<Duration>) -> Option<Ran<S>> {
        let mut timer = timeout.map(|timeout| (timeout, self.seams.clock.sleep(timeout)));
        let mut cancelled = pin!(self.turn.cancel.token().cancelled());
        poll_fn(|cx| {
            // A node that the cancellation woke, for example out of an `emit`, is stopped and not asked again.
            if self.turn.cancel.is_cancelled() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(ran) = poll_node(future, cx) {
                return Poll::Ready(Some(ran));
            }
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            if let Some((timeout, timer)) = &mut timer
                && timer.as_mut().poll(cx).is_ready()
            {
                let message =
                    format!("it ran longer than its timeout of {timeout:?}; raise `.timeout(..)` or add `.retry(..)`");
                return Poll::Ready(Some(Err(NodeError::new(FaultKind::TimedOut, message.into()))));
            }
            Poll::Pending
        })
        .await
    }

    #[cold]
    async fn tell(&self, hub: &Hub<S>, outcome: &TaskOutcome<S>, origin: impl Fn(u32) -> Origin, emitted: &AtomicU32) {
        let last = emitted.load(Ordering::Relaxed);
        match outcome {
            TaskOutcome::Done(outcome) => {
                let kind = self.finished(hub, outcome);
                hub.send(origin(last), kind).await;
            }
            TaskOutcome::Failed(failure) => {
                let message = match &failure.error {
                    Some(error) => error.to_string(),
                    None => failure.source.to_string(),
                };
                hub.send(origin(last), EventKind::NodeFailed { kind: failure.kind, message }).await;
            }
            TaskOutcome::Cancelled { .. } => {}
        }
        if last > 1 && !matches!(outcome, TaskOutcome::Done(_)) {
            hub.send(origin(last + 1), EventKind::AttemptDiscarded).await;
        }
    }

    fn finished(&self, hub: &Hub<S>, outcome: &Outcome<S>) -> EventKind<S> {
        let state = &self.graph.inner().initial;
        let wrote = state.written(&outcome.update).iter().map(|field| state.fields()[field].name.as_ref().into());
        let mut json = Vec::new();
        let update = hub.asks(Mode::Updates) && state.encode_update(&outcome.update, &mut json).is_ok();
        EventKind::NodeFinished {
            wrote: wrote.collect(),
            next: outcome.to_move(),
            update: if update { serde_json::from_slice(&json).ok() } else { None },
        }
    }
}

fn poll_node<S: State>(future: &mut NodeFuture<'_, S>, cx: &mut Context<'_>) -> Poll<Ran<S>> {
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled,
        Err(panic) => Poll::Ready(Err(panicked(&*panic))),
    }
}

#[cold]
fn panicked(panic: &(dyn std::any::Any + Send)) -> NodeError {
    NodeError::new(FaultKind::Panicked, format!("it panicked: {}", panic_text(panic)).into())
}

fn failed<S: State>(error: NodeError) -> TaskOutcome<S> {
    TaskOutcome::Failed(Failure::new(error))
}
