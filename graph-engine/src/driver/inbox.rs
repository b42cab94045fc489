//! Where spawned tasks hand over what became of them.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;

use super::execute::{Bench, Ended};
use crate::machine::{Failure, TaskOutcome};
use crate::state::State;
use crate::task::{NodeIx, Task};
use crate::task_id::TaskId;

/// A queue that its one reader empties at once, so that a wide fan-out costs one wake-up and not one for each task.
pub(super) struct Inbox<S: State> {
    /// Held only while something is put in or everything is taken out: nothing can panic meanwhile.
    ended: Mutex<VecDeque<Ended<S>>>,
    reader: AtomicWaker,
}

impl<S: State> Default for Inbox<S> {
    fn default() -> Self {
        Self { ended: Mutex::default(), reader: AtomicWaker::new() }
    }
}

impl<S: State> Inbox<S> {
    fn put(&self, ended: Ended<S>) {
        let mut queue = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let first = queue.is_empty();
        queue.push_back(ended);
        drop(queue);
        // Whoever put in the first one has woken the reader, who takes the others too.
        if first {
            self.reader.wake();
        }
    }

    /// Waits until something is there and takes all of it, in the order in which it came.
    pub(super) async fn take_all(&self, empty: &mut VecDeque<Ended<S>>) {
        poll_fn(|cx| {
            self.reader.register(cx.waker());
            std::mem::swap(empty, &mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
            if empty.is_empty() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

/// What spawned tasks share, behind one reference count for each.
pub(super) struct Site<S: State> {
    bench: Arc<Bench<S>>,
    pub(super) inbox: Inbox<S>,
}

impl<S: State> Site<S> {
    pub(super) fn new(bench: Arc<Bench<S>>) -> Self {
        Self { bench, inbox: Inbox::default() }
    }
}

/// Runs an attempt in a task of its own.
#[expect(clippy::manual_async_fn, reason = "an async function would hold its arguments twice")]
pub(super) fn execute_reported<S: State>(mut task: Task<S>, report: Report<S>) -> impl Future<Output = ()> + Send {
    async move {
        if let Some(site) = &report.site {
            let ended = site.bench.timed(&mut task).await;
            drop(task);
            report.send(ended);
        }
    }
}

/// Hands over the outcome of a spawned task, also when the task is dropped before it has one.
pub(super) struct Report<S: State> {
    id: TaskId,
    node: NodeIx,
    site: Option<Arc<Site<S>>>,
}

impl<S: State> Report<S> {
    pub(super) fn new(task: &Task<S>, site: Arc<Site<S>>) -> Self {
        Self { id: task.id, node: task.node, site: Some(site) }
    }

    fn send(mut self, ended: Ended<S>) {
        if let Some(site) = self.site.take() {
            site.inbox.put(ended);
        }
    }
}

impl<S: State> Drop for Report<S> {
    fn drop(&mut self) {
        if let Some(site) = self.site.take() {
            let outcome = TaskOutcome::Failed(Failure::fatal("the task was dropped before it finished".into()));
            site.inbox.put(Ended { id: self.id, node: self.node, took: Duration::ZERO, outcome });
        }
    }
}
