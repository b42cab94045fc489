//! Super-steps of one plain task that nobody watches, one after another.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::task::Poll;

use super::attempt::first_poll;
use super::local::{Durability, LocalDriver};
use crate::machine::{Ask, Batch, Lone, Machine, TaskOutcome};
use crate::run_error::RunError;
use crate::state::State;

impl<S: State> LocalDriver<'_, S> {
    /// Whether nothing but the node has to do with an attempt.
    pub(super) fn is_plain(&self) -> bool {
        let stores_beside = self.keep.is_some() && self.durability == Durability::Async;
        !self.watched && self.bench.guards.is_none() && !stores_beside
    }

    /// Drives the machine as long as its super-steps are such, and says what it wants then. `step` is the super-step of
    /// which readers have been told.
    pub(super) async fn alone(
        &mut self,
        machine: &mut Machine<S>,
        mut batch: Box<Batch<S>>,
        step: &mut u64,
    ) -> Result<Ask<S>, RunError> {
        let [task] = &mut batch.tasks[..] else { return Ok(Ask::Run(batch)) };
        machine.lend(task);
        let ask = loop {
            if self.bench.turn.cancel.stops(task.id.step) {
                return Ok(machine.end_lone(batch, TaskOutcome::Cancelled { started: false }));
            }
            if self.bench.turn.cancel.is_read() {
                count_anew(&mut task.emitted);
            }
            let began = self.bench.now();
            let mut ran = None;
            let other = {
                let (task, mut waits) = (&*task, None);
                let node = &*self.bench.graph.inner().at(task.node).node;
                let polled = poll_fn(|cx| Poll::Ready(first_poll(node, task, cx, &mut waits, &mut ran))).await;
                let watched = self.bench.followed().is_some();
                match &ran {
                    Some(Ok(outcome)) if polled.is_ok() && !watched && machine.takes(task, outcome) => None,
                    _ => Some(Box::pin(self.bench.after_first_poll(task, polled, waits, ran.take())).await),
                }
            };
            if began.is_some() {
                self.spent(task.node, self.bench.since(began));
            }
            if self.bench.turn.cancel.drains() {
                machine.drain();
            }
            let lone = match (other, &mut ran) {
                (None, Some(Ok(outcome))) => machine.finish_lone(task, outcome),
                (other, _) => {
                    let outcome = other.unwrap_or(TaskOutcome::Cancelled { started: true });
                    return Ok(machine.end_lone(batch, outcome));
                }
            };
            let ask = match lone {
                Lone::Again => None,
                Lone::Ask(ask) => Some(ask),
                // Whoever reads by now hears of the super-step before its checkpoint.
                Lone::Store(commit) if self.bench.followed().is_some() => Some(Ask::Commit(commit)),
                Lone::Store(commit) => {
                    *step = machine.step();
                    let commit = self.commit(commit).await?;
                    if self.bench.turn.cancel.drains() {
                        machine.drain();
                    }
                    machine.lone_stored(task, commit, self.bench.followed().is_none())
                }
            };
            match ask {
                None => *step = machine.step(),
                Some(ask) => break ask,
            }
        };
        machine.keep_batch(batch);
        Ok(ask)
    }
}

/// The first event of an attempt is its start. What the attempt before left behind may still count with the old number.
fn count_anew(emitted: &mut Option<Arc<AtomicU32>>) {
    match emitted.as_mut().and_then(Arc::get_mut) {
        Some(count) => *count.get_mut() = 1,
        None => *emitted = Some(Arc::new(AtomicU32::new(1))),
    }
}
