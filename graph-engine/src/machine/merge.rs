//! Conflicts, and the application of updates in task order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use super::outcome::TaskOutcome;
use super::wrote::Writer;
use super::{Ask, Machine, fail};
use crate::error::BoxError;
use crate::panic::panic_text;
use crate::report::RunReport;
use crate::run_error::RunError;
use crate::state::{FieldSet, State};
use crate::task::Shared;

impl<S: State> Machine<S> {
    /// Two tasks wrote one single-writer field, or wrote beside an overwrite. The results of all tasks that did are
    /// dropped, so that proceeding runs exactly those again.
    pub(super) fn check_conflicts(&mut self) -> Result<(), RunError> {
        if self.frontier.slots.len() < 2 {
            return Ok(());
        }
        let (mut seen, mut overwritten, mut clash) = (FieldSet::EMPTY, FieldSet::EMPTY, FieldSet::EMPTY);
        for rank in 0..self.frontier.slots.len() {
            let (wrote, over) = self.wrote(rank);
            clash.insert(seen.and(wrote).and(self.graph.inner().single));
            clash.insert(overwritten.and(wrote) | seen.and(over));
            seen.insert(wrote);
            overwritten.insert(over);
        }
        let Some(field) = clash.iter().next() else { return Ok(()) };
        let writers = |fields: FieldSet| {
            (0..self.frontier.slots.len())
                .filter(|rank| !self.wrote(*rank).0.and(fields).is_empty())
                .collect::<Vec<_>>()
        };
        let tasks = writers(FieldSet::of(field)).into_iter().map(|rank| self.task_ref(rank)).collect();
        let name = self.shared.state.fields()[field].name.to_string();
        for rank in writers(clash) {
            self.frontier.slots[rank].done = None;
        }
        Err(RunError::WriteConflict { thread: self.thread(), step: self.step, field: name, tasks })
    }

    /// The fields that a finished task writes, and those of them that it overwrites.
    fn wrote(&self, rank: usize) -> (FieldSet, FieldSet) {
        let state = &self.shared.state;
        match &self.frontier.slots[rank].done {
            Some(TaskOutcome::Done(outcome)) => (state.written(&outcome.update), state.overwritten(&outcome.update)),
            _ => (FieldSet::EMPTY, FieldSet::EMPTY),
        }
    }

    /// Reducers into new values, then moves that can't fail. The slots keep empty updates, so that after a failed
    /// router only the routing is left to do.
    pub(super) fn merge(&mut self) -> Result<(), Unmerged> {
        if self.options.durable {
            for slot in &self.frontier.slots {
                if let Some(TaskOutcome::Done(outcome)) = &slot.done {
                    self.changes.note(&self.shared.state, &outcome.update);
                }
            }
        }
        self.note_writers();
        let updates = self.frontier.slots.iter_mut().filter_map(|slot| match &mut slot.done {
            Some(TaskOutcome::Done(outcome)) => Some(&mut outcome.update),
            _ => None,
        });
        let merged = apply(state_mut(&mut self.shared, &mut self.report), updates);
        self.merged(merged)
    }

    /// Updates of a super-step were merged, or could not be.
    #[inline]
    pub(super) fn merged(&mut self, merged: Result<Writes, Refused>) -> Result<(), Unmerged> {
        if self.options.durable {
            self.wrote.settle(merged.is_ok());
        }
        let torn = merged.as_ref().is_err_and(|refused| refused.torn);
        self.note_writes(merged).map_err(|cause| {
            let error = RunError::Merge { thread: self.thread(), step: self.step, cause };
            Unmerged { error, torn }
        })
    }

    /// Drops what the tasks of a step have done that can't be merged, what was saved of it too: proceeding with the same
    /// results would fail for ever. What they were answered and what they remember stays.
    #[cold]
    pub(super) fn do_again(&mut self, unmerged: Unmerged) -> Ask<S> {
        let Unmerged { error, torn } = unmerged;
        // A torn state must not be stored. Then an older checkpoint is the last one, to which nothing of this step belongs.
        // A child graph has collected the writes for its parent already, so nothing of it may be stored either.
        let is_stuck = torn && !self.changes.is_clean();
        if !self.options.durable || is_stuck || self.embedded.is_some() {
            return fail(error);
        }
        for slot in &mut self.frontier.slots {
            slot.done = None;
        }
        self.keep_and_fail(error)
    }

