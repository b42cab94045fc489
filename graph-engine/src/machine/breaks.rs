//! Static breakpoints: at which boundaries of super-steps a turn stops before it goes on.

use super::frontier::Survey;
use super::{Ask, Machine, Stopped};
use crate::report::Breakpoint;
use crate::state::State;
use crate::store::CheckpointKind;

/// Where to stop, by node; empty lists for nowhere.
#[derive(Default)]
pub(crate) struct Breaks {
    pub(crate) before: Vec<bool>,
    pub(crate) after: Vec<bool>,
    /// The thread has stopped at this boundary already. Part of the checkpoint, so that going on doesn't stop here again.
    pub(super) here: bool,
}

impl Breaks {
    /// Nowhere.
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Another boundary is reached.
    pub(super) fn leave(&mut self) {
        self.here = false;
    }
}

impl<S: State> Machine<S> {
    /// Stops the turn before and after these nodes.
    pub(crate) fn break_at(&mut self, before: Vec<bool>, after: Vec<bool>) {
        (self.breaks.before, self.breaks.after) = (before, after);
    }

    /// Stops the turn at the boundary after so many super-steps.
    pub(crate) fn run_until(&mut self, step: u64) {
        self.until = Some(step);
    }

    /// Whether a new super-step must wait for a breakpoint: then that is committed first.
    pub(super) fn breakpoint(&mut self, survey: Survey) -> Option<Ask<S>> {
        let Breaks { before, after, here, .. } = &self.breaks;
        if self.breaks.is_empty() || *here || !survey.is_untouched() {
            return None;
        }
        let graph = self.graph.inner();
        let mut hit: Vec<Breakpoint> = Vec::new();
        for node in self.wrote.nodes().filter(|node| after.get(node.at()) == Some(&true)) {
            hit.push(Breakpoint::After(graph.name_of(node).clone()));
        }
        for slot in self.frontier.slots.iter().filter(|slot| before.get(slot.node.at()) == Some(&true)) {
            let point = Breakpoint::Before(graph.name_of(slot.node).clone());
            if hit.last() != Some(&point) && !hit.contains(&point) {
                hit.push(point);
            }
        }
        if hit.is_empty() {
            return None;
        }
        self.report.breakpoints = hit;
        self.breaks.here = true;
        self.ending = Some(Stopped::Paused);
        Some(self.commit(CheckpointKind::Pending))
    }
}
