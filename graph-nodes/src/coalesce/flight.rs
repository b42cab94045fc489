//! The task of one batch: the window, the load, the answer.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use graph_engine::BoxError;
use tokio::time::{Instant, timeout, timeout_at};

use super::CoalesceError;
use super::batch::{Answer, Batch};
use super::coalescer::Shared;
use crate::panics::guarded_async;

/// A batch on its way. However it ends, also by being dropped before it was polled, its waiters are answered and its
/// keys are free.
pub(super) struct Flight<K: Eq + Hash + Clone, V> {
    shared: Arc<Shared<K, V>>,
    tenant: Arc<str>,
    batch: Arc<Batch<K, V>>,
}

impl<K, V> Flight<K, V>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new(shared: Arc<Shared<K, V>>, tenant: Arc<str>, batch: Arc<Batch<K, V>>) -> Self {
        Self { shared, tenant, batch }
    }

    pub(super) async fn run(self, ends: Instant) {
        // Both ends of the window are good.
        let _ = timeout_at(ends, self.batch.full.notified()).await;
        let keys = self.shared.lanes().depart(&self.tenant, self.batch.id, &self.shared.config);
        // Nobody is left who wants them.
        let Some(keys) = keys else { return };
        let answer = self.load(keys).await;
        self.land(answer);
    }

    async fn load(&self, keys: Vec<K>) -> Answer<K, V> {
        let count = keys.len();
        tracing::debug!(coalescer_batch_size = count, "a batch of keys is loaded");
        let asked: HashSet<K> = keys.iter().cloned().collect();
        let load = || (self.shared.load)(self.tenant.clone(), keys);
        // The call itself is inside: it may panic before its first await. So is what looks at the keys of the answer.
        let loading = guarded_async(async {
            let mut found = load().await?;
            let before = found.len();
            found.retain(|key, _| asked.contains(key));
            Ok::<_, BoxError>((before - found.len(), found))
        });
        let loaded = match self.shared.config.timeout {
            None => loading.await,
            Some(after) => match timeout(after, loading).await {
                Ok(loaded) => loaded,
                Err(_) => return Err(CoalesceError::Timeout { keys: count, after }),
            },
        };
        match loaded {
            Err(message) => Err(CoalesceError::Panicked { keys: count, message }),
            Ok(Err(source)) => Err(CoalesceError::Failed { keys: count, source: source.into() }),
            Ok(Ok((0, found))) => Ok(found),
            Ok(Ok((unasked, found))) => {
                tracing::warn!(unasked, "a loader answered keys that it was not asked for; they are ignored");
                self.shared.lanes().metrics.unasked += u64::try_from(unasked).unwrap_or(u64::MAX);
                Ok(found)
            }
        }
    }
}

impl<K: Eq + Hash + Clone, V> Flight<K, V> {
    fn land(&self, answer: Answer<K, V>) {
        let is_idle = {
            let mut lanes = self.shared.lanes();
            // Before anybody is woken, so that who asks again after a failure makes a new call.
            lanes.remove(&self.tenant, self.batch.id);
            lanes.metrics.failed += u64::from(answer.is_err());
            lanes.is_idle()
        };
        self.batch.answer(answer);
        if is_idle {
            self.shared.idle.notify_waiters();
        }
    }
}

impl<K: Eq + Hash + Clone, V> Drop for Flight<K, V> {
    fn drop(&mut self) {
        if !self.batch.is_answered() {
            self.land(Err(CoalesceError::Lost));
        }
    }
}
