//! What all long-term stores can be told.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::embed::Embedder;
use super::path::JsonPath;

/// The clock of a store, how long items are kept, and how they become vectors.
///
/// ```
/// use graph_engine::longterm::{LongTermSettings, LongTermStore, MemoryLongTerm, Namespace};
/// use serde_json::json;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let now = Arc::new(AtomicU64::new(1_000));
/// let clock = now.clone();
/// let settings = LongTermSettings::new().clock(move || clock.load(Ordering::Relaxed)).ttl_ms(500);
/// let memories = MemoryLongTerm::with(settings);
/// let user = Namespace::new(["users", "7"])?;
/// memories.put(&user, "code", json!(4711)).await?;
/// now.store(1_499, Ordering::Relaxed);
/// assert!(memories.get(&user, "code").await?.is_some());
/// now.store(1_500, Ordering::Relaxed);
/// assert!(memories.get(&user, "code").await?.is_none());
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct LongTermSettings {
    clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) refresh_on_read: bool,
    pub(super) embedding: Option<Embedding>,
}

/// By whom and of which fields vectors are made; of the whole value if none is named.
#[derive(Clone)]
pub(super) struct Embedding {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) fields: Vec<JsonPath>,
}

impl Default for LongTermSettings {
    /// The time of day as the clock, items that are kept until they are deleted, no vectors.
    fn default() -> Self {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let clock = Arc::new(move || u64::try_from(now()).unwrap_or(u64::MAX));
        Self { clock, ttl_ms: None, refresh_on_read: false, embedding: None }
    }
}

impl LongTermSettings {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the time from here, in milliseconds since 1970. All times of items, and whether one is too old, come from
    /// it. It is asked once for each batch.
    pub fn clock(mut self, now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now_ms);
        self
    }

    /// How many milliseconds an item is kept that says nothing itself (default: until it is deleted).
    pub fn ttl_ms(mut self, millis: u64) -> Self {
        self.ttl_ms = Some(millis);
        self
    }

    /// Whether the time of an item begins anew when it is read (default: no). A read then writes.
    pub fn refresh_on_read(mut self, refresh: bool) -> Self {
        self.refresh_on_read = refresh;
        self
    }

    /// Makes a vector of each item's whole value: of its text if it is one, else of its JSON.
    pub fn embed(self, embedder: impl Embedder) -> Self {
        self.embed_fields(embedder, [] as [&str; 0])
    }

    /// Makes a vector of each of these fields that an item has. The nearest one decides how near the item is.
    pub fn embed_fields<P: Into<JsonPath>>(
        mut self,
        embedder: impl Embedder,
        fields: impl IntoIterator<Item = P>,
    ) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        self.embedding = Some(Embedding { embedder: Arc::new(embedder), fields });
        self
    }

    /// The time on this clock, in milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        // Databases count in signed numbers.
        (self.clock)().min(i64::MAX as u64)
    }
}

impl fmt::Debug for LongTermSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongTermSettings")
            .field("ttl_ms", &self.ttl_ms)
            .field("refresh_on_read", &self.refresh_on_read)
            .field("fields", &self.embedding.as_ref().map(|embedding| &embedding.fields))
            .finish_non_exhaustive()
    }
}
