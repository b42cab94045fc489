//! Cached results: taken by tasks of later super-steps, kept when their super-step is over.

use graph_engine::{EventKind, TaskId};

use super::model::Finished;
use super::turn::Turn;
use crate::simulation::coverage::Construct;
use crate::simulation::state::Op;
use crate::simulation::world::Record;

impl Turn<'_, '_> {
    /// Whether the task took a cached result instead of running. One that is kept must be taken.
    pub(super) fn take_cached(&mut self, rank: usize, records: &[&Record]) -> Result<bool, String> {
        let node = self.model.tasks[rank].node;
        if !self.oracle.graph.nodes[node].cached {
            return Ok(false);
        }
        let entry = self.oracle.cached.get(&(node, self.model.facts.view().cache_key())).cloned();
        if !records.is_empty() {
            let why = || format!("{records:?} ran although its result was cached");
            return if entry.is_some() { Err(why()) } else { Ok(false) };
        }
        let id = TaskId { step: self.model.step, rank: u32::try_from(rank).unwrap_or(u32::MAX) };
        // It may also have been cancelled before it asked.
        let told =
            self.trace.events.iter().any(|event| {
                event.task == Some(id) && matches!(event.kind, EventKind::NodeFinished { cached: true, .. })
            });
        if !told {
            return Ok(false);
        }
        let Some(finished) = entry else { return Err(format!("task {id} took a result that nobody kept")) };
        self.oracle.coverage.hit(Construct::Cached);
        self.oracle.known.insert((id.step, id.rank), finished.clone());
        self.model.tasks[rank].done = Some(finished);
        self.cached += 1;
        Ok(true)
    }

    /// A result to be kept, unless it writes what is never stored. Tasks come in order, and the last one stays.
    pub(super) fn note_result(&mut self, node: usize, finished: &Finished) {
        if self.oracle.graph.nodes[node].cached && !finished.0.iter().any(|op| matches!(op, Op::Draft(_))) {
            let key = self.model.facts.view().cache_key();
            self.results.push(((node, key), finished.clone()));
        }
    }

    /// The super-step is over: its results are kept.
    pub(super) fn keep_results(&mut self) {
        self.oracle.cached.extend(self.results.drain(..));
    }
}
