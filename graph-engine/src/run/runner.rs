//! A graph with its store and what its nodes need: from here threads are opened.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use super::breakpoints::{BreakAt, Breakpoints};
use super::child::Hosting;
use super::kept::{Kept, KeptStates};
use super::lease::{Lease, Leases, WhenBusy};
use super::spare::{Parts, Spare};
use super::thread::Thread;
use crate::driver::{Bench, Durability, Guards, Metrics, Parallel, Relay, Seams, Spans};
use crate::error::StoreError;
use crate::graph::Graph;
use crate::machine::{Machine, Options};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointStore, MemoryCache, NodeCache};
use crate::task::{Host, MakesHost, Resources, Shared, TurnContext};

/// A graph with its store and resources. Cloning it copies one pointer; clones share which threads are busy.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, Res, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     hotels: usize,
/// }
///
/// struct Catalogue(Vec<&'static str>);
///
/// async fn count(catalogue: Res<Catalogue>) -> TripUpdate {
///     Trip::update().hotels(catalogue.0.len())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("count", count).edge(START, "count").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new()).provide(Catalogue(vec!["Inn", "Palace"]));
/// let end = runner.thread("guest-7").run(Trip::update()).await.unwrap();
/// assert_eq!(end.state.hotels, 2);
/// # });
/// ```
#[derive(Clone)]
#[must_use = "a runner does nothing until a thread of it runs"]
pub struct Runner<S: State>(Arc<Inner<S>>);

struct Inner<S: State> {
    graph: Graph<S>,
    store: Option<Arc<dyn CheckpointStore>>,
    resources: Resources,
    seams: Seams,
    parallel: Parallel,
    step_limit: u64,
    stay_limit: u32,
    fan_out_limit: usize,
    state_limit: Option<u64>,
    concurrency: Option<usize>,
    deadline: Option<Duration>,
    cache: Arc<dyn NodeCache>,
    timings: bool,
    metrics: Option<Arc<dyn Metrics>>,
    trace_content: bool,
    record: bool,
    breaks: Breakpoints,
    /// Threads that have a turn in this process.
    leases: Leases<S>,
    when_busy: WhenBusy,
    durability: Durability,
    kept: Kept<S>,
    /// Made by this runner, so that nothing in it is of another one's settings.
    spare: Spare<S>,
    /// The turn of states that outlive theirs.
    nobody: OnceLock<Arc<TurnContext>>,
}

impl<S: State> Clone for Inner<S> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            store: self.store.clone(),
            resources: self.resources.clone(),
            seams: self.seams.clone(),
            parallel: self.parallel,
            step_limit: self.step_limit,
            stay_limit: self.stay_limit,
            fan_out_limit: self.fan_out_limit,
            state_limit: self.state_limit,
            concurrency: self.concurrency,
            deadline: self.deadline,
            cache: self.cache.clone(),
            timings: self.timings,
            metrics: self.metrics.clone(),
            trace_content: self.trace_content,
            record: self.record,
            leases: self.leases.clone(),
            when_busy: self.when_busy,
            durability: self.durability,
            breaks: self.breaks.clone(),
            kept: self.kept.clone(),
            spare: Spare::default(),
            nobody: self.nobody.clone(),
        }
    }
}

/// Super-steps that a turn may make when nobody says otherwise.
const STEP_LIMIT: u64 = 100;

/// Stays since a cluster was entered when nobody says otherwise.
const STAY_LIMIT: u32 = 10;

/// Tasks that may be sent in one super-step when nobody says otherwise.
const FAN_OUT_LIMIT: usize = 10_000;

impl<S: State> Graph<S> {
    /// A runner without a store and resources.
    pub fn runner(&self) -> Runner<S> {
        Runner(Arc::new(Inner {
            graph: self.clone(),
            store: None,
            resources: Resources::default(),
            seams: Seams::default(),
            parallel: Parallel::default(),
            step_limit: STEP_LIMIT,
            stay_limit: STAY_LIMIT,
            fan_out_limit: FAN_OUT_LIMIT,
            state_limit: None,
            concurrency: None,
            deadline: None,
            cache: Arc::new(MemoryCache::default()),
            timings: true,
            metrics: None,
            trace_content: false,
            record: false,
            leases: Leases::default(),
            when_busy: WhenBusy::default(),
            durability: Durability::default(),
            breaks: Breakpoints::default(),
            kept: Kept::new(KeptStates::default()),
            spare: Spare::default(),
            nobody: OnceLock::new(),
        }))
    }
}

