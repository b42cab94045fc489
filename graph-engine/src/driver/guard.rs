//! What stands around all attempts of a task: the cache, and the limits of tasks at once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::execute::caught;
use super::gate::{Gate, Place};
use crate::error::NodeError;
use crate::graph::Inner;
use crate::machine::{decode_outcome, encode_outcome, fault};
use crate::panic::no_panic;
use crate::state::State;
use crate::store::{CacheKey, NodeCache};
use crate::task::{Cancel, NodeIx, Outcome, Task};
use crate::task_id::TaskId;

/// The places of a task whose last attempt failed.
struct Held {
    place: Place,
    /// The machine has been told of the failure, and says with its next batch whether there is another attempt.
    told: bool,
}

/// The limits and the cache of one turn.
pub(crate) struct Guards {
    /// Only there when there is a limit.
    gate: Option<Arc<Gate>>,
    /// Places of tasks whose last attempt failed.
    kept: Mutex<BTreeMap<TaskId, Held>>,
    cache: Arc<dyn NodeCache>,
    /// Results of the super-step at hand: no task of it may find them, or it would depend on who finishes first.
    results: Mutex<Vec<(TaskId, NewResult)>>,
    warnings: Mutex<Vec<String>>,
}

impl Guards {
    pub(crate) fn new<S: State>(graph: &Inner<S>, turn: Option<usize>, cache: Arc<dyn NodeCache>) -> Self {
        let nodes: Vec<_> = graph.vertices.iter().map(|vertex| vertex.policy.limit.map(NonZeroUsize::get)).collect();
        let limited = turn.is_some() || nodes.iter().any(Option::is_some);
        Self {
            gate: limited.then(|| Arc::new(Gate::new(nodes, turn.map(|tasks| tasks.max(1))))),
            kept: Mutex::default(),
            cache,
            results: Mutex::default(),
            warnings: Mutex::default(),
        }
    }

