//! The coalescer itself: what all tenants share.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use graph_engine::BoxError;
use tokio::sync::Notify;

use super::builder::Config;
use super::lanes::Lanes;
use super::{CoalesceError, CoalescerBuilder, CoalescerMetrics, TenantCoalescer};

pub(super) type Load<K, V> =
    Arc<dyn Fn(Arc<str>, Vec<K>) -> BoxFuture<'static, Result<HashMap<K, V>, BoxError>> + Send + Sync>;

/// Loads keys together that are asked for at the same time. Cloning it copies a pointer.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
///
/// use graph_nodes::coalesce::Coalescer;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let calls = Arc::new(AtomicUsize::new(0));
/// let counted = calls.clone();
/// let weather = Coalescer::new(move |_tenant, cities: Vec<&str>| {
///     counted.fetch_add(1, Ordering::Relaxed);
///     async move { Ok(cities.into_iter().map(|city| (city, city.len())).collect()) }
/// });
///
/// let acme = weather.tenant("acme");
/// let (bern, oslo) = futures_util::future::join(acme.get("Bern"), acme.get("Lisbon")).await;
/// assert_eq!((bern.unwrap(), oslo.unwrap()), (Some(4), Some(6)));
/// assert_eq!(calls.load(Ordering::Relaxed), 1);
/// # });
/// ```
pub struct Coalescer<K, V> {
    shared: Arc<Shared<K, V>>,
}

pub(super) struct Shared<K, V> {
    pub(super) config: Config,
    pub(super) load: Load<K, V>,
    /// Held for a few look-ups, never over an await or a call of the loader.
    lanes: Mutex<Lanes<K, V>>,
    /// Told whenever nobody waits and nothing is loaded.
    pub(super) idle: Notify,
}

impl<K, V> Shared<K, V> {
    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes<K, V>> {
        // Only a key's own `Hash`, `Eq` or `Clone` can panic here, before anything of others is changed.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Coalescer<K, V>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A coalescer with the defaults of [`CoalescerBuilder`], which also says what the loader has to do.
    pub fn new<F, Fut>(load: F) -> Self
    where
        F: Fn(Arc<str>, Vec<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<HashMap<K, V>, BoxError>> + Send + 'static,
    {
        CoalescerBuilder::new().build(load)
    }

    pub(super) fn with_config(config: Config, load: Load<K, V>) -> Self {
        let shared = Shared { config, load, lanes: Mutex::new(Lanes::new()), idle: Notify::new() };
        Self { shared: Arc::new(shared) }
    }

    /// The part of one tenant, by its exact name. There is no default tenant: a blank name is refused when a key is
    /// asked for.
    pub fn tenant(&self, tenant: impl AsRef<str>) -> TenantCoalescer<K, V> {
        TenantCoalescer::new(self.shared.clone(), tenant.as_ref().into())
    }

    /// What was counted so far.
    #[must_use]
    pub fn metrics(&self) -> CoalescerMetrics {
        self.shared.lanes().metrics.clone()
    }

    /// How many tenants wait for something: a tenant costs memory only then.
    #[must_use]
    pub fn active_tenants(&self) -> usize {
        self.shared.lanes().tenants()
    }

    /// Takes no more keys. Those that are not sent yet get [`CoalesceError::Closed`]; what is being loaded is answered.
    pub fn close(&self) {
        let closed = self.shared.lanes().close();
        for batch in closed {
            batch.answer(Err(CoalesceError::Closed));
            batch.abort();
        }
        self.shared.idle.notify_waiters();
    }

    /// Takes no more keys, sends those that wait at once, and returns when all are answered. Dropping it stops neither.
    pub async fn shutdown(&self) {
        let flushed = self.shared.lanes().flush(&self.shared.config);
        flushed.iter().for_each(|batch| batch.full.notify_one());
        loop {
            let idle = self.shared.idle.notified();
            if self.shared.lanes().is_idle() {
                return;
            }
            idle.await;
        }
    }
}

impl Coalescer<(), ()> {
    /// Begins to describe a coalescer.
    pub fn builder() -> CoalescerBuilder {
        CoalescerBuilder::new()
    }
}

impl<K, V> Clone for Coalescer<K, V> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K, V> fmt::Debug for Coalescer<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalescer").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
