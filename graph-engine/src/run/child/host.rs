//! What child graphs take from the turn around them, and what they leave there.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::driver::{Durability, Guards, Metrics, Parallel, Relay, Seams, Spans};
use crate::graph::Graph;
use crate::machine::Options;
use crate::name::Name;
use crate::report::{ChildReport, RunReport};
use crate::state::State;
use crate::store::{CheckpointStore, MemoryCache, MemoryStore, NodeCache, Place, Tags};
use crate::task::{Ctx, Host};

/// One for a whole turn, whatever the depth.
pub(crate) struct Hosting {
    pub(crate) store: Option<Arc<dyn CheckpointStore>>,
    /// Where children are kept when there is no store: as long as the turn.
    pub(crate) private: OnceLock<Arc<dyn CheckpointStore>>,
    pub(crate) durability: Durability,
    pub(crate) seams: Seams,
    pub(crate) parallel: Parallel,
    pub(crate) options: Options,
    pub(crate) concurrency: Option<usize>,
    pub(crate) cache: Arc<dyn NodeCache>,
    pub(crate) measure: bool,
    pub(crate) metrics: Option<Arc<dyn Metrics>>,
    pub(crate) spans: Spans,
    pub(crate) tags: Option<Arc<Tags>>,
    /// Weak, because a snapshot that outlives the turn must not keep the thread busy.
    pub(crate) lease: Weak<dyn Any + Send + Sync>,
    pub(crate) relay: Option<Weak<dyn Relay>>,
    /// Super-steps of the turn's own graph, and of its children.
    pub(crate) made: AtomicU64,
    pub(crate) spent: AtomicU64,
    pub(crate) ledger: Mutex<Ledger>,
}

/// What children leave behind in the turn.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Which call has a namespace that several may use.
    pub(crate) taken: BTreeMap<Name, Taken>,
    /// Namespaces that nothing needs any more once the super-step of the outermost graph is merged.
    pub(crate) spent: Vec<(u64, Place)>,
    pub(crate) reports: BTreeMap<Name, ChildReport>,
    pub(crate) warnings: Vec<String>,
}

/// Who has a namespace: the super-step of the task, and the call.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) step: u64,
    pub(crate) call: Name,
}

impl Host for Hosting {
    fn limit(&self) -> u64 {
        self.options.step_limit
    }

    fn left(&self) -> u64 {
        let spent = self.made.load(Ordering::Acquire) + self.spent.load(Ordering::Acquire);
        self.options.step_limit.saturating_sub(spent)
    }

    fn made(&self, steps: u64) {
        self.made.store(steps, Ordering::Release);
    }

    fn add(&self) {
        self.spent.fetch_add(1, Ordering::AcqRel);
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Hosting {
    /// The one of the turn, or one that stands alone where a node runs without a turn.
    pub(super) fn of(ctx: &Ctx) -> Arc<Self> {
        Self::known(ctx.turn.host()).unwrap_or_else(|| Arc::new(Self::alone()))
    }

    pub(crate) fn known(host: Option<&Arc<dyn Host>>) -> Option<Arc<Self>> {
        host.and_then(|host| host.clone().as_any().downcast().ok())
    }

    fn alone() -> Self {
        let options = Options {
            step_limit: 100,
            stay_limit: 10,
            durable: false,
            every_step: true,
            fan_out_limit: 10_000,
            state_limit: None,
            record: false,
            seed: 0,
        };
        Self {
            store: None,
            private: OnceLock::new(),
            durability: Durability::Sync,
            seams: Seams::default(),
            parallel: Parallel::default(),
            options,
            concurrency: None,
            cache: Arc::new(MemoryCache::default()),
            measure: false,
            metrics: None,
            spans: Spans::off(),
            tags: None,
            lease: Weak::<()>::new(),
            relay: None,
            made: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            ledger: Mutex::default(),
        }
    }

    /// Where children are kept.
    pub(super) fn checkpoints(&self) -> &Arc<dyn CheckpointStore> {
        match &self.store {
            Some(store) => store,
            None => self.private.get_or_init(|| Arc::new(MemoryStore::new())),
        }
    }

    pub(super) fn guards<C: State>(&self, graph: &Graph<C>) -> Option<Guards> {
        let needed = graph.inner().guarded || self.concurrency.is_some();
        needed.then(|| Guards::new(graph.inner(), self.concurrency, self.cache.clone()))
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // Nothing can panic while it is held.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a call of a child did.
    pub(super) fn note(&self, path: &Name, report: RunReport) {
        let mut ledger = self.ledger();
        for warning in report.warnings {
            let warning = format!("in `{path}`: {warning}");
            if !ledger.warnings.contains(&warning) {
                ledger.warnings.push(warning);
            }
        }
        let sum = ledger.reports.entry(path.clone()).or_default();
        sum.calls += 1;
        sum.steps += report.steps;
        sum.tasks += report.tasks;
        sum.attempts += report.attempts;
        sum.stays += report.stays;
        sum.copies += report.copies;
    }

    /// The report of the turn gets what its children did; what nothing needs any more is dropped.
    pub(crate) async fn finish(&self, step: u64, report: &mut RunReport) {
        let spent = {
            let mut ledger = self.ledger();
            report.children = std::mem::take(&mut ledger.reports);
            report.warnings.append(&mut ledger.warnings);
            let mut spent = std::mem::take(&mut ledger.spent);
            spent.retain(|(at, _)| *at < step);
            spent
        };
        let Some(store) = &self.store else { return };
        for (_, place) in spent {
            // What can't be dropped now goes with the thread; the turn itself is not worse for it.
            if let Err(error) = store.clear(&place).await {
                report.warnings.push(format!("the namespace `{}` was left behind: {error}", place.namespace));
            }
        }
    }
}
