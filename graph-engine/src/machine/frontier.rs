//! The tasks of the super-step at hand, what waits beside them, and scratch that is kept between steps.

use std::sync::Arc;

use super::joins::Joins;
use super::outcome::TaskOutcome;
use super::trace::Trace;
use crate::graph::Inner;
use crate::reply::Reply;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::{Extra, Goto, Hop, NodeIx, Payload};

/// One task of the frontier and, once it has run, what came back. Its index is its rank.
pub(crate) struct Slot<S: State> {
    pub(crate) node: NodeIx,
    pub(super) attempt: u32,
    /// Stays of this task, for a node that is in no cluster.
    pub(super) stays: u32,
    /// It was sent, so it is never merged with another task of the same node.
    pub(super) sent: bool,
    pub(super) running: bool,
    pub(super) payload: Option<Payload>,
    pub(super) extra: Option<Arc<Extra>>,
    pub(super) done: Option<TaskOutcome<S>>,
}

impl<S: State> Slot<S> {
    pub(super) fn plain(node: NodeIx) -> Self {
        Self { node, attempt: 1, stays: 0, sent: false, running: false, payload: None, extra: None, done: None }
    }

    pub(super) fn sent(node: NodeIx, payload: Option<Payload>) -> Self {
        Self { sent: true, payload, ..Self::plain(node) }
    }

    /// The next plain task in place of a finished one.
    pub(super) fn begin_again(&mut self, node: NodeIx) {
        (self.node, self.running) = (node, false);
    }

    /// Nothing of the task runs any more.
    pub(super) fn settle(&mut self, outcome: TaskOutcome<S>) {
        self.running = false;
        self.done = Some(outcome);
    }

    /// A waiting plain task that is nothing but its node's name.
    pub(super) fn is_bare(&self) -> bool {
        !self.sent && self.done.is_none() && self.extra.is_none() && self.payload.is_none() && self.stays == 0
    }
}

/// Whether there is a task of each kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Survey {
    /// An attempt of it is being made.
    pub(super) running: bool,
    /// Nothing came back from it for good.
    pub(super) waiting: bool,
    pub(super) finished: bool,
    pub(super) cancelled: bool,
    pub(super) failed: bool,
    pub(super) paused: bool,
}

impl Survey {
    /// Every task has finished: the super-step can be merged.
    pub(super) fn is_complete(self) -> bool {
        !self.waiting && !self.cancelled && !self.failed && !self.paused
    }

    /// Nothing of the super-step was done yet.
    pub(super) fn is_untouched(self) -> bool {
        !self.finished && !self.cancelled && !self.failed && !self.paused
    }
}

pub(crate) struct Frontier<S: State> {
    pub(crate) slots: Vec<Slot<S>>,
    pub(super) joins: Joins,
    /// Deferred tasks that wait: plain ones sorted by node, then sends in the order in which they were sent.
    pub(super) deferred: Vec<Slot<S>>,
    pub(crate) replies: Vec<Reply>,
    /// Stays since each cluster was entered.
    pub(super) stays: Vec<u32>,
    pub(crate) completed: bool,
    /// Where tasks went out of the graph, which ended it.
    pub(super) left: Vec<Hop>,
    /// Where the turn went, when that is recorded.
    pub(super) trace: Option<Box<Trace>>,
    /// The error with which to stop after the commit.
    pub(super) stop_with: Option<Box<RunError>>,
    // Scratch.
    pub(super) plain: Vec<Slot<S>>,
    pub(super) sends: Vec<Slot<S>>,
    pub(super) spent: Vec<Slot<S>>,
    /// Per node: the pass in which it was scheduled, and what its router chose in which pass. Empty as long as no
    /// super-step has had two tasks, which many turns of large graphs never have.
    scheduled: Vec<u64>,
    chosen: Vec<(u64, Option<Goto>)>,
    nodes: usize,
    /// Per cluster: the pass in which it last stayed.
    pub(super) stayed: Vec<u64>,
    pub(super) pass: u64,
}

