//! Takes what came back from a task: checks it, and decides whether a failed attempt is made again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outcome::{Failure, TaskOutcome};
use super::{Machine, TaskSpec};
use crate::error::{FaultKind, NodeError};
use crate::name::quoted;
use crate::panic::panic_text;
use crate::state::State;
use crate::task::{Goto, Outcome, Rare};
use crate::task_id::TaskId;

impl<S: State> Machine<S> {
    /// Puts the outcome into its slot. A failed attempt that may be made again is returned instead.
    pub(super) fn place(&mut self, id: TaskId, mut outcome: TaskOutcome<S>) -> Option<TaskSpec<S>> {
        let rank = id.rank as usize;
        if !matches!(outcome, TaskOutcome::Cancelled { started: false }) {
            self.report.attempts += 1;
        }
        if rank >= self.frontier.slots.len() {
            return None;
        }
        if let TaskOutcome::Done(done) = &outcome
            && let Some(why) = self.fault(rank, done)
        {
            outcome = TaskOutcome::Failed(Failure::fatal(why));
        }
        if let TaskOutcome::Failed(failure) = &mut outcome {
            let (node, attempt) = (self.frontier.slots[rank].node, self.frontier.slots[rank].attempt);
            let graph = self.graph.clone();
            let vertex = graph.inner().at(node);
            if let (Some(retry), Some(error)) = (&vertex.policy.retry, &failure.error)
                && attempt < retry.attempts()
            {
                // The predicate is the user's: a panic in it is a failure of the task, not of the process.
                match catch_unwind(AssertUnwindSafe(|| retry.accepts(error))) {
                    Ok(true) => {
                        let wait = retry.wait(attempt, self.spread(id, attempt));
                        self.frontier.slots[rank].attempt += 1;
                        return Some(self.task(rank, wait));
                    }
                    Ok(false) => {}
                    Err(panic) => {
                        let text = format!("{error}; and its retry predicate panicked: {}", panic_text(&*panic));
                        *failure = Failure::new(NodeError::new(FaultKind::Panicked, text.into()));
                    }
                }
            }
            failure.settle();
        }
        let slot = &mut self.frontier.slots[rank];
        slot.running = false;
        slot.done = Some(outcome);
        None
    }

    /// Whether an outcome will stand, so that it may be saved early.
    pub(crate) fn accepts(&self, id: TaskId, outcome: &Outcome<S>) -> bool {
        let rank = id.rank as usize;
        rank < self.frontier.slots.len() && self.fault(rank, outcome).is_none()
    }

    /// What is wrong with an outcome that the node thinks is fine.
    fn fault(&self, rank: usize, outcome: &Outcome<S>) -> Option<String> {
        let graph = self.graph.inner();
        let slot = &self.frontier.slots[rank];
        let vertex = graph.at(slot.node);
        if let Some(allowed) = vertex.info.writes {
            let beyond = self.shared.state.written(&outcome.update).without(allowed);
            if let Some(field) = beyond.iter().next() {
                let name = &self.shared.state.fields()[field].name;
                return Some(format!("it wrote field `{name}`, which it doesn't declare; add it to `.writes(..)`"));
            }
        }
        let unknown = |name: &str| {
            let known = graph.hop(&vertex.targets, name).is_some();
            if known && vertex.declares(name) {
                return None;
            }
            let declared = quoted(vertex.declared());
            let what = if known { "which it doesn't declare" } else { "which is no node" };
            Some(if declared.is_empty() {
                format!("it goes to `{name}`, {what}; it declares no targets, add them to its route")
            } else {
                format!("it goes to `{name}`, {what}; its declared targets are {declared}")
            })
        };
        let undeclared = |what: &str, declared: bool| {
            let told = declared || vertex.info.dynamic;
            (!told).then(|| format!("it {what}, which it doesn't declare; say so in `describe`"))
        };
        match &outcome.goto {
            Goto::Declared => None,
            Goto::Go(to) => unknown(to.name),
            Goto::Rare(rare) => match &**rare {
                // Many sends mostly go to one node: each run of equal names is looked up once.
                Rare::Many(hops) => {
                    let runs = hops.chunk_by(|a, b| std::ptr::eq(a.to.name(), b.to.name()));
                    runs.filter_map(|run| run.first()).find_map(|hop| unknown(hop.to.name()))
                }
                Rare::Stay(_) => undeclared("stays", vertex.info.stay),
                Rare::Direct(_) => undeclared("replies directly", vertex.info.direct),
                Rare::Finish(_) => undeclared("finishes the thread", vertex.info.finish),
                Rare::Invalid(error) => Some(format!("its reply or feedback can't be written as JSON: {error}")),
            },
        }
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
