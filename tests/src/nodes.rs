//! Nodes that append their name, and notes of which node ran how often.

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use graph_engine::NodeError;

use crate::{Trip, TripUpdate};

/// What the boxed nodes here return.
pub type BoxNode<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A node that appends its name to the log at once.
pub fn note(name: &'static str) -> impl Fn() -> Ready<TripUpdate> + Clone {
    move || ready(Trip::update().log([name.to_owned()]))
}

/// A node that appends its name to the log after so many milliseconds.
pub fn after(millis: u64, name: &'static str) -> impl Fn() -> BoxNode<TripUpdate> + Clone {
    move || {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Trip::update().log([name.to_owned()])
        })
    }
}

/// Which nodes ran, in the order of their starts.
#[derive(Clone, Debug, Default)]
pub struct Runs(Arc<Mutex<Vec<String>>>);

impl Runs {
    /// Nothing has run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a run and says how often this name ran before.
    pub fn hit(&self, name: &str) -> usize {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(name.to_owned());
        all.iter().filter(|run| *run == name).count() - 1
    }

    /// How often a name ran.
    #[must_use]
    pub fn count(&self, name: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|run| *run == name).count()
    }

    /// All runs since the last call, in order.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A node that notes its run and appends its name.
    pub fn node(&self, name: &'static str) -> impl Fn() -> Ready<TripUpdate> + Clone + use<> {
        let runs = self.clone();
        move || {
            runs.hit(name);
            ready(Trip::update().log([name.to_owned()]))
        }
    }

    /// The same, after so many milliseconds.
    pub fn slow(&self, millis: u64, name: &'static str) -> impl Fn() -> BoxNode<TripUpdate> + Clone + use<> {
        let runs = self.clone();
        move || {
            runs.hit(name);
            Box::pin(after(millis, name)())
        }
    }

    /// A node that fails its first runs, then appends its name. The failures are retryable.
    pub fn failing(
        &self,
        times: usize,
        name: &'static str,
    ) -> impl Fn() -> Ready<Result<TripUpdate, NodeError>> + Clone + use<> {
        let runs = self.clone();
        move || {
            ready(match runs.hit(name) {
                run if run < times => Err(format!("no luck at run {run}").into()),
                _ => Ok(Trip::update().log([name.to_owned()])),
            })
        }
    }
}
