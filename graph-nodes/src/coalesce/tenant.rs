//! One tenant's part of a coalescer, and what waits for a key.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::CoalesceError;
use super::batch::Batch;
use super::coalescer::Shared;
use super::flight::Flight;

/// One tenant's part of a [`Coalescer`](super::Coalescer). Cloning it copies two pointers.
///
/// ```
/// use graph_nodes::coalesce::{CoalesceError, Coalescer};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let squares = Coalescer::new(|_tenant, numbers: Vec<u32>| async move {
///     Ok(numbers.into_iter().filter(|n| *n < 100).map(|n| (n, n * n)).collect())
/// });
/// assert_eq!(squares.tenant("acme").get(7).await.unwrap(), Some(49));
/// assert_eq!(squares.tenant("acme").get(700).await.unwrap(), None);
/// assert!(matches!(squares.tenant(" ").get(7).await, Err(CoalesceError::BlankTenant)));
/// # });
/// ```
pub struct TenantCoalescer<K, V> {
    shared: Arc<Shared<K, V>>,
    tenant: Arc<str>,
}

impl<K, V> TenantCoalescer<K, V>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new(shared: Arc<Shared<K, V>>, tenant: Arc<str>) -> Self {
        Self { shared, tenant }
    }

    /// The value of a key; `None` if the loader has none.
    ///
    /// The key is asked for at the first poll. The future may be dropped at any time: a key that nobody else wants is
    /// then not sent, and a load that nobody else waits for is cancelled.
    ///
    /// # Errors
    /// [`CoalesceError`] if the tenant is blank, the coalescer is closed, or the load failed.
    pub async fn get(&self, key: K) -> Result<Option<V>, CoalesceError> {
        self.enter(key)?.value().await
    }

    /// The values of several keys, each under the place of its key. All are asked for before any is waited for.
    ///
    /// ```
    /// # use graph_nodes::coalesce::Coalescer;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let squares = Coalescer::new(|_tenant, numbers: Vec<u32>| async move {
    ///     Ok(numbers.into_iter().rev().map(|n| (n, n * n)).collect())
    /// });
    /// let found = squares.tenant("acme").get_many([3, 1, 3]).await;
    /// assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [Some(9), Some(1), Some(9)]);
    /// # });
    /// ```
    pub async fn get_many(&self, keys: impl IntoIterator<Item = K>) -> Vec<Result<Option<V>, CoalesceError>> {
        let waiters: Vec<_> = keys.into_iter().map(|key| self.enter(key)).collect();
        let mut values = Vec::with_capacity(waiters.len());
        for waiter in waiters {
            values.push(match waiter {
                Ok(waiter) => waiter.value().await,
                Err(error) => Err(error),
            });
        }
        values
    }

    fn enter(&self, key: K) -> Result<Waiter<K, V>, CoalesceError> {
        if self.tenant.trim().is_empty() {
            return Err(CoalesceError::BlankTenant);
        }
        let runtime = Handle::try_current().map_err(|_| CoalesceError::NoRuntime)?;
        let (shared, tenant) = (self.shared.clone(), self.tenant.clone());
        let entered = shared.lanes().enter(&tenant, &key, Instant::now(), &shared.config);
        let entered = entered.ok_or(CoalesceError::Closed)?;
        let waiter = Waiter { shared, tenant, batch: entered.batch, key };
        if entered.is_full {
            waiter.batch.full.notify_one();
        }
        // Not under the lock: a runtime that is shutting down drops the task at once, which takes the lock.
        if let Some(ends) = entered.opened {
            let flight = Flight::new(waiter.shared.clone(), waiter.tenant.clone(), waiter.batch.clone());
            waiter.batch.driven_by(runtime.spawn(flight.run(ends)).abort_handle());
        }
        Ok(waiter)
    }
}

impl<K, V> Clone for TenantCoalescer<K, V> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), tenant: self.tenant.clone() }
    }
}

impl<K, V> fmt::Debug for TenantCoalescer<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantCoalescer").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// Somebody who wants a key.
struct Waiter<K: Eq + Hash + Clone, V> {
    shared: Arc<Shared<K, V>>,
    tenant: Arc<str>,
    batch: Arc<Batch<K, V>>,
    key: K,
}

impl<K: Eq + Hash + Clone, V: Clone> Waiter<K, V> {
    async fn value(&self) -> Result<Option<V>, CoalesceError> {
        match self.batch.answered().await {
            Ok(found) => Ok(found.get(&self.key).cloned()),
            Err(error) => Err(error.clone()),
        }
    }
}

impl<K: Eq + Hash + Clone, V> Drop for Waiter<K, V> {
    fn drop(&mut self) {
        if self.batch.is_answered() {
            return;
        }
        let (abandoned, is_idle) = {
            let mut lanes = self.shared.lanes();
            (lanes.leave(&self.tenant, self.batch.id, &self.key), lanes.is_idle())
        };
        if let Some(batch) = abandoned {
            // Nobody hears this; it says that the end of the task is no loss.
            batch.answer(Err(CoalesceError::Lost));
            batch.abort();
            if is_idle {
                self.shared.idle.notify_waiters();
            }
        }
    }
}
