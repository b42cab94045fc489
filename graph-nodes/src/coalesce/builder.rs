//! How long to wait, how many keys, how long a load may take.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use graph_engine::BoxError;

use super::Coalescer;

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) window: Duration,
    pub(super) max_keys: usize,
    pub(super) timeout: Option<Duration>,
    pub(super) join_in_flight: bool,
}

/// Options of a [`Coalescer`].
///
/// ```
/// use std::collections::HashMap;
/// use std::time::Duration;
///
/// use graph_nodes::coalesce::Coalescer;
///
/// let weather = Coalescer::builder()
///     .window(Duration::from_millis(2))
///     .max_keys(50)
///     .timeout(Duration::from_secs(10))
///     .build(|_tenant, cities: Vec<String>| async move {
///         Ok(cities.into_iter().map(|city| (city, "sunny")).collect())
///     });
/// # let _: Coalescer<String, &str> = weather;
/// ```
#[derive(Clone)]
#[must_use = "options do nothing until a coalescer is built"]
pub struct CoalescerBuilder {
    config: Config,
}

impl CoalescerBuilder {
    pub(super) fn new() -> Self {
        let (window, timeout) = (Duration::from_millis(5), Some(Duration::from_secs(2)));
        Self { config: Config { window, max_keys: 10, timeout, join_in_flight: true } }
    }

    /// How long the first key of a batch waits for others (default: 5 ms). Later keys don't extend it. At zero a batch
    /// leaves as soon as the runtime comes to it.
    pub fn window(mut self, window: Duration) -> Self {
        self.config.window = window;
        self
    }

    /// How many keys a batch has at most (default: 10); with so many it leaves at once. Zero counts as one.
    pub fn max_keys(mut self, max: usize) -> Self {
        self.config.max_keys = max.max(1);
        self
    }

    /// How long a load may take (default: 2 s). Then it is dropped, and its waiters get
    /// [`CoalesceError::Timeout`](super::CoalesceError::Timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout = Some(timeout);
        self
    }

    /// Lets a load take as long as it likes. Whoever asks for a key that never comes waits until it is dropped.
    pub fn without_timeout(mut self) -> Self {
        self.config.timeout = None;
        self
    }

    /// Whether a key that is being loaded is waited for (default), or loaded a second time.
    pub fn join_in_flight(mut self, join: bool) -> Self {
        self.config.join_in_flight = join;
        self
    }

    /// Makes the coalescer.
    ///
    /// The loader is given the tenant and different keys, at most [`max_keys`](Self::max_keys), in the order in which
    /// they were asked for. It answers with a map: a key that is not in it has no value, others in it are ignored. For
    /// errors of single keys let the value be a `Result`.
    pub fn build<K, V, F, Fut>(self, load: F) -> Coalescer<K, V>
    where
        K: Eq + Hash + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
        F: Fn(Arc<str>, Vec<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<HashMap<K, V>, BoxError>> + Send + 'static,
    {
        Coalescer::with_config(self.config, Arc::new(move |tenant, keys| Box::pin(load(tenant, keys))))
    }
}

impl fmt::Debug for CoalescerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CoalescerBuilder").field(&self.config).finish()
    }
}
