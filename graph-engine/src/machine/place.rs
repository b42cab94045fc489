//! Takes what came back from a task: checks it, and decides whether a failed attempt is made again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Machine;
use super::fault::fault;
use super::outcome::{Failure, TaskOutcome};
use crate::error::{FaultKind, NodeError};
use crate::node::Siblings;
use crate::panic::panic_text;
use crate::state::State;
use crate::task::{FailedTask, Goto, Hop, NodeIx, Outcome, Payload, Rare, Target, Task};
use crate::task_id::TaskId;

impl<S: State> Machine<S> {
    /// Puts the outcome into its slot. A failed attempt that may be made again is returned instead.
    pub(super) fn place(&mut self, id: TaskId, outcome: TaskOutcome<S>) -> Option<Task<S>> {
        match &outcome {
            TaskOutcome::Cached(_) => self.report.cached += 1,
            TaskOutcome::Cancelled { started: false } => {}
            _ => self.report.attempts += 1,
        }
        let slot = self.frontier.slots.get_mut(id.rank as usize)?;
        let failure = match outcome {
            TaskOutcome::Done(done) | TaskOutcome::Cached(done) => {
                match fault(self.graph.inner(), &self.shared.state, slot.node, &done) {
                    None => {
                        slot.settle(TaskOutcome::Done(done));
                        return None;
                    }
                    Some(why) => Failure::fatal(why),
                }
            }
            TaskOutcome::Failed(failure) => failure,
            TaskOutcome::Cancelled { .. } | TaskOutcome::Paused => {
                slot.settle(outcome);
                return None;
            }
        };
        self.place_failure(id, failure)
    }

    #[cold]
    fn place_failure(&mut self, id: TaskId, mut failure: Box<Failure>) -> Option<Task<S>> {
        let rank = id.rank as usize;
        let (node, attempt) = (self.frontier.slots[rank].node, self.frontier.slots[rank].attempt);
        let graph = self.graph.clone();
        let vertex = graph.inner().at(node);
        if let Some(trace) = &mut self.frontier.trace {
            trace.fail(node);
        }
        if let (Some(retry), Some(error), false) = (&vertex.policy.retry, &failure.error, self.stopping) {
            // The predicate is the user's: a panic in it is a failure of the task, not of the process.
            match catch_unwind(AssertUnwindSafe(|| retry.for_failure(error))) {
                Ok(Some(retry)) if attempt < retry.attempts() => {
                    let wait = retry.wait(attempt, self.spread(id, attempt));
                    self.frontier.slots[rank].attempt += 1;
                    return Some(self.task(rank, wait));
                }
                Ok(_) => {}
                Err(panic) => {
                    let text = format!("{error}; and its retry predicate panicked: {}", panic_text(&*panic));
                    failure = Failure::new(NodeError::new(FaultKind::Panicked, text.into()));
                }
            }
        }
        if self.shared.turn.journals.any() {
            self.shared.turn.journals.close(id);
        }
        failure.settle();
        let outcome = match vertex.on_error {
            Some(handler) => TaskOutcome::Done(self.rescue(id, &failure, handler)),
            None => {
                self.stopping |= graph.inner().siblings == Siblings::Cancel;
                TaskOutcome::Failed(failure)
            }
        };
        self.frontier.slots[rank].settle(outcome);
        None
    }

    /// Whether an outcome will stand, so that it may be saved early.
    pub(crate) fn accepts(&self, id: TaskId, outcome: &Outcome<S>) -> bool {
        let rank = id.rank as usize;
        let slot = self.frontier.slots.get(rank);
        slot.is_some_and(|slot| fault(self.graph.inner(), &self.shared.state, slot.node, outcome).is_none())
    }

    /// A failed task that its error route takes over: finished without update and edges.
    fn rescue(&mut self, id: TaskId, failure: &Failure, handler: NodeIx) -> Outcome<S> {
        self.report.rescued += 1;
        let slot = &self.frontier.slots[id.rank as usize];
        let name = |node| self.graph.inner().name_of(node).clone();
        let task = (name(slot.node), id, slot.attempt);
        let failed = FailedTask::of(task, failure.kind, failure.text(), slot.payload.clone());
        let hop = Hop { to: Target::Named(name(handler)), send: Some(Some(Payload::new(failed))) };
        Outcome { update: S::Update::default(), goto: Goto::rare(Rare::Rescue(hop)) }
    }

    /// A number from 0 to 1 that is the same whenever this attempt is decided on.
    fn spread(&self, id: TaskId, attempt: u32) -> f64 {
        let mut hash = self.options.seed ^ 0x9e37_79b9_7f4a_7c15;
        for word in [id.step, id.rank.into(), attempt.into()] {
            hash = mix(hash ^ word);
        }
        // 53 bits are what a double holds.
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One round of splitmix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
