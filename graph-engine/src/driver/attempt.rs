//! One attempt of one task: panics become failures, timeouts and cancellation win at the next await, and the node's
//! future with its snapshot is gone before the outcome leaves.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use super::execute::{Bench, panicked};
use super::seams::BoxFuture;
use crate::error::{FaultKind, NodeError};
use crate::machine::{Failure, TaskOutcome};
use crate::node::Node;
use crate::state::State;
use crate::task::{Outcome, Task};

type Ran<S> = Result<Outcome<S>, NodeError>;
type Panic = Box<dyn Any + Send>;
type NodeFuture<'a, S> = Pin<Box<dyn Future<Output = Ran<S>> + Send + 'a>>;

/// How long an attempt may run, how long it may be silent, and when it began, if there is a limit.
#[derive(Clone, Copy)]
struct Limits {
    run: Option<Duration>,
    idle: Option<Duration>,
    began: Option<Duration>,
}

/// What the first poll of a node made of its attempt.
enum Begun<'a, S: State> {
    Over(TaskOutcome<S>),
    Waits(NodeFuture<'a, S>, Limits),
}

impl<S: State> Bench<S> {
    pub(super) async fn attempt(&self, task: &Task<S>) -> TaskOutcome<S> {
        // Most nodes that only compute are ready at once and need neither a timer nor a place in the list of those
        // who wait for the cancellation.
        match poll_fn(|cx| Poll::Ready(self.begin(task, cx))).await {
            Begun::Over(outcome) => outcome,
            Begun::Waits(future, limits) => Box::pin(self.go_on(future, task, limits)).await,
        }
    }

    /// Calls the node and polls it once.
    fn begin<'a>(&'a self, task: &'a Task<S>, cx: &mut Context<'_>) -> Begun<'a, S> {
        let limits = self.limits(task);
        let (mut future, mut ran) = (None, None);
        let node = &*self.graph.inner().at(task.node).node;
        match (first_poll(node, task, cx, &mut future, &mut ran), future) {
            (Ok(()), None) => Begun::Over(self.outcome_of(task, limits, ran)),
            (Ok(()), Some(future)) => Begun::Waits(future, limits),
            (Err(panic), future) => Begun::Over(broken(&*panic, future)),
        }
    }

    /// What becomes of an attempt without limits after its first poll.
    #[cold]
    pub(super) async fn after_first_poll(
        &self,
        task: &Task<S>,
        polled: Result<(), Panic>,
        future: Option<NodeFuture<'_, S>>,
        ran: Option<Ran<S>>,
    ) -> TaskOutcome<S> {
        let limits = Limits { run: None, idle: None, began: None };
        let outcome = match (polled, future) {
            (Ok(()), None) => self.outcome_of(task, limits, ran),
            (Ok(()), Some(future)) => self.go_on(future, task, limits).await,
            (Err(panic), future) => broken(&*panic, future),
        };
        self.ended(task, outcome).await
    }

    /// Waits for a node that was not ready at once.
    async fn go_on(&self, mut future: NodeFuture<'_, S>, task: &Task<S>, limits: Limits) -> TaskOutcome<S> {
        let ran = self.wait(&mut future, task, limits).await;
        match gone(Some(future)) {
            Ok(()) => self.outcome_of(task, limits, ran),
            Err(error) => failed(error),
        }
    }

    fn limits(&self, task: &Task<S>) -> Limits {
        let policy = &self.graph.inner().at(task.node).policy;
        let own = task.extra.as_ref().and_then(|extra| extra.timeout);
        let (run, idle) = (own.or(policy.timeout), policy.idle_timeout);
        let began = (run.is_some() || idle.is_some()).then(|| self.seams.0.clock.elapsed());
        Limits { run, idle, began }
    }

    /// What became of an attempt whose future is gone; `None` is a cancellation.
    fn outcome_of(&self, task: &Task<S>, limits: Limits, ran: Option<Ran<S>>) -> TaskOutcome<S> {
        match ran {
            Some(Ok(outcome)) => match self.late(limits) {
                None => TaskOutcome::Done(outcome),
                Some(error) => failed(error),
            },
            Some(Err(error)) => failed(self.with_stuck_work(task, error)),
            None => TaskOutcome::Cancelled { started: true },
        }
    }

    /// A node that blocked its thread past its timeout finished too late, although nobody could stop it.
    fn late(&self, limits: Limits) -> Option<NodeError> {
        let (limit, took) = (limits.run?, self.seams.0.clock.elapsed().saturating_sub(limits.began?));
        (took > limit).then(|| {
            timed_out(format!(
                "it blocked its thread past its timeout of {limit:?}, so nobody could stop it; make it a node with \
                 `blocking(..)`, or raise `.timeout(..)`"
            ))
        })
    }

    /// Says so when the work goes on behind a failed attempt.
    fn with_stuck_work(&self, task: &Task<S>, error: NodeError) -> NodeError {
        let here = |stuck: &crate::stuck_task::StuckTask| stuck.task == task.id && stuck.attempt == task.attempt;
        if !matches!(error.kind(), FaultKind::TimedOut | FaultKind::Idle)
            || !self.turn.given_up.stuck().iter().any(here)
        {
            return error;
        }
        let text = format!("{error}; its blocking work is stuck and still runs, because a thread can't be stopped");
        NodeError::new(error.kind(), text.into())
    }

    /// `None` is a cancellation.
    async fn wait(&self, future: &mut NodeFuture<'_, S>, task: &Task<S>, limits: Limits) -> Option<Ran<S>> {
        // The first poll of the node counts.
        let spent = limits.began.map_or(Duration::ZERO, |began| self.seams.0.clock.elapsed().saturating_sub(began));
        let timer = |limit: Duration| (limit, self.seams.0.clock.sleep(limit.saturating_sub(spent)));
        let mut run = limits.run.map(timer);
        let mut idle = Idle { timer: limits.idle.map(timer), beats: 0 };
        let stop = self.turn.cancel.step_token(task.id.step);
        let mut stopped = pin!(stop.cancelled());
        poll_fn(|cx| {
            // A node that the cancellation woke, for example out of an `emit`, is stopped and not asked again.
            if self.turn.cancel.stops(task.id.step) {
                return Poll::Ready(None);
            }
            if let Poll::Ready(ran) = poll_node(future, cx) {
                return Poll::Ready(Some(ran));
            }
            if stopped.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            if let Some((timeout, timer)) = &mut run
                && timer.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(Some(Err(timed_out(format!(
                    "it ran longer than its timeout of {timeout:?}; raise `.timeout(..)` or add `.retry(..)`"
                )))));
            }
            idle.poll(cx, task, |limit| self.seams.0.clock.sleep(limit)).map(|error| Some(Err(error)))
        })
        .await
    }
}

