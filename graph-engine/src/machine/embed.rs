//! A machine inside a task of another one: what it gives back, and where it stands in the turn around it.

use std::collections::BTreeMap;
use std::iter::once;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::outcome::TaskOutcome;
use super::{Ask, Machine, Stopped, fail, rank_of, stop};
use crate::checkpoint_id::{CheckpointId, IdPrefix};
use crate::error::BoxError;
use crate::name::Name;
use crate::panic::panic_text;
use crate::run_error::RunError;
use crate::state::{CodecError, FieldSet, State};
use crate::store::CheckpointKind;
use crate::task::{Answers, Goto, Hop, InterruptId, Rare, TurnContext};
use crate::task_id::TaskId;

/// What only a child graph has.
pub(super) struct Embedded<S: State> {
    /// The call that it serves.
    pub(super) call: Name,
    /// Its own updates so far, composed in order.
    pub(super) written: S::Update,
    /// A limit of super-steps of its own.
    pub(super) step_limit: Option<u64>,
}

/// How a child graph goes on.
pub(crate) enum Enter<S: State> {
    /// A new call on this state.
    State(S),
    /// A new call with input.
    Input(S::Update),
    /// The same call: with answers that may have been taken already, some of them perhaps for others.
    Continue(BTreeMap<InterruptId, Value>),
}

impl<S: State> Machine<S> {
    /// The machine serves this call of a child graph.
    pub(crate) fn embed(&mut self, call: Name, step_limit: Option<u64>) {
        let turn = &self.shared.turn;
        // Two calls of one turn may begin at the same checkpoint.
        if self.options.durable {
            self.prefix = IdPrefix::new(&turn.thread, &turn.namespace, &format!("{}/{call}", turn.turn_id()));
        }
        self.embedded = Some(Box::new(Embedded { call, written: S::Update::default(), step_limit }));
    }

    /// A call that is over makes place for the next one.
    pub(super) fn begin_call(&mut self) {
        self.frontier.abandon();
        self.breaks.leave();
        self.frontier.begin_turn();
        self.frontier.completed = false;
        self.frontier.left.clear();
        self.shared.turn.journals.clear();
        self.began = self.step;
        self.fresh = true;
        if let Some(embedded) = &mut self.embedded {
            embedded.written = S::Update::default();
        }
    }

    /// Begins on a state as it is, or goes on.
    pub(super) fn enter_child(&mut self, enter: Enter<S>) -> Ask<S> {
        let entered = match enter {
            Enter::Continue(answers) => return self.continue_child(answers),
            Enter::Input(update) => {
                self.begin_call();
                self.check_input(&update).and_then(|()| self.merge_input(update))
            }
            Enter::State(state) => {
                self.begin_call();
                let stored = (0..state.fields().len()).filter(|field| !state.fields()[*field].transient);
                let stored = stored.fold(FieldSet::EMPTY, |set, field| set | FieldSet::of(field));
                if self.options.durable {
                    self.changes.keep(stored, stored);
                }
                *self.state_mut() = state;
                Ok(())
            }
        };
        match entered.and_then(|()| self.enter()) {
            Ok(()) => self.commit(CheckpointKind::Input),
            Err(error) => fail(error),
        }
    }

    fn continue_child(&mut self, mut answers: BTreeMap<InterruptId, Value>) -> Ask<S> {
        if !self.frontier.is_unfinished() {
            return stop(Stopped::Done);
        }
        self.expire();
        let open = self.interrupts();
        answers.retain(|id, _| open.iter().any(|interrupt| interrupt.id == *id));
        if !answers.is_empty()
            && let Err(error) = self.answer(Answers::ById(answers))
        {
            return fail(error);
        }
        let survey = self.frontier.survey();
        if survey.paused && !survey.waiting && !survey.failed && !survey.cancelled {
            return stop(Stopped::Paused);
        }
        self.start_again()
    }

    /// Adds the updates of the super-step to what the child gives back.
    pub(super) fn collect(&mut self) -> Result<(), RunError> {
        let Some(embedded) = &mut self.embedded else { return Ok(()) };
        let done = self.frontier.slots.iter().filter_map(|slot| match &slot.done {
            Some(TaskOutcome::Done(outcome)) => Some(&outcome.update),
            _ => None,
        });
        let collected = embedded.collect(&self.shared.state, done);
        collected.map_err(|cause| self.uncollected(cause))
    }

    /// The same for the one task of a super-step.
    #[inline]
    pub(super) fn collect_lone(&mut self, update: &S::Update) -> Result<(), RunError> {
        let Some(embedded) = &mut self.embedded else { return Ok(()) };
        let collected = embedded.collect(&self.shared.state, once(update));
        collected.map_err(|cause| self.uncollected(cause))
    }

