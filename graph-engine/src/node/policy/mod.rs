//! Policies of a node, as data. From outside: cache, limit of tasks at once, retry, timeouts of an attempt, layers.

mod cache;
mod defaults;
mod layer;
mod retry;
mod siblings;

pub use cache::Cache;
pub use defaults::NodeDefaults;
pub use layer::Layer;
pub use retry::Retry;
pub use siblings::Siblings;

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::name::Name;
use crate::state::State;

/// The policies of one node.
///
/// ```
/// use std::time::Duration;
/// use graph_engine::{NodeExt, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// let spec = NodeExt::<Trip, _>::timeout(explore, Duration::from_secs(30)).limit(4).on_error("apologise");
/// assert_eq!(spec.policy().timeout, Some(Duration::from_secs(30)));
/// assert_eq!(spec.policy().limit.unwrap().get(), 4);
/// assert_eq!(spec.policy().on_error.as_deref(), Some("apologise"));
/// ```
#[non_exhaustive]
pub struct Policy<S: State> {
    /// Where results are kept for later tasks with the same key.
    pub cache: Option<Cache<S>>,
    /// How many tasks of the node run at once in a turn.
    pub limit: Option<NonZeroUsize>,
    /// When to try again.
    pub retry: Option<Retry>,
    /// How long one attempt may run.
    pub timeout: Option<Duration>,
    /// How long one attempt may be silent: neither emit nor call [`Ctx::heartbeat`](crate::Ctx::heartbeat).
    pub idle_timeout: Option<Duration>,
    /// The node that takes over when a task has failed for good.
    pub on_error: Option<Name>,
}

impl<S: State> Policy<S> {
    /// No policy at all.
    pub(crate) const NONE: Self =
        Self { cache: None, limit: None, retry: None, timeout: None, idle_timeout: None, on_error: None };

    pub(crate) fn is_none(&self) -> bool {
        let Self { cache, limit, retry, timeout, idle_timeout, on_error } = self;
        let untimed = timeout.is_none() && idle_timeout.is_none();
        cache.is_none() && limit.is_none() && retry.is_none() && untimed && on_error.is_none()
    }

    /// Whether something stands around all attempts of a task.
    pub(crate) fn is_guarded(&self) -> bool {
        self.cache.is_some() || self.limit.is_some()
    }
}

impl<S: State> Default for Policy<S> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<S: State> Clone for Policy<S> {
    fn clone(&self) -> Self {
        Self {
            cache: self.cache.clone(),
            limit: self.limit,
            retry: self.retry.clone(),
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            on_error: self.on_error.clone(),
        }
    }
}

impl<S: State> fmt::Debug for Policy<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("cache", &self.cache)
            .field("limit", &self.limit)
            .field("retry", &self.retry)
            .field("timeout", &self.timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("on_error", &self.on_error)
            .finish()
    }
}
