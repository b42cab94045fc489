//! One batch, as its task and its waiters share it.

use std::collections::HashMap;
use std::sync::OnceLock;

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::CoalesceError;

/// What a load ended with.
pub(super) type Answer<K, V> = Result<HashMap<K, V>, CoalesceError>;

/// One batch. Which keys it has, and for whom, is in [`Lanes`](super::lanes::Lanes).
pub(super) struct Batch<K, V> {
    pub(super) id: u64,
    /// Ends the window early; keeps one signal that comes before the task listens.
    pub(super) full: Notify,
    answer: OnceLock<Answer<K, V>>,
    answered: Notify,
    task: OnceLock<AbortHandle>,
}

impl<K, V> Batch<K, V> {
    pub(super) fn new(id: u64) -> Self {
        let (full, answered) = (Notify::new(), Notify::new());
        Self { id, full, answer: OnceLock::new(), answered, task: OnceLock::new() }
    }

    /// Says which task drives it.
    pub(super) fn driven_by(&self, task: AbortHandle) {
        // There is one task for a batch.
        let _ = self.task.set(task);
    }

    /// Ends the task, at its next await.
    pub(super) fn abort(&self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.answer.get().is_some()
    }

    /// Answers all waiters; only the first answer counts.
    pub(super) fn answer(&self, answer: Answer<K, V>) {
        if self.answer.set(answer).is_ok() {
            self.answered.notify_waiters();
        }
    }

    /// Waits for the answer.
    pub(super) async fn answered(&self) -> &Answer<K, V> {
        loop {
            // It hears every answer from here on, so none comes between the look and the wait.
            let answered = self.answered.notified();
            if let Some(answer) = self.answer.get() {
                return answer;
            }
            answered.await;
        }
    }
}
