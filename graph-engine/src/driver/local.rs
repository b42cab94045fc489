//! The local driver: one loop around the machine, on tokio.

use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
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
use super::inbox::{Report, Site, execute_reported};
use super::keep::Keep;
use super::seams::millis;
use crate::error::StoreError;
use crate::machine::{Answer, Ask, Batch, CHILD, Machine, Start, Stopped, TaskOutcome, encode_outcome};
use crate::node::Siblings;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointKind, Commit, SavedResult};
use crate::task::{NodeIx, Snap, Task};
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

pub(crate) struct LocalDriver<'b, S: State> {
    pub(crate) bench: &'b Arc<Bench<S>>,
    pub(crate) keep: Option<Arc<Keep>>,
    pub(crate) durability: Durability,
    pub(crate) parallel: Parallel,
    /// Whether anybody counts super-steps or makes spans of them.
    pub(crate) watched: bool,
    /// Stays that were counted, and whether the span of a super-step is open.
    pub(crate) stays: u64,
    pub(crate) in_step: bool,
    /// Time per node, by index; empty as long as there is none.
    pub(crate) node_time: Vec<Duration>,
}

/// What was taken out of a batch since somebody waited for it.
struct Got {
    /// A task failed, or what it returned won't stand.
    failed: bool,
    /// What is to be saved of single tasks.
    results: Vec<SavedResult>,
}

/// Tasks that run beside the driver. A turn that never has two of them allocates nothing for it.
struct Running<S: State, F> {
    joined: Option<FuturesUnordered<Pin<Box<F>>>>,
    spawned: Option<Arc<Site<S>>>,
    /// What was taken out of the inbox and not yet handed to the machine.
    arrived: VecDeque<Ended<S>>,
    handles: AbortOnDrop,
    count: usize,
}

impl<S: State, F: Future<Output = Ended<S>>> Running<S, F> {
    fn none() -> Self {
        let handles = AbortOnDrop(Vec::new());
        Self { joined: None, spawned: None, arrived: VecDeque::new(), handles, count: 0 }
    }

