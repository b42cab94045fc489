//! The local driver: one loop around the machine, on tokio.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tracing::Span;

use super::event::{EventKind, Mode};
use super::execute::{Bench, Ended, execute_owned};
use super::hub::{Hub, Origin};
use super::inbox::{Inbox, Report};
use super::keep::Keep;
use super::seams::millis;
use crate::error::StoreError;
use crate::machine::{Answer, Ask, Batch, CHILD, Machine, Start, Stopped, TaskOutcome, encode_outcome};
use crate::node::Siblings;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointKind, Commit, SavedResult};
use crate::task::{Snap, Task};
use crate::task_id::TaskId;

/// How several active tasks share the processor. One active task is always awaited in place.
///
/// ```
/// use graph_engine::Parallel;
///
/// assert_eq!(Parallel::default(), Parallel::Spawned);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parallel {
    /// In the caller's task: no thread is used but its own.
    Joined,
    /// Each in a task of its own.
    #[default]
    Spawned,
}

/// When the checkpoints of a turn are stored. A pause, a failure and the end are always stored before the turn says so.
///
/// ```
/// use graph_engine::Durability;
///
/// assert_eq!(Durability::default(), Durability::Sync);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Each super-step is stored before the next one begins. After a crash only the step in flight runs again.
    #[default]
    Sync,
    /// The input is stored first, then each super-step while the next ones run; steps that end while an earlier one is
    /// being stored are stored together. After a crash the steps since the last stored one run again, with the same
    /// idempotency keys.
    Async,
    /// Only the end of the turn is stored, and its pauses and failures. After a crash the turn never was.
    Exit,
}

pub(crate) struct LocalDriver<S: State> {
    pub(crate) bench: Arc<Bench<S>>,
    pub(crate) keep: Option<Arc<Keep>>,
    pub(crate) durability: Durability,
    pub(crate) parallel: Parallel,
    /// The turn is to stop at the next boundary of a super-step.
    pub(crate) drain: Arc<AtomicBool>,
    /// Whether anybody counts super-steps or makes spans of them.
    pub(crate) watched: bool,
    /// Stays that were counted, and whether the span of a super-step is open.
    pub(crate) stays: u64,
    pub(crate) in_step: bool,
    /// Time per node, by index.
    pub(crate) node_time: Vec<Duration>,
}

/// Tasks that run beside the driver.
struct Running<S: State, F> {
    joined: FuturesUnordered<F>,
    spawned: Arc<Inbox<S>>,
    /// What was taken out of the inbox and not yet handed to the machine.
    arrived: VecDeque<Ended<S>>,
    handles: AbortOnDrop,
    count: usize,
}

impl<S: State, F: Future<Output = Ended<S>>> Running<S, F> {
    /// The next attempt that is over. There must be one that runs.
    async fn next(&mut self) -> Ended<S> {
        loop {
            if let Some(ended) = self.arrived.pop_front() {
                return ended;
            }
            match self.joined.next().await {
                Some(ended) => return ended,
                None => self.spawned.take_all(&mut self.arrived).await,
            }
        }
    }
}

