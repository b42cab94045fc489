//! Open questions: what is asked, who answers, what expires.

use serde_json::Value;

use super::outcome::TaskOutcome;
use super::{Ask, Machine, Stopped, fail, rank_of};
use crate::run_error::RunError;
use crate::state::State;
use crate::store::CheckpointKind;
use crate::task::{Answers, Interrupt, InterruptId};
use crate::task_id::TaskId;

impl<S: State> Machine<S> {
    /// What the time is, for questions that expire.
    pub(crate) fn set_now(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// The open questions, in task order.
    pub(crate) fn interrupts(&self) -> Vec<Interrupt> {
        if !self.shared.turn.journals.any() {
            return Vec::new();
        }
        let mut open = Vec::new();
        for task in self.paused_tasks() {
            self.shared.turn.journals.each_open(task, |interrupt| open.push(interrupt.clone()));
        }
        open
    }

    fn paused_tasks(&self) -> impl Iterator<Item = TaskId> {
        let slots = self.frontier.slots.iter().enumerate();
        let paused = slots.filter(|(_, slot)| matches!(slot.done, Some(TaskOutcome::Paused)));
        paused.map(|(rank, _)| TaskId { step: self.step, rank: rank_of(rank) })
    }

    /// When the first open question expires.
    pub(super) fn due_ms(&self) -> Option<u64> {
        if !self.shared.turn.journals.any() {
            return None;
        }
        self.paused_tasks().filter_map(|task| self.shared.turn.journals.due(task)).min()
    }

    /// Gives the answers to those who asked. Nothing changes if one of them fits no open question.
    pub(super) fn answer(&mut self, answers: Answers) -> Result<(), RunError> {
        // With the tasks that wait for the answers: those of child graphs with the tasks around them.
        let mut open: Vec<(InterruptId, TaskId)> = Vec::new();
        for task in self.paused_tasks() {
            self.shared.turn.journals.each_open(task, |interrupt| open.push((interrupt.id, task)));
        }
        let thread = self.thread();
        if open.is_empty() {
            return Err(RunError::NothingToAnswer { thread });
        }
        let ids = || open.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let given = match (answers, &open[..]) {
            (Answers::Invalid(why), _) => return Err(RunError::AnswerNotJson { thread, why }),
            (Answers::One(answer), [(id, task)]) => {
                self.give(*task, *id, answer);
                return Ok(());
            }
            (Answers::One(_), _) => return Err(RunError::WhichAnswer { thread, open: ids() }),
            (Answers::ById(map), _) if map.is_empty() => return Err(RunError::WhichAnswer { thread, open: ids() }),
            (Answers::ById(map), _) => map,
        };
        if let Some(id) = given.keys().find(|id| open.iter().all(|(known, _)| known != *id)) {
            return Err(RunError::UnknownInterrupt { thread, id: *id, open: ids() });
        }
        for (id, answer) in given {
            // Found just now.
            let Some((_, task)) = open.iter().find(|(known, _)| *known == id) else { continue };
            self.give(*task, id, answer);
        }
        Ok(())
    }

    fn give(&mut self, task: TaskId, id: InterruptId, answer: Value) {
        self.shared.turn.journals.answer(task, id, answer);
        self.wake(task);
    }

    /// Answers by their defaults what has waited long enough; says whether there was anything.
    pub(super) fn expire(&mut self) -> bool {
        let now = self.now_ms;
        let mut expired = false;
        for rank in 0..self.frontier.slots.len() {
            let task = TaskId { step: self.step, rank: rank_of(rank) };
            let paused = matches!(self.frontier.slots[rank].done, Some(TaskOutcome::Paused));
            if paused && self.shared.turn.journals.expire(task, now) {
                self.wake(task);
                expired = true;
            }
        }
        expired
    }

    /// A task that paused runs again.
    fn wake(&mut self, task: TaskId) {
        if let Some(slot) = self.frontier.slots.get_mut(task.rank as usize) {
            slot.done = None;
        }
    }

    /// A turn that answers, or lets time answer.
    pub(super) fn start_again(&mut self) -> Ask<S> {
        self.state_mut().reset_transient();
        self.frontier.forget_failures();
        self.wrote.forget();
        self.began = self.step;
        self.commit(CheckpointKind::Pending)
    }

    /// Every task is over or waits, and at least one waits.
    pub(super) fn stop_paused(&mut self) -> Ask<S> {
        let bad = self.shared.turn.journals.take_bad();
        if bad.is_empty() {
            return self.end(Stopped::Paused);
        }
        fail(RunError::BadAnswer { thread: self.thread(), bad })
    }
}