/// Drops what a node left in its future, which may panic as the node itself may.
fn gone<S: State>(future: Option<NodeFuture<'_, S>>) -> Result<(), NodeError> {
    catch_unwind(AssertUnwindSafe(move || drop(future))).map_err(|panic| panicked(&*panic))
}

/// Calls a node and polls it once. What comes of it is put into places out of the reach of a panic, so that none of it
/// is dropped while another panic unwinds: the result, or the future if it waits.
#[inline]
pub(super) fn first_poll<'a, S: State>(
    node: &'a dyn Node<S>,
    task: &'a Task<S>,
    cx: &mut Context<'_>,
    future: &mut Option<NodeFuture<'a, S>>,
    ran: &mut Option<Ran<S>>,
) -> Result<(), Panic> {
    catch_unwind(AssertUnwindSafe(|| {
        if let Poll::Ready(result) = future.insert(node.run(task)).as_mut().poll(cx) {
            *ran = Some(result);
            // What the node left in its future is dropped here, and may panic as the node itself may.
            *future = None;
        }
    }))
}

/// The end of an attempt that panicked.
#[cold]
fn broken<S: State>(panic: &(dyn Any + Send), future: Option<NodeFuture<'_, S>>) -> TaskOutcome<S> {
    match gone(future) {
        Ok(()) => failed(panicked(panic)),
        Err(error) => failed(error),
    }
}

/// The time since the last sign of life.
struct Idle {
    timer: Option<(Duration, BoxFuture)>,
    beats: u64,
}

impl Idle {
    fn poll<S>(
        &mut self,
        cx: &mut Context<'_>,
        task: &Task<S>,
        sleep: impl Fn(Duration) -> BoxFuture,
    ) -> Poll<NodeError> {
        let (Some((limit, timer)), Some(pulse)) = (&mut self.timer, &task.pulse) else { return Poll::Pending };
        let beats = pulse.watch(cx.waker());
        if beats != self.beats {
            (self.beats, *timer) = (beats, sleep(*limit));
        }
        if pulse.is_emitting() {
            return Poll::Pending;
        }
        timer.as_mut().poll(cx).map(|()| {
            let text =
                format!("it was silent for {limit:?}; emit, call `Ctx::heartbeat`, or raise `.idle_timeout(..)`");
            NodeError::new(FaultKind::Idle, text.into())
        })
    }
}

fn poll_node<S: State>(future: &mut NodeFuture<'_, S>, cx: &mut Context<'_>) -> Poll<Ran<S>> {
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled,
        Err(panic) => Poll::Ready(Err(panicked(&*panic))),
    }
}

fn timed_out(message: String) -> NodeError {
    NodeError::new(FaultKind::TimedOut, message.into())
}

fn failed<S: State>(error: NodeError) -> TaskOutcome<S> {
    TaskOutcome::Failed(Failure::new(error))
}
