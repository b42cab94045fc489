//! Where results of nodes are kept for later tasks with the same key.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::StoreError;
use crate::name::Name;

/// Under which key a result is kept. Keys of different graphs or nodes never meet.
///
/// ```
/// use graph_engine::CacheKey;
///
/// let key = CacheKey { graph: "trip".into(), node: "quote".into(), key: "\"Inn\"".into() };
/// assert_eq!(key.node, "quote");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey {
    /// The graph.
    pub graph: Name,
    /// The node.
    pub node: Name,
    /// The node's own key, as JSON.
    pub key: String,
}

/// Keeps results of nodes with a [`Cache`](crate::Cache) policy.
///
/// # Contract
/// What was put under a key is given back unchanged, or not at all: a cache may forget at any time. `now` is the time
/// since some fixed moment on the runner's clock; a cache with a clock of its own ignores it. A failure never fails
/// the node: the engine runs it and puts a warning into the report.
///
/// Results are JSON, and are used only if the state and the node declare what they say. Another one, from an older
/// version of the program for example, is a warning, and the node runs.
///
/// ```
/// use std::time::Duration;
/// use graph_engine::{CacheKey, MemoryCache, NodeCache};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let cache = MemoryCache::new(100);
/// let key = CacheKey { graph: "trip".into(), node: "quote".into(), key: "1".into() };
/// let (now, ttl) = (Duration::from_secs(5), Duration::from_secs(60));
/// cache.put(&key, b"result".to_vec(), Some(ttl), now).await.unwrap();
/// assert_eq!(cache.get(&key, now).await.unwrap().as_deref(), Some(&b"result"[..]));
/// assert_eq!(cache.get(&key, now + ttl).await.unwrap(), None);
/// # });
/// ```
#[async_trait::async_trait]
pub trait NodeCache: Send + Sync + 'static {
    /// What was put under the key and is still good.
    async fn get(&self, key: &CacheKey, now: Duration) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps a result, for so long if a time is given.
    async fn put(
        &self,
        key: &CacheKey,
        result: Vec<u8>,
        ttl: Option<Duration>,
        now: Duration,
    ) -> Result<(), StoreError>;

    /// Forgets the results of one node of a graph, or of all its nodes.
    async fn clear(&self, graph: &str, node: Option<&str>) -> Result<(), StoreError>;
}

/// A bounded cache in this process. When it is full, the result that was not asked for the longest goes.
///
/// ```
/// use graph_engine::MemoryCache;
///
/// assert!(MemoryCache::default().is_empty());
/// ```
pub struct MemoryCache {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<CacheKey, Entry>,
    /// When each entry was last used, oldest first.
    order: BTreeMap<u64, CacheKey>,
    uses: u64,
}

struct Entry {
    result: Vec<u8>,
    until: Option<Duration>,
    used: u64,
}

impl MemoryCache {
    /// A cache for at most so many results; 0 keeps none.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, kept: Mutex::default() }
    }

    /// How many results it keeps, those included that are too old but were not asked for since.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept().entries.len()
    }

    /// Whether it keeps nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing can panic while it is held.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryCache {
    /// A cache for 1,024 results.
    fn default() -> Self {
        Self::new(1024)
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCache").field("capacity", &self.capacity).field("len", &self.len()).finish()
    }
}

impl Kept {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
        }
    }

    fn use_now(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

#[async_trait::async_trait]
impl NodeCache for MemoryCache {
    async fn get(&self, key: &CacheKey, now: Duration) -> Result<Option<Vec<u8>>, StoreError> {
        let mut kept = self.kept();
        let used = kept.use_now();
        let Some(entry) = kept.entries.get_mut(key) else { return Ok(None) };
        if entry.until.is_some_and(|until| now >= until) {
            kept.remove(key);
            return Ok(None);
        }
        let (before, result) = (std::mem::replace(&mut entry.used, used), entry.result.clone());
        kept.order.remove(&before);
        kept.order.insert(used, key.clone());
        Ok(Some(result))
    }

    async fn put(
        &self,
        key: &CacheKey,
        result: Vec<u8>,
        ttl: Option<Duration>,
        now: Duration,
    ) -> Result<(), StoreError> {
        let mut kept = self.kept();
        kept.remove(key);
        if self.capacity == 0 {
            return Ok(());
        }
        while kept.entries.len() >= self.capacity
            && let Some((_, oldest)) = kept.order.pop_first()
        {
            kept.entries.remove(&oldest);
        }
        let used = kept.use_now();
        let until = ttl.map(|ttl| now.saturating_add(ttl));
        kept.entries.insert(key.clone(), Entry { result, until, used });
        kept.order.insert(used, key.clone());
        Ok(())
    }

    async fn clear(&self, graph: &str, node: Option<&str>) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let goes = |key: &CacheKey| key.graph == graph && node.is_none_or(|node| key.node == node);
        kept.entries.retain(|key, _| !goes(key));
        kept.order.retain(|_, key| !goes(key));
        Ok(())
    }
}