    /// The same for a driver that runs its tasks one after another, where nobody has to wait for a place.
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "only drivers of tests run tasks one by one"))]
    pub(crate) fn without_limits(self) -> Self {
        Self { gate: None, ..self }
    }

    /// Queues the tasks of a batch, in their order. Those that are tried again have their place.
    pub(super) fn enter(&self, tasks: impl Iterator<Item = (TaskId, NodeIx)>) {
        if let Some(gate) = &self.gate {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            gate.enter(tasks.filter(|(id, _)| !kept.contains_key(id)));
        }
    }

    /// A task needs no place after all.
    pub(super) fn leave(&self, id: TaskId) {
        if let Some(gate) = &self.gate {
            gate.leave(id);
        }
    }

    /// Waits for the place of a task, or takes the one that its last attempt kept. `None` once the task is to stop.
    pub(super) async fn place(&self, id: TaskId, cancel: &Cancel) -> Option<Option<Place>> {
        let Some(gate) = &self.gate else { return Some(None) };
        if let Some(held) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
            return Some(Some(held.place));
        }
        let place = cancel.step_token(id.step).run_until_cancelled(gate.wait(id)).await;
        // A place may have become free at the moment in which the task was stopped.
        let place = place.filter(|_| !cancel.stops(id.step));
        if place.is_none() {
            gate.leave(id);
        }
        place
    }

    /// Keeps the place of a task that may be tried again.
    pub(super) fn keep(&self, id: TaskId, place: Option<Place>) {
        if let Some(place) = place {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Held { place, told: false });
        }
    }

    /// The machine is about to be told of a task's failure.
    pub(super) fn tell(&self, id: TaskId) {
        if let Some(held) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&id) {
            held.told = true;
        }
    }

    /// Gives back the places of tasks that will not be tried again. Those that wait for their next attempt already, or
    /// of which the machine knows nothing yet, keep theirs.
    pub(super) fn settle(&self, again: impl Fn(TaskId) -> bool) {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|id, held| !std::mem::take(&mut held.told) || again(*id));
    }

    /// The result of an earlier task with the same key, and the key if there was none.
    pub(super) async fn look_up<S: State>(
        &self,
        graph: &Inner<S>,
        task: &Task<S>,
        now: Duration,
    ) -> Result<Outcome<S>, Option<CacheKey>> {
        let Some(policy) = &graph.at(task.node).policy.cache else { return Err(None) };
        let node = graph.name_of(task.node).clone();
        // A key that can't be made is reported and the node runs: it will say itself what is wrong with its payload.
        let key = match caught(|| policy.key(task)) {
            Ok(key) => CacheKey { graph: graph.name.clone(), node, key },
            Err(error) => {
                self.warn(format!("the cache key of `{node}` can't be made: {error}; the node was run"));
                return Err(None);
            }
        };
        // The cache stands around all attempts, so it is asked before the first one only.
        if task.attempt > 1 {
            return Err(Some(key));
        }
        let bytes = match no_panic(self.cache.get(&key, now)).await {
            Ok(Ok(None)) => return Err(Some(key)),
            Ok(Ok(Some(bytes))) => bytes,
            Ok(Err(error)) => {
                self.warn(format!("the cache failed: {error}; `{}` was run", key.node));
                return Err(None);
            }
            Err(panic) => {
                self.warn(format!("the cache panicked: {panic}; `{}` was run", key.node));
                return Err(None);
            }
        };
        known(graph, task, &bytes).map_err(|why| {
            self.warn(format!("the cached result of `{}` can't be used: {why}; the node was run", key.node));
            Some(key)
        })
    }

    /// Notes a result for tasks with the same key in later super-steps.
    pub(super) fn note<S: State>(&self, graph: &Inner<S>, key: CacheKey, made: Made<'_, S>, now: Duration) {
        let Made { id, node, state, outcome } = made;
        if fault(graph, state, node, outcome).is_some() {
            return;
        }
        if let Some(field) = state.written(&outcome.update).and(graph.transient).iter().next() {
            let (node, field) = (&key.node, &state.fields()[field].name);
            return self
                .warn(format!("the result of `{node}` was not cached: it writes `{field}`, which is never stored"));
        }
        let ttl = graph.at(node).policy.cache.as_ref().and_then(|cache| cache.time_to_live());
        match caught(|| encode_outcome(state, outcome).map_err(|error| NodeError::fatal(error.to_string()))) {
            Ok(bytes) => {
                let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
                results.push((id, NewResult { key, bytes, ttl, now }));
            }
            Err(why) => self.warn(format!("the result of `{}` was not cached: {why}", key.node)),
        }
    }

    /// Keeps the results of a super-step; of two with one key that of the later task.
    pub(super) async fn keep_results(&self) {
        let mut results = std::mem::take(&mut *self.results.lock().unwrap_or_else(PoisonError::into_inner));
        results.sort_by_key(|(id, _)| *id);
        for (_, NewResult { key, bytes, ttl, now }) in results {
            let why = match no_panic(self.cache.put(&key, bytes, ttl, now)).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error.to_string(),
                Err(panic) => format!("the cache panicked: {panic}"),
            };
            self.warn(format!("the result of `{}` was not cached: {why}", key.node));
        }
    }

    pub(super) fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// What was odd, in a fixed order.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        warnings.sort();
        warnings
    }
}

/// What a cache gave, if it is something that the node may hand back.
fn known<S: State>(graph: &Inner<S>, task: &Task<S>, bytes: &[u8]) -> Result<Outcome<S>, String> {
    let read = caught(|| decode_outcome(task.state(), bytes).map_err(NodeError::fatal));
    let outcome = read.map_err(|error| error.to_string())?;
    // What an older graph kept may lead where this one doesn't.
    match fault(graph, task.state(), task.node, &outcome) {
        None => Ok(outcome),
        Some(why) => Err(why),
    }
}

/// A result that is kept once its super-step is over.
struct NewResult {
    key: CacheKey,
    bytes: Vec<u8>,
    ttl: Option<Duration>,
    /// When it was made.
    now: Duration,
}

/// A result that may be kept.
pub(super) struct Made<'a, S: State> {
    pub(super) id: TaskId,
    pub(super) node: NodeIx,
    pub(super) state: &'a S,
    pub(super) outcome: &'a Outcome<S>,
}