    /// Asks what the graph asks of the input of a turn.
    pub(super) fn check_input(&self, input: &S::Update) -> Result<(), RunError> {
        let rules = &self.graph.inner().input;
        let asked = catch_unwind(AssertUnwindSafe(|| rules.refuse(&self.shared.state, input)));
        let checked =
            asked.unwrap_or_else(|panic| Err(format!("a check of it panicked: {}", panic_text(&*panic)).into()));
        checked.map_err(|cause| RunError::Input { thread: self.thread(), cause })
    }

    /// The input of a turn passes through the same rules.
    pub(super) fn merge_input(&mut self, input: S::Update) -> Result<(), RunError> {
        self.state_mut().reset_transient();
        let fields = self.shared.state.written(&input);
        self.merge_one(input).map_err(|cause| RunError::Input { thread: self.thread(), cause })?;
        if self.options.durable {
            self.wrote.begin();
            self.wrote.add(Writer::Input, fields.without(self.graph.inner().transient));
        }
        Ok(())
    }

    /// One update from outside.
    pub(super) fn merge_one(&mut self, mut update: S::Update) -> Result<(), BoxError> {
        if self.options.durable {
            self.changes.note(&self.shared.state, &update);
        }
        let merged = apply(self.state_mut(), std::iter::once(&mut update));
        self.note_writes(merged)
    }

    /// Who has finished, and what each of them writes.
    fn note_writers(&mut self) {
        if !self.options.durable {
            return;
        }
        let transient = self.graph.inner().transient;
        for slot in &self.frontier.slots {
            if let Some(TaskOutcome::Done(outcome)) = &slot.done {
                let fields = self.shared.state.written(&outcome.update).without(transient);
                self.wrote.note(Writer::Node(slot.node), fields);
            }
        }
    }

    /// What was written must be in the next commit.
    #[inline]
    fn note_writes(&mut self, merged: Result<Writes, Refused>) -> Result<(), BoxError> {
        match merged {
            Ok(_) if !self.options.durable => {}
            Ok(Writes { fields, whole }) => self.changes.keep(fields, whole),
            Err(Refused { cause, .. }) => {
                self.changes.forget();
                return Err(cause);
            }
        }
        Ok(())
    }

    pub(super) fn state_mut(&mut self) -> &mut S {
        state_mut(&mut self.shared, &mut self.report)
    }
}

/// Every task of the step is over and has dropped its snapshot, so the state mostly has one owner here. Whoever still
/// keeps one costs a copy and sees the old state.
pub(super) fn state_mut<'s, S: State>(shared: &'s mut Arc<Shared<S>>, report: &mut RunReport) -> &'s mut S {
    let before = Arc::as_ptr(shared);
    let shared = Arc::make_mut(shared);
    // Asking the count first would cost as much as the rest.
    if !ptr::eq(before, shared) {
        report.copies += 1;
    }
    &mut shared.state
}

/// The fields that updates wrote, and those that must be stored whole.
pub(super) struct Writes {
    fields: FieldSet,
    whole: FieldSet,
}

/// Why updates were not merged.
pub(super) struct Refused {
    pub(super) cause: BoxError,
    /// Some were moved into the state already.
    torn: bool,
}

/// A super-step that could not be merged.
pub(super) struct Unmerged {
    pub(super) error: RunError,
    torn: bool,
}

/// Merges updates in their order, as one super-step.
pub(super) fn apply<'u, S: State>(
    state: &mut S,
    updates: impl Iterator<Item = &'u mut S::Update>,
) -> Result<Writes, Refused> {
    let mut torn = false;
    // Reducers and `Append` may be the user's: a panic in one must not leave the process.
    let merged = catch_unwind(AssertUnwindSafe(|| -> Result<Writes, BoxError> {
        let mut writes = Writes { fields: FieldSet::EMPTY, whole: FieldSet::EMPTY };
        let mut staged = S::Staged::default();
        let mut ready = Vec::new();
        // One update is the frequent case and needs no list.
        let mut first: Option<&mut S::Update> = None;
        for update in updates {
            writes.fields.insert(state.written(update));
            writes.whole.insert(state.overwritten(update));
            state.stage(&mut staged, update).map_err(BoxError::from)?;
            match &first {
                None => first = Some(update),
                Some(_) => ready.push(update),
            }
        }
        torn = true;
        for update in first.into_iter().chain(ready) {
            state.apply(std::mem::take(update));
        }
        state.settle(staged);
        Ok(writes)
    }));
    let merged = merged.unwrap_or_else(|panic| Err(format!("a reducer panicked: {}", panic_text(&*panic)).into()));
    merged.map_err(|cause| Refused { cause, torn })
}