impl<S: State, F: Future<Output = Ended<S>>> Running<S, F> {
    /// One more attempt that is over already.
    async fn ready(&mut self) -> Option<Ended<S>> {
        if let Some(ended) = self.arrived.pop_front() {
            return Some(ended);
        }
        poll_fn(|cx| match self.joined.poll_next_unpin(cx) {
            Poll::Ready(ended) => Poll::Ready(ended),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// Waits for something while the tasks in place go on, because it may be one of them that holds it up.
    async fn meanwhile<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        poll_fn(|cx| {
            if let Poll::Ready(done) = other.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            while let Poll::Ready(Some(ended)) = self.joined.poll_next_unpin(cx) {
                self.arrived.push_back(ended);
            }
            Poll::Pending
        })
        .await
    }
}

struct AbortOnDrop(Vec<JoinHandle<()>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

impl<S: State> LocalDriver<S> {
    /// Drives the machine until it stops.
    pub(crate) async fn drive(&mut self, machine: &mut Machine<S>, start: Start<S>) -> Result<Stopped, RunError> {
        let bench = self.bench.clone();
        let begin = |task: Task<S>| execute_owned(bench.clone(), task, |ended| ended);
        let mut running = Running {
            joined: FuturesUnordered::new(),
            spawned: Arc::default(),
            arrived: VecDeque::new(),
            handles: AbortOnDrop(Vec::new()),
            count: 0,
        };
        machine.set_now(millis(self.bench.seams.clock.now()));
        if let Some(keep) = &self.keep {
            keep.set_head(machine.head()).await;
        }
        let (mut answer, mut step) = (Answer::Start(start), machine.step());
        let mut input = matches!(&answer, Answer::Start(Start::Input(_)));
        loop {
            if self.drain.load(Ordering::Acquire) {
                machine.drain();
            }
            if self.durability != Durability::Sync {
                let hold = Box::pin(self.holds()).await?;
                machine.hold(hold);
            }
            let ask = machine.next(answer);
            let (stepped, over) = (machine.step() != step, matches!(&ask, Ask::Stop(_)));
            if let Some(hub) = self.bench.hub() {
                let merged = std::mem::take(&mut input) && !over;
                // Boxed, so that a turn that nobody reads carries nothing of it.
                Box::pin(tell(hub, machine, step, merged, stepped)).await;
            }
            if (stepped || over)
                && let Some(guards) = &self.bench.guards
            {
                guards.keep_results().await;
            }
            if stepped && self.watched {
                self.end_step(machine);
            }
            step = machine.step();
            answer = match ask {
                Ask::Run(batch) => Answer::Ran(self.run(machine, batch, &mut running, &begin).await?),
                Ask::Commit(commit) => Answer::Committed(self.commit(commit).await?),
                Ask::Stop(stopped) => {
                    // What is being stored must be before anybody is told of the end.
                    if let Some(keep) = &self.keep {
                        let landed = keep.finish().await.map_err(|cause| self.store_error(cause))?;
                        self.tell_checkpoint(landed.as_deref()).await;
                    }
                    return Ok(*stopped);
                }
            }
        }
    }

    /// Whether a finished super-step need not be stored now.
    async fn holds(&self) -> Result<bool, RunError> {
        match (&self.keep, self.durability) {
            (None, _) | (_, Durability::Sync) => Ok(false),
            (_, Durability::Exit) => Ok(true),
            (Some(keep), Durability::Async) => match keep.landed().await {
                None => Ok(true),
                Some(landed) => {
                    let landed = landed.map_err(|cause| self.store_error(cause))?;
                    self.tell_checkpoint(landed.as_deref()).await;
                    Ok(false)
                }
            },
        }
    }

    /// Boxed, because child graphs nest the future that waits for it.
    fn save<'a>(&'a self, keep: &'a Keep, results: Vec<SavedResult>) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(async move {
            match keep.save(results).await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.store_error(keep.cause(error).await)),
            }
        })
    }

    async fn tell_checkpoint(&self, stored: Option<&Commit>) {
        if let (Some(hub), Some(commit)) = (self.bench.hub(), stored) {
            hub.send(Origin::step(commit.step), EventKind::Checkpoint { id: commit.id }).await;
        }
    }

    /// A super-step was merged.
    fn end_step(&mut self, machine: &Machine<S>) {
        if let Some(metrics) = &self.bench.metrics {
            let stays = machine.stays();
            metrics.super_step(self.bench.graph.name(), stays - std::mem::replace(&mut self.stays, stays));
        }
        if self.bench.spans.on {
            self.in_step = false;
            *self.bench.step.lock().unwrap_or_else(PoisonError::into_inner) = Span::none();
        }
    }

    /// The tasks of a super-step are about to run, or some of them again.
    fn begin_step(&mut self, step: u64, tasks: usize) {
        if self.bench.spans.on && !std::mem::replace(&mut self.in_step, true) {
            *self.bench.step.lock().unwrap_or_else(PoisonError::into_inner) = self.bench.spans.step(step, tasks);
        }
    }

    async fn run<F>(
        &mut self,
        machine: &Machine<S>,
        mut batch: Box<Batch<S>>,
        running: &mut Running<S, F>,
        begin: &impl Fn(Task<S>) -> F,
    ) -> Result<Box<Batch<S>>, RunError>
    where
        F: Future<Output = Ended<S>> + Send + 'static,
    {
        if self.watched {
            self.begin_step(machine.step(), batch.tasks.len());
        }
        self.bench.prepare(machine.step(), &mut batch);
        if running.count == 0
            && let [task] = &mut batch.tasks[..]
        {
            let ended = self.bench.timed(task).await;
            self.bench.over(&ended);
            self.node_time[ended.node.at()] += ended.took;
            // The snapshot goes before the machine merges.
            batch.tasks.clear();
            batch.outcomes.push((ended.id, ended.outcome));
            return Ok(batch);
        }
        running.count += batch.tasks.len();
        match self.parallel_here() {
            Parallel::Joined => batch.tasks.drain(..).for_each(|task| running.joined.push(begin(task))),
            Parallel::Spawned => batch.tasks.drain(..).for_each(|task| self.spawn(task, running)),
        }
        let cancels = self.bench.graph.inner().siblings == Siblings::Cancel;
        // All that is ready goes back at once; a failure goes back alone, because it may be tried again while others
        // still run.
        while running.count > 0 {
            let mut failed = false;
            let mut results = Vec::new();
            let mut next = Some(running.next().await);
            while let Some(ended) = next {
                self.bench.over(&ended);
                let Ended { id, node, took, outcome } = ended;
                running.count -= 1;
                self.node_time[node.at()] += took;
                // A result that won't stand is a failure of which the siblings must hear as soon.
                failed |= match &outcome {
                    TaskOutcome::Failed(_) => true,
                    TaskOutcome::Done(done) => cancels && !machine.accepts(id, done),
                    TaskOutcome::Cached(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused => false,
                };
                results.extend(self.result(machine, id, &outcome)?);
                batch.outcomes.push((id, outcome));
                next = running.ready().await;
            }
            // The last ones are saved with the checkpoint.
            if running.count > 0
                && let Some(keep) = &self.keep
                && !results.is_empty()
            {
                running.meanwhile(self.save(keep, results)).await?;
            }
            if failed {
                break;
            }
        }
        if running.count == 0 {
            running.handles.0.clear();
        }
        Ok(batch)
    }

    /// Outside of a tokio runtime nothing can be spawned on it; the tasks then share the caller's.
    fn parallel_here(&self) -> Parallel {
        let can_spawn = self.bench.seams.spawn.is_some() || Handle::try_current().is_ok();
        if can_spawn { self.parallel } else { Parallel::Joined }
    }

    fn spawn<F>(&self, task: Task<S>, running: &mut Running<S, F>) {
        let report = Report::new(&task, running.spawned.clone());
        let work = execute_owned(self.bench.clone(), task, |ended| report.send(ended));
        match &self.bench.seams.spawn {
            None => running.handles.0.push(tokio::spawn(work)),
            Some(spawn) => spawn.spawn(Box::pin(work)),
        }
    }

    /// The result of one of several tasks, so that a crash of a sibling doesn't lose it.
    fn result(&self, machine: &Machine<S>, id: TaskId, outcome: &TaskOutcome<S>) -> Result<Vec<SavedResult>, RunError> {
        let (Some(keep), Some(_), TaskOutcome::Done(done)) = (&self.keep, machine.head(), outcome) else {
            return Ok(Vec::new());
        };
        if !keep.saves() || !machine.accepts(id, done) {
            return Ok(Vec::new());
        }
        let encoded = encode_outcome(&self.bench.graph.inner().initial, done);
        let thread = self.bench.turn.thread.clone();
        let bytes = encoded.map_err(|cause| RunError::Encode { thread, step: id.step, cause })?;
        let mut saved = vec![SavedResult::new(id, "", bytes)];
        // Where its child graphs stand goes with it.
        for (call, child) in self.bench.turn.journals.kept_children(id) {
            if let Ok(row) = serde_json::to_vec(&child) {
                saved.push(SavedResult::new(id, format!("{CHILD}{call}"), row));
            }
        }
        Ok(saved)
    }

    async fn commit(&self, mut commit: Box<Commit>) -> Result<Box<Commit>, RunError> {
        let Some(keep) = &self.keep else { return Ok(commit) };
        commit.time_ms = millis(self.bench.seams.clock.now());
        // The input is stored before the first node runs, because all idempotency keys of the turn hang on it.
        if self.durability == Durability::Async && commit.kind == CheckpointKind::Step {
            let spare = Box::new(Commit { id: commit.id, ..Commit::default() });
            let landed = keep.commit_beside(commit).await.map_err(|cause| self.store_error(cause))?;
            self.tell_checkpoint(landed.as_deref()).await;
            return Ok(spare);
        }
        match keep.commit_at_once(&commit) {
            Some(done) => done.map_err(|cause| self.store_error(cause))?,
            None => {
                let landed = keep.commit(&commit).await.map_err(|cause| self.store_error(cause))?;
                self.tell_checkpoint(landed.as_deref()).await;
            }
        }
        if self.bench.hub().is_some() {
            self.tell_checkpoint(Some(&commit)).await;
        }
        Ok(commit)
    }

    fn store_error(&self, cause: StoreError) -> RunError {
        RunError::Store { thread: self.bench.turn.thread.clone(), cause }
    }
}

/// Tells readers what the machine has done since they last heard of it.
async fn tell<S: State>(hub: &Hub<S>, machine: &Machine<S>, step: u64, merged: bool, stepped: bool) {
    if merged && hub.asks(Mode::State) {
        let state = Some(Snap::shared(machine.snapshot().clone()));
        hub.send(Origin::step(step), EventKind::InputMerged { next: machine.pending(), state }).await;
    }
    if stepped {
        let state = hub.asks(Mode::State).then(|| Snap::shared(machine.snapshot().clone()));
        let next = machine.pending();
        hub.send(Origin::step(step), EventKind::StepFinished { next, state }).await;
    }
}
