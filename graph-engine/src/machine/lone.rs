//! A super-step of one plain task around which there is nothing to do: by far the most frequent one.
//!
//! What is decided is what [`finish_step`](Machine::finish_step) decides, and whatever is not plain goes on there. What
//! is saved is the way through lists of one: the task is the same one again and again, its outcome is merged where it
//! lies, and the only reference to the state passes from machine to task and back.

use std::iter::once;

use super::merge::{Unmerged, apply, state_mut};
use super::outcome::TaskOutcome;
use super::routing::{ask, sends};
use super::wrote::Writer;
use super::{Answer, Ask, Batch, Machine, fail, fault};
use crate::graph::{Exit, VertexSpec};
use crate::state::State;
use crate::store::{CheckpointKind, Commit};
use crate::task::{Goto, NodeIx, Outcome, Task};
use crate::task_id::TaskId;

/// What follows a lone task.
pub(crate) enum Lone<S: State> {
    /// Another one: the task has become it.
    Again,
    /// The next frontier stands and is to be stored; then [`lone_stored`](Machine::lone_stored) goes on.
    Store(Box<Commit>),
    /// Something that is not a lone task's.
    Ask(Ask<S>),
}

impl<S: State> Machine<S> {
    /// Whether the tasks that were asked for are one plain task around which there is nothing to do.
    #[inline]
    pub(crate) fn is_lone(&self) -> bool {
        let quiet = self.frontier.trace.is_none()
            && self.until.is_none()
            && self.breaks.is_empty()
            && self.frontier.deferred.is_empty()
            // What an earlier attempt asked counts for nothing in this one, which its journal must be told.
            && !self.shared.turn.journals.any();
        match &self.frontier.slots[..] {
            [slot] if quiet && slot.is_bare() && slot.attempt == 1 => self.graph.inner().at(slot.node).is_plain(),
            _ => false,
        }
    }

    /// Gives the task of such a super-step the machine's own reference to the state, in place of one more.
    pub(crate) fn lend(&mut self, task: &mut Task<S>) {
        task.shared.take_from(&mut self.shared);
    }

    /// Takes it back. Nothing else may be asked of the machine before.
    pub(crate) fn take_back(&mut self, task: &mut Task<S>) {
        self.shared.take_from(&mut task.shared);
    }

    /// The task is over, but not as a plain one.
    pub(crate) fn end_lone(&mut self, mut batch: Box<Batch<S>>, outcome: TaskOutcome<S>) -> Ask<S> {
        if let [task] = &mut batch.tasks[..] {
            let id = task.id;
            self.take_back(task);
            batch.outcomes.push((id, outcome));
        }
        batch.tasks.clear();
        self.next(Answer::Ran(batch))
    }

    /// The batch of a lone task is not needed any more.
    pub(crate) fn keep_batch(&mut self, mut batch: Box<Batch<S>>) {
        batch.tasks.clear();
        self.batch = Some(batch);
    }

    /// Whether the outcome is one that [`finish_lone`](Self::finish_lone) can take.
    #[inline]
    pub(crate) fn takes(&self, task: &Task<S>, outcome: &Outcome<S>) -> bool {
        matches!(outcome.goto, Goto::Declared)
            && !task.shared.turn.journals.any()
            && fault(self.graph.inner(), task.state(), task.node, outcome).is_none()
    }