impl<S: State> Runner<S> {
    fn change(mut self, change: impl FnOnce(&mut Inner<S>)) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.spare = Spare::default();
        change(inner);
        self
    }

    /// Keeps checkpoints here, so that threads remember their turns.
    pub fn store(self, store: impl CheckpointStore) -> Self {
        self.store_arc(Arc::new(store))
    }

    /// Keeps checkpoints in a store that others use too.
    pub fn store_arc(self, store: Arc<dyn CheckpointStore>) -> Self {
        self.change(|inner| {
            inner.store = Some(store);
            inner.kept = inner.kept.emptied();
        })
    }

    /// Gives nodes a resource, found by its type. The last one of a type counts.
    pub fn provide<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.provide_arc(Arc::new(value))
    }

    /// Gives nodes a resource that is shared already, or that is a trait object.
    pub fn provide_arc<T: ?Sized + Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        self.change(|inner| inner.resources.insert(value))
    }

    /// How many super-steps one turn may make (default 100, at least 1).
    pub fn step_limit(self, limit: u64) -> Self {
        self.change(|inner| inner.step_limit = limit.max(1))
    }

    /// How often a cluster may stay since it was entered (default 10).
    pub fn stay_limit(self, limit: u32) -> Self {
        self.change(|inner| inner.stay_limit = limit)
    }

    /// How many tasks one super-step may send (default 10,000). One more is
    /// [`RunError::FanOutLimit`], before any of them runs.
    pub fn fan_out_limit(self, tasks: usize) -> Self {
        self.change(|inner| inner.fan_out_limit = tasks)
    }

    /// How many bytes the stored state may have (default: any number). A step that would make it larger is
    /// [`RunError::StateLimit`] and isn't stored. Without a store nothing is counted.
    pub fn state_limit(self, bytes: u64) -> Self {
        self.change(|inner| inner.state_limit = Some(bytes))
    }

    /// How many tasks of a turn run at once, of all nodes together (default: all). 0 counts as 1; the others wait in
    /// task order.
    pub fn max_concurrency(self, tasks: usize) -> Self {
        self.change(|inner| inner.concurrency = Some(tasks))
    }

    /// How long a turn may take (default: any time). A turn that has not ended then is cancelled and fails with
    /// [`RunError::Deadline`]; with a store, `proceed` goes on.
    pub fn deadline(self, after: Duration) -> Self {
        self.change(|inner| inner.deadline = Some(after))
    }

    /// Keeps results of nodes with a [`Cache`](crate::Cache) here (default: a [`MemoryCache`] of this runner and its
    /// clones).
    pub fn cache(self, cache: impl NodeCache) -> Self {
        self.cache_arc(Arc::new(cache))
    }

    /// The same for a cache that others use too.
    pub fn cache_arc(self, cache: Arc<dyn NodeCache>) -> Self {
        self.change(|inner| inner.cache = cache)
    }

    /// Forgets the results of one node, or of all nodes of this graph.
    ///
    /// # Errors
    /// What the cache says.
    pub async fn clear_cache(&self, node: Option<&str>) -> Result<(), StoreError> {
        self.0.cache.clear(self.0.graph.name(), node).await
    }

    /// Whether reports say where the turn went, for diagrams (default no).
    pub fn record_path(self, on: bool) -> Self {
        self.change(|inner| inner.record = on)
    }

    /// When the checkpoints of turns are stored (default: each super-step before the next one).
    pub fn durability(self, durability: Durability) -> Self {
        self.change(|inner| inner.durability = durability)
    }

    /// How much of the threads that were read lately stays in memory (default: [`KeptStates::default`]), so that a turn
    /// reads what was stored since and not its whole thread. Clones of the runner share it; other processes may write to
    /// the same threads.
    ///
    /// A turn begins with the very state that reading everything would give, because what is kept was made by reading, never
    /// from live values, and only counts while the store says that it led to the head. Two things are asked of a state's
    /// types for it: that reading the same bytes gives the same value, and that a clone of a value shares no place with it
    /// that can be changed, such as an `Arc<Mutex<..>>`. What is stored is looked at once: damage that comes later to old
    /// rows of a kept thread is found when it is read in full again. A store that gives no [`Mark`](crate::Mark)s is read
    /// in full each time.
    pub fn kept_states(self, limits: KeptStates) -> Self {
        self.change(|inner| inner.kept = Kept::new(limits))
    }

    /// What becomes of a turn whose thread has another one in this process (default: it is refused).
    pub fn when_busy(self, when_busy: WhenBusy) -> Self {
        self.change(|inner| inner.when_busy = when_busy)
    }

    /// Stops every turn before these nodes; see [`Turn::break_before`](crate::Turn::break_before).
    pub fn break_before(self, nodes: impl Into<BreakAt>) -> Self {
        self.change(|inner| inner.breaks.before.push(nodes.into()))
    }

    /// Stops every turn after these nodes; see [`Turn::break_after`](crate::Turn::break_after).
    pub fn break_after(self, nodes: impl Into<BreakAt>) -> Self {
        self.change(|inner| inner.breaks.after.push(nodes.into()))
    }

    /// How several active tasks share the processor.
    pub fn parallel(self, parallel: Parallel) -> Self {
        self.change(|inner| inner.parallel = parallel)
    }

    /// Whether reports say how long nodes took (default yes; it reads the clock twice an attempt).
    pub fn timings(self, on: bool) -> Self {
        self.change(|inner| inner.timings = on)
    }

    /// Counts what happens in turns.
    pub fn metrics(self, metrics: impl Metrics) -> Self {
        self.change(|inner| inner.metrics = Some(Arc::new(metrics)))
    }

    /// Whether spans hold texts of errors, which may repeat what people and models said (default no).
    pub fn trace_content(self, on: bool) -> Self {
        self.change(|inner| inner.trace_content = on)
    }

    /// Replaces clock, ids, spawning or the seed of jitter.
    pub fn seams(self, seams: Seams) -> Self {
        self.change(|inner| inner.seams = seams)
    }

    /// The conversation of that id. Nothing is read or stored before it runs.
    #[must_use]
    pub fn thread(&self, id: impl Into<Name>) -> Thread<S> {
        Thread::new(self.clone(), id.into())
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph<S> {
        &self.0.graph
    }

    pub(crate) fn checkpoints(&self) -> Option<&Arc<dyn CheckpointStore>> {
        self.0.store.as_ref()
    }

    pub(super) fn kept(&self) -> &Kept<S> {
        &self.0.kept
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.0.resources
    }

    pub(crate) fn seams_ref(&self) -> &Seams {
        &self.0.seams
    }

    pub(crate) fn parallel_mode(&self) -> Parallel {
        self.0.parallel
    }

    pub(crate) fn options(&self) -> Options {
        self.0.options()
    }

    pub(crate) fn durability_mode(&self) -> Durability {
        self.0.durability
    }

    pub(crate) fn turn_deadline(&self) -> Option<Duration> {
        self.0.deadline
    }

    /// The same runner over another store, which stores every super-step, has no breakpoints and shares no thread with this one.
    pub(super) fn apart(&self, store: impl CheckpointStore) -> Self {
        self.clone().store(store).change(|inner| {
            inner.leases = Leases::default();
            inner.breaks = Breakpoints::default();
            inner.durability = Durability::Sync;
        })
    }

    pub(super) fn breakpoints(&self) -> &Breakpoints {
        &self.0.breaks
    }

    pub(crate) fn spans(&self) -> Spans {
        Spans::new(self.0.trace_content)
    }

    /// The limits and the cache of one turn, if it needs any.
    pub(crate) fn guards(&self) -> Option<Guards> {
        let Inner { graph, concurrency, cache, .. } = &*self.0;
        let needed = graph.inner().guarded || concurrency.is_some();
        needed.then(|| Guards::new(graph.inner(), *concurrency, cache.clone()))
    }

    /// The turn that this thread has in this process.
    pub(crate) fn bench(&self, thread: &Name) -> Option<Arc<Bench<S>>> {
        self.0.leases.bench(thread)
    }

    /// Takes a thread for one turn, or for something that no turn may disturb.
    pub(super) async fn take(&self, thread: &Name, bench: Option<Arc<Bench<S>>>) -> Result<Lease<S>, RunError> {
        self.0.leases.take(thread, bench, self.0.when_busy).await
    }

    /// What a turn needs, of one that is over or new.
    pub(super) fn parts(&self) -> Parts<S> {
        self.0.spare.take().unwrap_or_else(|| {
            let Inner { graph, seams, metrics, store, timings, .. } = &*self.0;
            let mut turn = TurnContext::new(Name::default(), Name::default(), graph.inner().names.clone());
            turn.offload = seams.offload();
            turn.durable = store.is_some();
            let mut bench = Bench::new(graph.clone(), turn.into(), seams.clone(), None);
            (bench.measure, bench.metrics) = (*timings, metrics.clone());
            Parts { bench: bench.into(), machine: None }
        })
    }

    /// A turn is over, and its report was taken.
    pub(super) fn give_back(&self, bench: Arc<Bench<S>>, machine: Box<Machine<S>>) {
        self.0.spare.give(bench, machine);
    }

    /// The state at the end of a turn, which no longer holds what the turn had at hand if nobody else has it.
    pub(super) fn leave(&self, mut state: Arc<Shared<S>>) -> Arc<Shared<S>> {
        if let Some(shared) = Arc::get_mut(&mut state) {
            let nobody = self.0.nobody.get_or_init(|| {
                let names = self.0.graph.inner().names.clone();
                TurnContext::new(Name::default(), Name::default(), names).into()
            });
            shared.turn = nobody.clone();
        }
        state
    }

    /// Makes what child graphs share with a turn.
    pub(super) fn host_maker(&self) -> Arc<dyn MakesHost> {
        self.0.clone()
    }
}

