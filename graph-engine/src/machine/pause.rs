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
        self.asked().into_iter().map(|(_, interrupt)| interrupt).collect()
    }

    /// The open questions with the tasks that wait for their answers: those of child graphs with the tasks around them.
    fn asked(&self) -> Vec<(TaskId, Interrupt)> {
        let open = |task| self.shared.turn.journals.open(task).into_iter().map(move |interrupt| (task, interrupt));
        self.paused_tasks().into_iter().flat_map(open).collect()
    }

    fn paused_tasks(&self) -> Vec<TaskId> {
        let slots = self.frontier.slots.iter().enumerate();
        let paused = slots.filter(|(_, slot)| matches!(slot.done, Some(TaskOutcome::Paused)));
        paused.map(|(rank, _)| TaskId { step: self.step, rank: rank_of(rank) }).collect()
    }

    /// When the first open question expires.
    pub(super) fn due_ms(&self) -> Option<u64> {
        if !self.shared.turn.journals.any() {
            return None;
        }
        self.paused_tasks().into_iter().filter_map(|task| self.shared.turn.journals.due(task)).min()
    }

    /// Gives the answers to those who asked. Nothing changes if one of them fits no open question.
    pub(super) fn answer(&mut self, answers: Answers) -> Result<(), RunError> {
        let (tasks, open): (Vec<_>, Vec<_>) = self.asked().into_iter().unzip();
        let thread = self.thread();
        if open.is_empty() {
            return Err(RunError::NothingToAnswer { thread });
        }
        let ids = || open.iter().map(|interrupt| interrupt.id).collect::<Vec<_>>();
        let given: Vec<(InterruptId, Value)> = match answers {
            Answers::Invalid(why) => return Err(RunError::AnswerNotJson { thread, why }),
            Answers::One(_) if open.len() > 1 => return Err(RunError::WhichAnswer { thread, open: ids() }),
            Answers::One(answer) => open.iter().map(|interrupt| interrupt.id).zip([answer]).collect(),
            Answers::ById(map) if map.is_empty() => return Err(RunError::WhichAnswer { thread, open: ids() }),
            Answers::ById(map) => map.into_iter().collect(),
        };
        if let Some((id, _)) = given.iter().find(|(id, _)| open.iter().all(|interrupt| interrupt.id != *id)) {
            return Err(RunError::UnknownInterrupt { thread, id: *id, open: ids() });
        }
        for (id, answer) in given {
            // Found just now.
            let Some(at) = open.iter().position(|interrupt| interrupt.id == id) else { continue };
            let task = tasks[at];
            self.wake(task, |machine| machine.shared.turn.journals.answer(task, id, answer));
        }
        Ok(())
    }

    /// Answers by their defaults what has waited long enough; says whether there was anything.
    pub(super) fn expire(&mut self) -> bool {
        let now = self.now_ms;
        let mut expired = false;
        for task in self.paused_tasks() {
            if self.shared.turn.journals.expire(task, now) {
                self.wake(task, |_| {});
                expired = true;
            }
        }
        expired
    }

    /// A task that paused runs again.
    fn wake(&mut self, task: TaskId, change: impl FnOnce(&mut Self)) {
        change(self);
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