    /// Merges what the task wrote and goes where its node leads.
    pub(crate) fn finish_lone(&mut self, task: &mut Task<S>, outcome: &mut Outcome<S>) -> Lone<S> {
        self.take_back(task);
        self.report.attempts += 1;
        if let Err(error) = self.collect_lone(&outcome.update) {
            self.settle_lone(outcome);
            return Lone::Ask(fail(error));
        }
        if let Err(unmerged) = self.merge_lone(task.node, &mut outcome.update) {
            self.settle_lone(outcome);
            return Lone::Ask(self.do_again(unmerged));
        }
        let graph = self.graph.inner();
        let (target, chosen) = match &graph.at(task.node).exit {
            Exit::Edges(targets) => (targets.first().copied().flatten(), None),
            Exit::Router { choose, targets, .. } => {
                let goto = match ask(choose, &self.shared.state) {
                    Ok(goto) => goto,
                    Err(cause) => {
                        let error = self.router_error(task.node, cause);
                        self.settle_lone(outcome);
                        return Lone::Ask(self.keep_and_fail(error));
                    }
                };
                let declared = match &goto {
                    Goto::Go(to) if !graph.leads_out(to.name) => {
                        // Mostly it is the very text, unless the compiler keeps one for each part of a program.
                        let is_same = |(name, _): &&(&'static str, _)| std::ptr::eq(*name, to.name);
                        let same = targets.iter().find(is_same);
                        same.or_else(|| targets.iter().find(|(name, _)| *name == to.name))
                    }
                    _ => None,
                };
                match declared {
                    Some((_, target)) => (*target, Some(goto)),
                    None => return self.finish_listed(outcome, task.node, Some(goto)),
                }
            }
        };
        match target {
            Some(node) if graph.at(node).deferred => return self.finish_listed(outcome, task.node, chosen),
            Some(node) => {
                self.frontier.enter_clusters(graph, Some(task.node), node);
                self.frontier.slots[0].begin_again(node);
            }
            None => self.frontier.slots.clear(),
        }
        self.end_step();
        if self.options.durable && !self.holds_back(CheckpointKind::Step) {
            return match self.commit(CheckpointKind::Step) {
                Ask::Commit(commit) => Lone::Store(commit),
                ask => Lone::Ask(ask),
            };
        }
        self.go_on_lone(task).map_or(Lone::Again, Lone::Ask)
    }

    /// The checkpoint after a lone task is stored. Nothing is asked for if the task has become the next one. `quiet`:
    /// still nobody watches.
    pub(crate) fn lone_stored(&mut self, task: &mut Task<S>, commit: Box<Commit>, quiet: bool) -> Option<Ask<S>> {
        self.stored(commit);
        if !quiet {
            return Some(self.advance());
        }
        self.go_on_lone(task)
    }

    /// The next lone task in the place of the one before, if there is one.
    fn go_on_lone(&mut self, task: &mut Task<S>) -> Option<Ask<S>> {
        let (left, _) = self.steps_left();
        let node = match &self.frontier.slots[..] {
            [slot] if left > 0 && !self.draining && self.graph.inner().at(slot.node).is_plain() => slot.node,
            _ => return Some(self.advance()),
        };
        self.report.tasks += 1;
        self.frontier.slots[0].running = true;
        task.id = TaskId { step: self.step, rank: 0 };
        task.node = node;
        task.again = self.graph.inner().at(node).again;
        task.origin = self.origin;
        task.remaining_steps = left - 1;
        task.first_step = false;
        self.lend(task);
        None
    }

    fn merge_lone(&mut self, node: NodeIx, update: &mut S::Update) -> Result<(), Unmerged> {
        if self.options.durable {
            let state = &self.shared.state;
            self.changes.note(state, update);
            let fields = state.written(update).without(self.graph.inner().transient);
            self.wrote.note(Writer::Node(node), fields);
        }
        let merged = apply(state_mut(&mut self.shared, &mut self.report), once(update));
        self.merged(merged)
    }

    /// Puts a finished outcome where those of several tasks are.
    #[cold]
    fn settle_lone(&mut self, outcome: &mut Outcome<S>) {
        let outcome = std::mem::take(outcome);
        self.frontier.slots[0].settle(TaskOutcome::Done(outcome));
    }

    /// The rest of the super-step, as if there were several tasks. Its router has chosen already.
    #[cold]
    fn finish_listed(&mut self, outcome: &mut Outcome<S>, node: NodeIx, chosen: Option<Goto>) -> Lone<S> {
        self.settle_lone(outcome);
        if let Some(goto) = chosen {
            // What was chosen before all are asked is not counted there.
            let width = self.check_width(sends(&goto), false);
            self.frontier.choose(node, goto);
            if let Err(error) = width {
                return Lone::Ask(self.keep_and_fail(error));
            }
        }
        Lone::Ask(self.finish_merged())
    }
}

impl<S: State> VertexSpec<S> {
    /// Whether nothing stands around a task of the node, and one edge or a router leads on from it.
    fn is_plain(&self) -> bool {
        let leads = match &self.exit {
            Exit::Edges(targets) => targets.len() == 1,
            Exit::Router { .. } => true,
        };
        leads && self.joins.is_empty() && self.policy.timeout.is_none() && self.policy.idle_timeout.is_none()
    }
}
