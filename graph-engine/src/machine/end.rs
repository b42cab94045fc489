//! What a turn leaves when it is over: its report, its state, its replies.

use std::sync::Arc;

use super::Machine;
use super::outcome::TaskOutcome;
use crate::executed::ExecutedPath;
use crate::reply::Reply;
use crate::report::RunReport;
use crate::state::State;
use crate::task::Shared;

impl<S: State> Machine<S> {
    #[inline]
    pub(crate) fn take_report(&mut self) -> RunReport {
        self.report.waiting_joins = self.frontier.joins.waiting(self.graph.inner());
        self.report.pending = self.pending();
        self.report.interrupts = self.interrupts();
        self.report.path = self.path();
        std::mem::take(&mut self.report)
    }

    fn path(&self) -> Option<ExecutedPath> {
        let graph = self.graph.inner();
        let mut path = self.frontier.trace.as_ref()?.path(graph);
        for name in self.report.pending.iter().chain(self.report.waiting_joins.iter().map(|join| &join.to)) {
            path.visit(name).waiting = true;
        }
        for slot in &self.frontier.slots {
            if matches!(slot.done, Some(TaskOutcome::Failed(_))) {
                let visit = path.visit(graph.name_of(slot.node));
                (visit.failed, visit.waiting) = (true, false);
            }
        }
        Some(path)
    }

    /// The state at the end of the turn, after which nothing is asked of the machine.
    pub(crate) fn give_snapshot(&mut self) -> Arc<Shared<S>> {
        self.shared.give()
    }

    /// The replies at the end of the turn.
    pub(crate) fn take_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.frontier.replies)
    }
}