    #[cold]
    fn uncollected(&self, cause: BoxError) -> RunError {
        RunError::Merge { thread: self.thread(), step: self.step, cause }
    }

    /// What the child has written, composed in order.
    pub(crate) fn take_written(&mut self) -> S::Update {
        self.embedded.as_mut().map(|embedded| std::mem::take(&mut embedded.written)).unwrap_or_default()
    }

    /// What leads out of the graph.
    pub(crate) fn left(&self) -> &[Hop] {
        &self.frontier.left
    }

    /// Adds what an embedded machine has written to its position. It is JSON already: among the other fields it would be
    /// read once more.
    pub(super) fn add_written(&self, position: &mut Vec<u8>) -> Result<(), CodecError> {
        let Some(embedded) = &self.embedded else { return Ok(()) };
        // The object's end.
        position.pop();
        position.extend_from_slice(b",\"written\":");
        self.shared.state.encode_update(&embedded.written, position)?;
        position.push(b'}');
        Ok(())
    }

    /// The children of finished tasks have moved on with the thread.
    pub(super) fn keep_children(&mut self) {
        if !self.shared.turn.journals.any() {
            return;
        }
        for (rank, slot) in self.frontier.slots.iter().enumerate() {
            let Some(TaskOutcome::Done(outcome)) = &slot.done else { continue };
            // A task that was taken over has not happened.
            if matches!(&outcome.goto, Goto::Rare(rare) if matches!(**rare, Rare::Rescue(_))) {
                continue;
            }
            for (_, child) in self.shared.turn.journals.kept_children(TaskId { step: self.step, rank: rank_of(rank) }) {
                if let Some(at) = child.at {
                    self.shared.turn.kept_children.insert(child.namespace, at);
                }
            }
        }
    }

    /// Super-steps that may still be made before one of the limits is reached, and the error that says which.
    pub(super) fn steps_left(&self) -> (u64, bool) {
        let made = self.step - self.began;
        let own = match &self.embedded {
            Some(embedded) => embedded.step_limit.map(|limit| limit.saturating_sub(made)),
            None => Some(self.options.step_limit.saturating_sub(made)),
        };
        let turn = &self.shared.turn;
        let shared = turn.host.get().map(|host| {
            // Each graph around this one is in the middle of a super-step.
            let depth = turn.nested.as_ref().map_or(0, |nested| u64::from(nested.depth));
            host.left().saturating_sub(depth)
        });
        match (own, shared) {
            (Some(own), Some(shared)) if own <= shared => (own, true),
            (Some(own), None) => (own, true),
            (_, Some(shared)) => (shared, false),
            (None, None) => (u64::MAX, false),
        }
    }

    /// A super-step was made.
    pub(super) fn count_step(&self) {
        let turn = &self.shared.turn;
        match &self.embedded {
            None => turn.note_made(self.report.steps),
            Some(_) => turn.host.get().into_iter().for_each(|host| host.add()),
        }
    }

    pub(super) fn step_limit_error(&self, own: bool) -> RunError {
        let turn = &self.shared.turn;
        let (thread, step, pending) = (self.thread(), self.step, self.pending());
        match (&self.embedded, own, turn.host.get()) {
            (Some(embedded), true, _) => {
                let (namespace, limit) = (turn.namespace.clone(), embedded.step_limit.unwrap_or(u64::MAX));
                RunError::ChildStepLimit { thread, namespace, limit, step, pending }
            }
            (_, false, Some(host)) => RunError::StepLimit { thread, limit: host.limit(), step, pending },
            _ => RunError::StepLimit { thread, limit: self.options.step_limit, step, pending },
        }
    }
}

impl<S: State> Embedded<S> {
    fn collect<'u>(&mut self, state: &S, updates: impl Iterator<Item = &'u S::Update>) -> Result<(), BoxError> {
        let collect = || -> Result<(), BoxError> {
            for update in updates {
                if state.written(update).is_empty() {
                    continue;
                }
                let copy = match state.copy_update(update) {
                    Some(copy) => copy,
                    None => copy_by_json(state, update)?,
                };
                self.written = S::compose(std::mem::take(&mut self.written), copy);
            }
            Ok(())
        };
        let collected = catch_unwind(AssertUnwindSafe(collect));
        collected.unwrap_or_else(|panic| Err(format!("copying an update panicked: {}", panic_text(&*panic)).into()))
    }
}

/// What can't be cloned is written and read.
fn copy_by_json<S: State>(state: &S, update: &S::Update) -> Result<S::Update, BoxError> {
    let mut json = Vec::new();
    state.encode_update(update, &mut json)?;
    Ok(state.decode_update(&json)?)
}

/// Where a child graph of this turn's graph stood that keeps its state over calls.
pub(crate) fn kept_child(turn: &TurnContext, namespace: &str) -> Option<CheckpointId> {
    turn.kept_children.get(namespace)
}
