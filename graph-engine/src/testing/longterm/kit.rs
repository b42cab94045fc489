//! What the checks of long-term stores work with.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::longterm::{Found, LongTermSettings, LongTermStore, Namespace, Search};

type Made = Pin<Box<dyn Future<Output = Arc<dyn LongTermStore>>>>;

/// Makes stores, with a clock that only the test moves. It begins at 1,000 milliseconds.
pub struct Kit {
    make: Box<dyn Fn(LongTermSettings) -> Made>,
    now: Arc<AtomicU64>,
}

impl fmt::Debug for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Runs one check.
///
/// # Panics
/// If the check fails, or without a runtime.
pub fn run<M, F, S, C>(make: M, check: impl FnOnce(Kit) -> C)
where
    M: Fn(LongTermSettings) -> F + 'static,
    F: Future<Output = S> + 'static,
    S: LongTermStore,
    C: Future<Output = ()>,
{
    let make = move |settings| -> Made {
        let made = make(settings);
        Box::pin(async move { Arc::new(made.await) as Arc<dyn LongTermStore> })
    };
    let kit = Kit { make: Box::new(make), now: Arc::new(AtomicU64::new(1_000)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // A test without a runtime can't be run at all.
    runtime.expect("a runtime").block_on(check(kit));
}

impl Kit {
    /// An empty store with the default settings.
    pub async fn store(&self) -> Arc<dyn LongTermStore> {
        self.store_with(|settings| settings).await
    }

    /// An empty store with other settings.
    pub async fn store_with(
        &self,
        change: impl FnOnce(LongTermSettings) -> LongTermSettings,
    ) -> Arc<dyn LongTermStore> {
        let now = self.now.clone();
        let settings = LongTermSettings::new().clock(move || now.load(Ordering::SeqCst));
        (self.make)(change(settings)).await
    }

    /// Lets time pass.
    pub fn advance(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }
}

/// A namespace of labels that are right.
pub(super) fn ns<const N: usize>(labels: [&str; N]) -> Namespace {
    Namespace::new(labels).unwrap()
}

/// The keys that a search finds, in order.
pub(super) async fn keys(store: &Arc<dyn LongTermStore>, search: Search) -> Vec<String> {
    store.search(search).await.unwrap().into_iter().map(|found| found.item.key).collect()
}

/// The same of a result.
pub(super) fn keys_of(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.key.as_str()).collect()
}

/// Puts several items of one namespace.
pub(super) async fn put_all<const N: usize>(
    store: &Arc<dyn LongTermStore>,
    namespace: &Namespace,
    items: [(&str, Value); N],
) {
    for (key, value) in items {
        store.put(namespace, key, value).await.unwrap();
    }
}