    /// The next attempt that is over. There must be one that runs.
    async fn next(&mut self) -> Ended<S> {
        loop {
            if let Some(ended) = self.arrived.pop_front() {
                return ended;
            }
            if let Some(joined) = &mut self.joined
                && let Some(ended) = joined.next().await
            {
                return ended;
            }
            match &self.spawned {
                Some(site) => site.inbox.take_all(&mut self.arrived).await,
                None => pending().await,
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
        let joined = self.joined.as_mut()?;
        poll_fn(|cx| match joined.poll_next_unpin(cx) {
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
            if let Some(joined) = &mut self.joined {
                while let Poll::Ready(Some(ended)) = joined.poll_next_unpin(cx) {
                    self.arrived.push_back(ended);
                }
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

impl<S: State> LocalDriver<'_, S> {
    /// Drives the machine until it stops.
    pub(crate) async fn drive(&mut self, machine: &mut Machine<S>, start: Start<S>) -> Result<Stopped, RunError> {
        let bench = self.bench;
        let begin = |task: Task<S>| execute_owned(bench, task);
        let mut running = Running::none();
        // New input finds no open question that could expire.
        if !matches!(&start, Start::Input(_)) {
            machine.set_now(millis(self.bench.seams.0.clock.now()));
        }
        if let Some(keep) = &self.keep {
            keep.set_head(machine.head()).await;
        }
        let (plain, mut step) = (self.is_plain(), machine.step());
        let mut input = matches!(&start, Start::Input(_));
        let mut ask = self.next(machine, Answer::Start(start)).await?;
        loop {
            let (stepped, over) = (machine.step() != step, matches!(&ask, Ask::Stop(_)));
            if let Some(hub) = self.bench.followed() {
                let merged = std::mem::take(&mut input) && !over;
                tell(hub, machine, step, merged, stepped).await;
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
            ask = match ask {
                Ask::Run(batch) if plain && machine.is_lone() && self.bench.followed().is_none() => {
                    self.alone(machine, batch, &mut step).await?
                }
                Ask::Run(batch) => {
                    let ran = self.run(machine, batch, &mut running, &begin).await?;
                    self.next(machine, Answer::Ran(ran)).await?
                }
                Ask::Commit(commit) => {
                    let commit = self.commit(commit).await?;
                    self.next(machine, Answer::Committed(commit)).await?
                }
                Ask::Stop(stopped) => {
                    // What is being stored must be before anybody is told of the end.
                    if let Some(keep) = &self.keep {
                        let landed = keep.finish().await.map_err(|cause| self.store_error(cause))?;
                        self.tell_checkpoint(landed.as_deref()).await;
                    }
                    return Ok(stopped);
                }
            }
        }
    }

    /// Gives the machine its answer, and before it what it must know of the turn.
    async fn next(&self, machine: &mut Machine<S>, answer: Answer<S>) -> Result<Ask<S>, RunError> {
        if self.bench.turn.cancel.drains() {
            machine.drain();
        }
        match (&self.keep, self.durability) {
            (None, _) | (_, Durability::Sync) => {}
            (_, Durability::Exit) => machine.hold(true),
            (Some(keep), Durability::Async) => {
                let is_under_way = Box::pin(self.is_under_way(keep)).await?;
                machine.hold(is_under_way);
            }
        }
        Ok(machine.next(answer))
    }

    /// Whether a checkpoint is being stored, so that a finished super-step had better wait.
    async fn is_under_way(&self, keep: &Keep) -> Result<bool, RunError> {
        let Some(landed) = keep.landed().await else { return Ok(true) };
        let landed = landed.map_err(|cause| self.store_error(cause))?;
        self.tell_checkpoint(landed.as_deref()).await;
        Ok(false)
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

    /// Attempts of the node took that long.
    pub(super) fn spent(&mut self, node: NodeIx, took: Duration) {
        if took.is_zero() {
            return;
        }
        if self.node_time.is_empty() {
            self.node_time = vec![Duration::ZERO; self.bench.graph.inner().names.len()];
        }
        self.node_time[node.at()] += took;
    }

    async fn tell_checkpoint(&self, stored: Option<&Commit>) {
        if let (Some(hub), Some(commit)) = (self.bench.followed(), stored) {
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
        F: Future<Output = Ended<S>> + Send,
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
            self.spent(ended.node, ended.took);
            // The snapshot goes before the machine merges.
            batch.tasks.clear();
            batch.outcomes.push((ended.id, ended.outcome));
            return Ok(batch);
        }
        running.count += batch.tasks.len();
        let mut tasks = std::mem::take(&mut batch.tasks);
        batch.outcomes.reserve_exact(tasks.len());
        let mut got = Got { failed: false, results: Vec::new() };
        match self.parallel_here() {
            Parallel::Joined => {
                // What is ready at once needs no place among those that wait, and leaves its own to the next one.
                let mut place: Option<Pin<Box<F>>> = None;
                for task in tasks.drain(..) {
                    let mut work = match place.take() {
                        None => Box::pin(begin(task)),
                        Some(mut place) => {
                            place.as_mut().set(begin(task));
                            place
                        }
                    };
                    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
                        Poll::Ready(ended) => {
                            self.take(machine, ended, running, &mut batch, &mut got)?;
                            place = Some(work);
                        }
                        Poll::Pending => running.joined.get_or_insert_with(FuturesUnordered::new).push(work),
                    }
                }
            }
            Parallel::Spawned => tasks.drain(..).for_each(|task| self.spawn(task, running)),
        }
        batch.tasks = tasks;
        // All that is ready goes back at once; a failure goes back alone, because it may be tried again while others
        // still run.
        loop {
            // The last ones are saved with the checkpoint.
            if running.count > 0
                && let Some(keep) = &self.keep
                && !got.results.is_empty()
            {
                running.meanwhile(self.save(keep, std::mem::take(&mut got.results))).await?;
            }
            if got.failed || running.count == 0 {
                break;
            }
            let mut next = Some(running.next().await);
            while let Some(ended) = next {
                self.take(machine, ended, running, &mut batch, &mut got)?;
                next = running.ready().await;
            }
        }
        if running.count == 0 {
            running.handles.0.clear();
        }
        Ok(batch)
    }

    /// Takes an attempt that is over into the batch.
    fn take<F>(
        &mut self,
        machine: &Machine<S>,
        ended: Ended<S>,
        running: &mut Running<S, F>,
        batch: &mut Batch<S>,
        got: &mut Got,
    ) -> Result<(), RunError> {
        self.bench.over(&ended);
        let Ended { id, node, took, outcome } = ended;
        running.count -= 1;
        self.spent(node, took);
        // A result that won't stand is a failure of which the siblings must hear as soon.
        got.failed |= match &outcome {
            TaskOutcome::Failed(_) => true,
            TaskOutcome::Done(done) => {
                self.bench.graph.inner().siblings == Siblings::Cancel && !machine.accepts(id, done)
            }
            TaskOutcome::Cached(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused => false,
        };
        if self.keep.is_some() {
            got.results.extend(self.result(machine, id, &outcome)?);
        }
        batch.outcomes.push((id, outcome));
        Ok(())
    }

    /// Outside of a tokio runtime nothing can be spawned on it; the tasks then share the caller's.
    fn parallel_here(&self) -> Parallel {
        let can_spawn = self.bench.seams.0.spawn.is_some() || Handle::try_current().is_ok();
        if can_spawn { self.parallel } else { Parallel::Joined }
    }

    fn spawn<F>(&self, task: Task<S>, running: &mut Running<S, F>) {
        let site = running.spawned.get_or_insert_with(|| Arc::new(Site::new(self.bench.clone())));
        let report = Report::new(&task, site.clone());
        let work = execute_reported(task, report);
        match &self.bench.seams.0.spawn {
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

    pub(super) async fn commit(&self, mut commit: Box<Commit>) -> Result<Box<Commit>, RunError> {
        let Some(keep) = &self.keep else { return Ok(commit) };
        commit.time_ms = millis(self.bench.seams.0.clock.now());
        // The input is stored before the first node runs, because all idempotency keys of the turn hang on it.
        if self.durability == Durability::Async && commit.kind == CheckpointKind::Step {
            let spare = Box::new(Commit { id: commit.id, ..Commit::default() });
            let landed = Box::pin(keep.commit_beside(commit)).await.map_err(|cause| self.store_error(cause))?;
            self.tell_checkpoint(landed.as_deref()).await;
            return Ok(spare);
        }
        match keep.commit_at_once(&commit) {
            Some(done) => done.map_err(|cause| self.store_error(cause))?,
            None => {
                let landed = Box::pin(keep.commit(&commit)).await.map_err(|cause| self.store_error(cause))?;
                self.tell_checkpoint(landed.as_deref()).await;
            }
        }
        if self.bench.followed().is_some() {
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