impl<S: State> Frontier<S> {
    pub(super) fn new(graph: &Inner<S>) -> Self {
        Self {
            slots: Vec::new(),
            joins: Joins::new(graph),
            deferred: Vec::new(),
            replies: Vec::new(),
            stays: vec![0; graph.clusters.len()],
            completed: false,
            left: Vec::new(),
            trace: None,
            stop_with: None,
            plain: Vec::new(),
            sends: Vec::new(),
            spent: Vec::new(),
            scheduled: Vec::new(),
            chosen: Vec::new(),
            nodes: graph.vertices.len(),
            stayed: vec![0; graph.clusters.len()],
            pass: 0,
        }
    }

    /// Whether where the turn goes is recorded.
    pub(super) fn record(&mut self, on: bool) {
        self.trace = on.then(Box::default);
    }

    /// As if it were new, but for the room that its lists have.
    pub(super) fn clear(&mut self) {
        // Each field by its name, so that none is forgotten.
        let Self {
            slots,
            joins,
            deferred,
            replies,
            stays,
            completed,
            left,
            trace,
            stop_with,
            plain,
            sends,
            spent,
            scheduled,
            chosen,
            nodes: _,
            stayed,
            pass,
        } = self;
        for slots in [slots, deferred, plain, sends, spent] {
            slots.clear();
        }
        joins.reset();
        replies.clear();
        left.clear();
        (*completed, *trace, *stop_with, *pass) = (false, None, None, 0);
        stays.fill(0);
        stayed.fill(0);
        scheduled.clear();
        chosen.clear();
    }

    /// How many tasks the largest of its lists has room for.
    pub(super) fn room(&self) -> usize {
        let Self { slots, deferred, plain, sends, spent, .. } = self;
        [slots, deferred, plain, sends, spent].iter().map(|slots| slots.capacity()).fold(0, usize::max)
    }

    /// Notes what a router chose before the others of the super-step are asked.
    pub(super) fn choose(&mut self, node: NodeIx, goto: Goto) {
        *self.chosen(node) = (self.pass + 1, Some(goto));
    }

    /// In which pass the router of the node was asked last, and what it chose.
    pub(super) fn chosen(&mut self, node: NodeIx) -> &mut (u64, Option<Goto>) {
        if self.chosen.is_empty() {
            self.chosen.resize_with(self.nodes, || (0, None));
        }
        &mut self.chosen[node.at()]
    }

    /// Whether the node was scheduled in this pass already; from now on it is.
    pub(super) fn schedules_again(&mut self, node: NodeIx) -> bool {
        // The first one has nothing to be compared with, and is marked when there is a second one.
        if self.plain.is_empty() {
            return false;
        }
        if self.scheduled.is_empty() {
            self.scheduled.resize(self.nodes, 0);
        }
        if let [first] = &self.plain[..] {
            self.scheduled[first.node.at()] = self.pass;
        }
        std::mem::replace(&mut self.scheduled[node.at()], self.pass) == self.pass
    }

    /// What has become of the tasks of the super-step at hand, in one pass.
    pub(super) fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        for slot in &self.slots {
            survey.running |= slot.running;
            match &slot.done {
                None => survey.waiting = true,
                Some(TaskOutcome::Done(_) | TaskOutcome::Cached(_)) => survey.finished = true,
                Some(TaskOutcome::Cancelled { .. }) => survey.cancelled = true,
                Some(TaskOutcome::Failed(_)) => survey.failed = true,
                Some(TaskOutcome::Paused) => survey.paused = true,
            }
        }
        survey
    }

    pub(crate) fn is_unfinished(&self) -> bool {
        !self.slots.is_empty() || !self.deferred.is_empty()
    }

    /// What the last turn left behind is over: its replies were given, its waiting joins were reported.
    pub(super) fn begin_turn(&mut self) {
        self.replies.clear();
        self.joins.reset();
        self.stays.fill(0);
    }

    /// Whatever failed or was cancelled runs again, with all its attempts; stays count anew.
    pub(super) fn forget_failures(&mut self) {
        self.stays.fill(0);
        for slot in &mut self.slots {
            slot.stays = 0;
            slot.attempt = 1;
            if matches!(slot.done, Some(TaskOutcome::Failed(_) | TaskOutcome::Cancelled { .. })) {
                slot.done = None;
            }
        }
    }

    /// Drops everything that is unfinished.
    pub(super) fn abandon(&mut self) {
        self.slots.clear();
        self.deferred.clear();
        self.joins.reset();
        self.stays.fill(0);
    }
}
