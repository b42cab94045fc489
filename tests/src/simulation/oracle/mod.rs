//! A second, simple and slow model of what the engine promises. It predicts every frontier, commit, state and end of a
//! session from what nodes did, and compares. It shares nothing with the engine's machine.

mod begin;
mod cache;
mod choose;
mod merge;
mod model;
mod position;
mod route;
mod tasks;
mod times;
mod turn;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::CheckpointId;

use super::coverage::{Construct, Coverage};
use super::plan::{GraphPlan, SeedPlan};
use super::trace::{Trace, TurnTrace};
use model::{Finished, Model};

/// Follows the turns of one session.
#[derive(Debug)]
pub(super) struct Oracle<'a> {
    plan: &'a SeedPlan,
    graph: &'a GraphPlan,
    /// The thread as its store has it.
    durable: Model,
    head: Option<CheckpointId>,
    ids: BTreeSet<CheckpointId>,
    turn_names: BTreeSet<String>,
    /// Results of tasks that no commit holds yet: the store may have saved them.
    known: BTreeMap<(u64, u32), Finished>,
    saved: Vec<(CheckpointId, graph_engine::TaskId)>,
    /// Cached results by node and key.
    cached: BTreeMap<(usize, u64), Finished>,
    failed_before: bool,
    /// What really happened.
    pub coverage: Coverage,
}

impl<'a> Oracle<'a> {
    /// The oracle of a new thread.
    #[must_use]
    pub(super) fn new(plan: &'a SeedPlan, graph: &'a GraphPlan) -> Self {
        Self {
            plan,
            graph,
            durable: Model::new(graph),
            head: None,
            ids: BTreeSet::new(),
            turn_names: BTreeSet::new(),
            known: BTreeMap::new(),
            saved: Vec::new(),
            cached: BTreeMap::new(),
            failed_before: false,
            coverage: Coverage::default(),
        }
    }

    /// Judges a whole session.
    ///
    /// # Errors
    /// The first invariant that doesn't hold, with the turn.
    pub(super) fn judge(&mut self, trace: &Trace) -> Result<(), String> {
        if trace.turns.len() > 1 {
            self.coverage.hit(Construct::SeveralTurns);
        }
        for (number, turn) in trace.turns.iter().enumerate() {
            self.coverage.turns += 1;
            self.turn(number as u64, turn).map_err(|why| format!("turn {number}: {why}"))?;
        }
        Ok(())
    }

    /// The thread between two turns.
    fn check_after(&self, turn: &TurnTrace) -> Result<(), String> {
        let Some(after) = &turn.after else { return Ok(()) };
        let mut facts = self.durable.facts.clone();
        facts.draft = 0;
        same("I2 the stored state", &facts, &after.facts)?;
        let mut durable = self.durable.clone();
        self.take_saved(&mut durable);
        same("I3 what the stored thread still owes", &durable.pending(), &after.next)?;
        same("the stored replies", &verdict::replies(&self.durable.replies), &verdict::told(&after.replies))?;
        same("the stored completion", &self.durable.completed, &after.completed)?;
        same("the stored step", &self.durable.step, &after.step)?;
        same("I1 the head", &self.head, &after.head)
    }

    /// Results of tasks that the store kept since the last checkpoint.
    fn take_saved(&self, model: &mut Model) -> usize {
        let mut taken = 0;
        for (head, task) in &self.saved {
            let known = self.known.get(&(task.step, task.rank));
            if Some(*head) == self.head
                && task.step == model.step
                && let (Some(slot), Some(known)) = (model.tasks.get_mut(task.rank as usize), known)
                && slot.done.is_none()
            {
                slot.done = Some(known.clone());
                taken += 1;
            }
        }
        taken
    }
}

/// Two things that must be equal.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

/// Something that must hold.
fn holds(condition: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what()) }
}
