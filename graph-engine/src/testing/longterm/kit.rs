//! What the checks of long-term stores work with.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::longterm::{Found, LongTermSettings, LongTermStore, Namespace, Search};

type Making = Pin<Box<dyn Future<Output = Made>>>;

/// A store for one test, perhaps with what has to live as long as it does: a temporary folder, a server. `None` skips
/// the test, where a server isn't there.
#[derive(Default)]
pub struct Made {
    store: Option<Arc<dyn LongTermStore>>,
    guard: Option<Box<dyn Any>>,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").finish_non_exhaustive()
    }
}

impl<S: LongTermStore> From<S> for Made {
    fn from(store: S) -> Self {
        Self { store: Some(Arc::new(store)), guard: None }
    }
}

impl<S: LongTermStore, G: 'static> From<(S, G)> for Made {
    fn from((store, guard): (S, G)) -> Self {
        Self { store: Some(Arc::new(store)), guard: Some(Box::new(guard)) }
    }
}

impl<S: LongTermStore> From<Option<S>> for Made {
    fn from(store: Option<S>) -> Self {
        store.map_or_else(Self::default, Self::from)
    }
}

/// What leaves a test that can't run here.
struct Skipped;

/// Makes stores, with a clock that only the test moves. It begins at 1,000 milliseconds.
pub struct Kit {
    make: Box<dyn Fn(LongTermSettings) -> Making>,
    now: Arc<AtomicU64>,
    guards: Arc<Mutex<Vec<Box<dyn Any>>>>,
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
    S: Into<Made>,
    C: Future<Output = ()>,
{
    let make = move |settings| -> Making {
        let made = make(settings);
        Box::pin(async move { made.await.into() })
    };
    // What a store needs lives until the test is over.
    let guards = Arc::default();
    let kit = Kit { make: Box::new(make), now: Arc::new(AtomicU64::new(1_000)), guards: Arc::clone(&guards) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // A test without a runtime can't be run at all.
    let runtime = runtime.expect("a runtime");
    let checked = catch_unwind(AssertUnwindSafe(|| runtime.block_on(check(kit))));
    drop(runtime);
    match checked {
        Err(reason) if !reason.is::<Skipped>() => resume_unwind(reason),
        _ => {}
    }
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
        let made = (self.make)(change(settings)).await;
        self.guards.lock().unwrap_or_else(PoisonError::into_inner).extend(made.guard);
        made.store.unwrap_or_else(|| resume_unwind(Box::new(Skipped)))
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
