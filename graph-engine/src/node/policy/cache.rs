//! Whether a task was done before: a key made of what the node reads, and how long a result is good.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::NodeError;
use crate::state::{State, to_json};
use crate::task::Task;

type Key<S> = Arc<dyn Fn(&Task<S>) -> Result<String, NodeError> + Send + Sync>;

/// Keeps results of a node, so that a task with a known key isn't run again.
///
/// The key must hold everything that the result depends on. A result is kept when a task succeeds; failures and
/// cancelled attempts never are, nor is one that writes a transient field, which can't be stored. Results are found by
/// (graph, node, key), in the runner's [`NodeCache`](crate::NodeCache).
///
/// ```
/// use std::time::Duration;
/// use graph_engine::{Cache, NodeExt, Snap, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     hotels: u32,
/// }
///
/// async fn count(trip: Snap<Trip>) -> TripUpdate {
///     Trip::update().hotels(trip.city.len() as u32)
/// }
///
/// let node = count.cache(Cache::by(|trip: &Trip| trip.city.clone()).ttl(Duration::from_secs(600)));
/// # let _ = node;
/// ```
#[must_use]
pub struct Cache<S: State> {
    key: Key<S>,
    ttl: Option<Duration>,
}

impl<S: State> Cache<S> {
    /// The key is made of the state.
    pub fn by<K: Serialize>(key: impl Fn(&S) -> K + Send + Sync + 'static) -> Self {
        Self { key: Arc::new(move |task| text(key(task.state()))), ttl: None }
    }

    /// The key is the payload of the task.
    pub fn by_payload<T: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self::of_payload::<T>(|_, payload| text(payload))
    }

    /// The key is made of the state and the payload of the task.
    pub fn by_both<T, K>(key: impl Fn(&S, &T) -> K + Send + Sync + 'static) -> Self
    where
        T: DeserializeOwned + Send + Sync + 'static,
        K: Serialize,
    {
        Self::of_payload::<T>(move |state, payload| text(key(state, payload)))
    }

    /// The key is made of the whole task.
    pub(crate) fn of_task(key: impl Fn(&Task<S>) -> Result<String, NodeError> + Send + Sync + 'static) -> Self {
        Self { key: Arc::new(key), ttl: None }
    }

    fn of_payload<T: DeserializeOwned + Send + Sync + 'static>(
        key: impl Fn(&S, &T) -> Result<String, NodeError> + Send + Sync + 'static,
    ) -> Self {
        let key: Key<S> = Arc::new(move |task| match task.payload() {
            Some(payload) => key(task.state(), &*payload.get::<T>()?),
            None => Err(NodeError::fatal(
                "its cache key is made of a payload, but this task was reached without one; send it with `fan_out`",
            )),
        });
        Self { key, ttl: None }
    }

    /// How long a result is good (default: until it is displaced by others). Zero: not at all.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    pub(crate) fn time_to_live(&self) -> Option<Duration> {
        self.ttl
    }

    /// The key of a task, as JSON text.
    pub(crate) fn key(&self, task: &Task<S>) -> Result<String, NodeError> {
        (self.key)(task)
    }
}

fn text(key: impl Serialize) -> Result<String, NodeError> {
    let json = to_json(key).map_err(|e| NodeError::fatal(format!("its cache key can't be written as JSON: {e}")))?;
    Ok(json.to_string())
}

impl<S: State> Clone for Cache<S> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), ttl: self.ttl }
    }
}

impl<S: State> fmt::Debug for Cache<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("ttl", &self.ttl).finish_non_exhaustive()
    }
}