impl<S: State> Inner<S> {
    fn options(&self) -> Options {
        Options {
            step_limit: self.step_limit,
            stay_limit: self.stay_limit,
            fan_out_limit: self.fan_out_limit,
            state_limit: self.state_limit,
            record: self.record,
            durable: self.store.is_some(),
            every_step: true,
            seed: self.seams.0.seed,
        }
    }
}

impl<S: State> MakesHost for Inner<S> {
    fn host(&self, turn: &TurnContext) -> Arc<dyn Host> {
        // Work that a node left behind may call a child graph when its turn is over, and even while the next one runs.
        let bench = self.leases.bench(&turn.thread).filter(|bench| ptr::eq(&*bench.turn, turn));
        let given = bench.as_ref().map(|bench| &bench.given);
        let durability = given.map_or(self.durability, |given| given.durability);
        let relay = bench.clone().map(|bench| {
            let relay: Arc<dyn Relay> = bench;
            Arc::downgrade(&relay)
        });
        Arc::new(Hosting {
            store: self.store.clone(),
            private: OnceLock::new(),
            durability,
            seams: self.seams.clone(),
            parallel: self.parallel,
            options: Options { every_step: durability == Durability::Sync, ..self.options() },
            concurrency: self.concurrency,
            cache: self.cache.clone(),
            measure: self.timings,
            metrics: self.metrics.clone(),
            spans: bench.as_ref().map_or(Spans::off(), |bench| bench.spans),
            tags: given.and_then(|given| given.tags.clone()),
            lease: given.and_then(|given| given.lease.get().cloned()).unwrap_or_else(|| Weak::<()>::new()),
            relay,
            made: AtomicU64::new(turn.made.load(Ordering::Acquire)),
            spent: AtomicU64::new(0),
            ledger: Mutex::default(),
        })
    }
}

impl<S: State> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("graph", &self.0.graph)
            .field("store", &self.0.store.is_some())
            .finish_non_exhaustive()
    }
}
