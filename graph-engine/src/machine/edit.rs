//! Writes from outside, and the beginning of a branch: nothing of them runs a node.

use super::frontier::Slot;
use super::outcome::TaskOutcome;
use super::wrote::Writer;
use super::{Ask, Machine, Stopped, fault};
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointKind, Commit};
use crate::task::{NodeIx, Outcome};

/// In whose place an edit writes.
pub(crate) enum EditBy {
    /// As the input of a turn: START decides what comes next.
    Start,
    /// Nothing comes next.
    End,
    /// What comes next stays.
    InPlace,
    /// As one that has just finished: its way out decides what comes next.
    Node(Name),
}

impl<S: State> Machine<S> {
    /// The next commit begins a new branch. Keys and ids of its tasks differ from those of the old one.
    pub(crate) fn branch(&mut self) {
        (self.fork, self.fresh) = (true, true);
    }

    /// Merges writes that count as those of one super-step. After an error the machine is of no use any more.
    pub(crate) fn edit(&mut self, mut writes: Vec<(EditBy, S::Update)>) -> Result<Box<Commit>, RunError> {
        if self.frontier.completed {
            return Err(RunError::Completed { thread: self.thread() });
        }
        self.refuse_transient(&writes)?;
        let alone = if writes.len() == 1 { writes.pop() } else { None };
        match alone {
            Some((EditBy::InPlace, update)) => self.write(update)?,
            Some((EditBy::End, update)) => {
                self.write(update)?;
                self.shared.turn.journals.clear();
                self.frontier.abandon();
                self.breaks.leave();
                self.fresh = true;
            }
            Some((EditBy::Start, update)) => {
                self.shared.turn.journals.clear();
                self.frontier.abandon();
                self.frontier.begin_turn();
                self.breaks.leave();
                self.began = self.step;
                self.fresh = true;
                self.check_input(&update)?;
                self.merge_input(update)?;
                self.enter()?;
            }
            node => {
                writes.extend(node);
                self.write_as_nodes(writes)?;
            }
        }
        match self.commit(CheckpointKind::Edit) {
            Ask::Commit(commit) => Ok(commit),
            Ask::Stop(Stopped::Failed(error)) => Err(*error),
            Ask::Stop(_) | Ask::Run(_) => Err(self.broken()),
        }
    }

    /// The commit of an edit was taken.
    pub(crate) fn edited(&mut self, id: CheckpointId) {
        self.head = Some(id);
        if std::mem::take(&mut self.fresh) {
            self.origin = id;
        }
    }

    fn broken(&self) -> RunError {
        RunError::Internal { thread: self.thread(), what: "an edit asked for more than a commit".into() }
    }

    fn refused(&self, why: String) -> RunError {
        RunError::Edit { thread: self.thread(), why }
    }

    fn refuse_transient(&self, writes: &[(EditBy, S::Update)]) -> Result<(), RunError> {
        let transient = self.graph.inner().transient;
        let state = &self.shared.state;
        let lost = writes.iter().find_map(|(_, update)| state.written(update).and(transient).iter().next());
        let name = |field: usize| state.fields()[field].name.clone();
        match lost {
            None => Ok(()),
            Some(field) => Err(self.refused(format!("field `{}` is transient and would be lost", name(field)))),
        }
    }

    fn write_as_nodes(&mut self, writes: Vec<(EditBy, S::Update)>) -> Result<(), RunError> {
        let graph = self.graph.clone();
        let graph = graph.inner();
        let mut edited = Vec::with_capacity(writes.len());
        for (by, update) in writes {
            let EditBy::Node(name) = by else {
                return Err(self.refused("only writes as nodes can stand beside each other".into()));
            };
            let Some(node) = graph.index.get(&name).copied() else {
                return Err(RunError::UnknownNode { thread: self.thread(), node: name, known: graph.names.to_vec() });
            };
            if edited.contains(&node) {
                return Err(self.refused(format!("two of its writes are as `{name}`; compose them to one update")));
            }
            let outcome = Outcome::of(update);
            if let Some(why) = fault(graph, &self.shared.state, node, &outcome) {
                return Err(self.refused(format!("as `{name}`: {why}")));
            }
            edited.push(node);
            self.settle(node, outcome);
        }
        // What is unfinished gives way; what has finished is merged with the edit.
        self.frontier.slots.retain(|slot| matches!(slot.done, Some(TaskOutcome::Done(_))));
        self.check_conflicts()?;
        self.merge().map_err(|unmerged| unmerged.error)?;
        self.route()?;
        self.frontier.plan_next(graph, self.step);
        self.shared.turn.journals.clear();
        self.breaks.leave();
        self.step += 1;
        self.fresh = true;
        Ok(())
    }

    /// Puts an outcome in the place of the node's task: of one that waits, else of its plain one, else of a new one.
    fn settle(&mut self, node: NodeIx, outcome: Outcome<S>) {
        let slots = &mut self.frontier.slots;
        let is_done = |slot: &Slot<S>| matches!(slot.done, Some(TaskOutcome::Done(_)));
        let waiting = slots.iter().position(|slot| slot.node == node && !is_done(slot));
        let at = waiting.or_else(|| slots.iter().position(|slot| slot.node == node && !slot.sent));
        let at = at.unwrap_or_else(|| {
            let at = slots.partition_point(|slot| !slot.sent && slot.node < node);
            slots.insert(at, Slot::plain(node));
            at
        });
        slots[at].settle(TaskOutcome::Done(outcome));
    }

    /// A write that no node is said to have made.
    fn write(&mut self, update: S::Update) -> Result<(), RunError> {
        let fields = self.shared.state.written(&update);
        self.merge_one(update).map_err(|cause| self.refused(cause.to_string()))?;
        self.wrote.begin();
        self.wrote.add(Writer::Edit, fields);
        Ok(())
    }
}
