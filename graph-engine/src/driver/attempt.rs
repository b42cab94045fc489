//! One attempt of one task: panics become failures, timeouts and cancellation win at the next await, and the node's
//! future with its snapshot is gone before the outcome leaves.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use super::execute::{Bench, panicked};
use super::seams::BoxFuture;
use crate::error::{FaultKind, NodeError};
use crate::machine::{Failure, TaskOutcome};
use crate::state::State;
use crate::task::{Outcome, Task};

type Ran<S> = Result<Outcome<S>, NodeError>;
type NodeFuture<'a, S> = Pin<Box<dyn Future<Output = Ran<S>> + Send + 'a>>;

/// How long an attempt may run, and how long it may be silent.
#[derive(Clone, Copy)]
struct Limits {
    run: Option<Duration>,
    idle: Option<Duration>,
}

impl<S: State> Bench<S> {
    pub(super) async fn attempt(&self, task: &Task<S>) -> TaskOutcome<S> {
        let vertex = self.graph.inner().at(task.node);
        let own = task.extra.as_ref().and_then(|extra| extra.timeout);
        let limits = Limits { run: own.or(vertex.policy.timeout), idle: vertex.policy.idle_timeout };
        let began = (limits.run.is_some() || limits.idle.is_some()).then(|| self.seams.clock.elapsed());
        let mut future = match catch_unwind(AssertUnwindSafe(|| vertex.node.run(task))) {
            Ok(future) => future,
            Err(panic) => return failed(panicked(&*panic)),
        };
        // Most nodes that only compute are ready at once and need neither a timer nor a place in the list of those
        // who wait for the cancellation.
        let ready = poll_fn(|cx| Poll::Ready(poll_node(&mut future, cx))).await;
        let ran = match ready {
            Poll::Ready(ran) => Some(ran),
            Poll::Pending => Box::pin(self.wait(&mut future, task, limits, began)).await,
        };
        // What the node left in its future is dropped here, and may panic as the node itself may.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(move || drop(future))) {
            return failed(panicked(&*panic));
        }
        match ran {
            Some(Ok(outcome)) => match began.and_then(|began| self.late(limits, began)) {
                None => TaskOutcome::Done(outcome),
                Some(error) => failed(error),
            },
            Some(Err(error)) => failed(self.with_stuck_work(task, error)),
            None => TaskOutcome::Cancelled { started: true },
        }
    }

    /// A node that blocked its thread past its timeout finished too late, although nobody could stop it.
    fn late(&self, limits: Limits, began: Duration) -> Option<NodeError> {
        let (limit, took) = (limits.run?, self.seams.clock.elapsed().saturating_sub(began));
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
    async fn wait(
        &self,
        future: &mut NodeFuture<'_, S>,
        task: &Task<S>,
        limits: Limits,
        began: Option<Duration>,
    ) -> Option<Ran<S>> {
        // The first poll of the node counts.
        let spent = began.map_or(Duration::ZERO, |began| self.seams.clock.elapsed().saturating_sub(began));
        let timer = |limit: Duration| (limit, self.seams.clock.sleep(limit.saturating_sub(spent)));
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
            idle.poll(cx, task, |limit| self.seams.clock.sleep(limit)).map(|error| Some(Err(error)))
        })
        .await
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
