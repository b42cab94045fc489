//! The local driver: one loop around the machine, on tokio.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::Span;

use super::event::{EventKind, Mode};
use super::execute::{Bench, Ended};
use super::hub::Origin;
use crate::error::StoreError;
use crate::machine::{Answer, Ask, Batch, Failure, Machine, Start, Stopped, TaskOutcome, TaskSpec, encode_outcome};
use crate::node::Siblings;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointStore, Commit, Place};
use crate::task::{NodeIx, Snap};
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

pub(crate) struct LocalDriver<S: State> {
    pub(crate) bench: Arc<Bench<S>>,
    pub(crate) store: Option<(Arc<dyn CheckpointStore>, Place)>,
    pub(crate) parallel: Parallel,
    /// The turn is to stop at the next boundary of a super-step.
    pub(crate) drain: Arc<AtomicBool>,
    /// Stays that were counted, and whether the span of a super-step is open.
    pub(crate) stays: u64,
    pub(crate) in_step: bool,
    /// Time per node, by index.
    pub(crate) node_time: Vec<Duration>,
}

/// Where spawned tasks hand over what became of them.
type Results<S> = (mpsc::UnboundedSender<Ended<S>>, mpsc::UnboundedReceiver<Ended<S>>);

/// Tasks that run beside the driver.
struct Running<S: State, F> {
    joined: FuturesUnordered<F>,
    spawned: Option<Results<S>>,
    handles: AbortOnDrop,
    count: usize,
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
        let begin = |spec: TaskSpec<S>| bench.clone().execute_owned(spec);
        let mut running =
            Running { joined: FuturesUnordered::new(), spawned: None, handles: AbortOnDrop(Vec::new()), count: 0 };
        let (mut answer, mut step) = (Answer::Start(start), machine.step());
        let mut input = matches!(&answer, Answer::Start(Start::Input(_)));
        loop {
            if self.drain.load(Ordering::Acquire) {
                machine.drain();
            }
            let ask = machine.next(answer);
            if let Some(hub) = self.bench.hub()
                && std::mem::take(&mut input)
                && hub.asks(Mode::State)
                && !matches!(&ask, Ask::Stop(_))
            {
                let state = Some(Snap::shared(machine.snapshot().clone()));
                hub.send(Origin::step(step), EventKind::InputMerged { next: machine.pending(), state }).await;
            }
            if let Some(hub) = self.bench.hub()
                && machine.step() != step
            {
                let state = hub.asks(Mode::State).then(|| Snap::shared(machine.snapshot().clone()));
                let next = machine.pending();
                hub.send(Origin::step(step), EventKind::StepFinished { next, state }).await;
            }
            let over = matches!(&ask, Ask::Stop(_));
            if (machine.step() != step || over)
                && let Some(guards) = &self.bench.guards
            {
                guards.keep_results().await;
            }
            if machine.step() != step {
                self.end_step(machine);
            }
            step = machine.step();
            answer = match ask {
                Ask::Run(batch) => Answer::Ran(self.run(machine, batch, &mut running, &begin).await?),
                Ask::Commit(commit) => Answer::Committed(self.commit(commit).await?),
                Ask::Stop(stopped) => return Ok(*stopped),
            }
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
        begin: &impl Fn(TaskSpec<S>) -> F,
    ) -> Result<Box<Batch<S>>, RunError>
    where
        F: Future<Output = Ended<S>> + Send + 'static,
    {
        self.begin_step(machine.step(), batch.tasks.len());
        self.bench.prepare(machine.step(), &mut batch);
        if running.count == 0 && batch.tasks.len() == 1 {
            if let Some(spec) = batch.tasks.pop() {
                let ended = self.bench.timed(spec).await;
                self.bench.over(&ended);
                self.node_time[ended.node.at()] += ended.took;
                batch.outcomes.push((ended.id, ended.outcome));
            }
            return Ok(batch);
        }
        running.count += batch.tasks.len();
        match self.parallel_here() {
            Parallel::Joined => batch.tasks.drain(..).for_each(|spec| running.joined.push(begin(spec))),
            Parallel::Spawned => batch.tasks.drain(..).for_each(|spec| self.spawn(spec, running, begin)),
        }
        let cancels = self.bench.graph.inner().siblings == Siblings::Cancel;
        // All that is ready goes back at once; a failure goes back alone, because it may be tried again while others
        // still run.
        while running.count > 0 {
            let next = match &mut running.spawned {
                Some((_, results)) => results.recv().await,
                None => running.joined.next().await,
            };
            let Some(ended) = next else { break };
            self.bench.over(&ended);
            let Ended { id, node, took, outcome } = ended;
            running.count -= 1;
            self.node_time[node.at()] += took;
            // A result that won't stand is a failure of which the siblings must hear as soon.
            let failed = match &outcome {
                TaskOutcome::Failed(_) => true,
                TaskOutcome::Done(done) => cancels && !machine.accepts(id, done),
                TaskOutcome::Cached(_) | TaskOutcome::Cancelled { .. } => false,
            };
            self.save(machine, running.count, id, &outcome).await?;
            batch.outcomes.push((id, outcome));
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

    fn spawn<F>(&self, spec: TaskSpec<S>, running: &mut Running<S, F>, begin: &impl Fn(TaskSpec<S>) -> F)
    where
        F: Future<Output = Ended<S>> + Send + 'static,
    {
        let (results, _) = running.spawned.get_or_insert_with(mpsc::unbounded_channel);
        let mut report = Report { id: spec.id, node: spec.node, results: Some(results.clone()) };
        let task = begin(spec);
        let task = async move {
            let ended = task.await;
            report.send(ended);
        };
        match &self.bench.seams.spawn {
            None => running.handles.0.push(tokio::spawn(task)),
            Some(spawn) => spawn.spawn(Box::pin(task)),
        }
    }

    /// Saves the result of one of several tasks, so that a crash of a sibling doesn't lose it.
    async fn save(
        &self,
        machine: &Machine<S>,
        others: usize,
        id: TaskId,
        outcome: &TaskOutcome<S>,
    ) -> Result<(), RunError> {
        let (Some((store, place)), Some(head), TaskOutcome::Done(done)) = (&self.store, machine.head(), outcome) else {
            return Ok(());
        };
        // The last one is saved with the checkpoint.
        if others == 0 || !store.outlives_process() || !machine.accepts(id, done) {
            return Ok(());
        }
        let encoded = encode_outcome(&self.bench.graph.inner().initial, done);
        let thread = place.thread.clone();
        let bytes = encoded.map_err(|cause| RunError::Encode { thread, step: id.step, cause })?;
        store.save(place, head, id, &bytes).await.map_err(|cause| self.store_error(cause))
    }

    async fn commit(&self, mut commit: Box<Commit>) -> Result<Box<Commit>, RunError> {
        if let Some((store, place)) = &self.store {
            commit.time_ms = millis(self.bench.seams.clock.now());
            store.commit(place, &commit).await.map_err(|cause| self.store_error(cause))?;
            if let Some(hub) = self.bench.hub() {
                hub.send(Origin::step(commit.step), EventKind::Checkpoint { id: commit.id }).await;
            }
        }
        Ok(commit)
    }

    fn store_error(&self, cause: StoreError) -> RunError {
        RunError::Store { thread: self.bench.turn.thread.clone(), cause }
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Hands over the outcome of a spawned task, also when the task is dropped before it has one.
struct Report<S: State> {
    id: TaskId,
    node: NodeIx,
    results: Option<mpsc::UnboundedSender<Ended<S>>>,
}

impl<S: State> Report<S> {
    fn send(&mut self, ended: Ended<S>) {
        if let Some(results) = self.results.take() {
            // Nobody listens any more when the turn was dropped.
            let _ = results.send(ended);
        }
    }
}

impl<S: State> Drop for Report<S> {
    fn drop(&mut self) {
        if self.results.is_some() {
            let outcome = TaskOutcome::Failed(Failure::fatal("the task was dropped before it finished".into()));
            self.send(Ended { id: self.id, node: self.node, took: Duration::ZERO, outcome });
        }
    }
}
