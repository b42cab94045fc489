//! An entrypoint with its store and resources.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::WorkflowThread;
use crate::driver::Clock;
use crate::name::Name;
use crate::run::Runner;
use crate::state::dynamic::DynState;
use crate::store::CheckpointStore;

/// The clock that tasks wait by, as a resource of the node.
#[derive(Clone)]
pub(super) struct WorkflowClock(pub(super) Arc<dyn Clock>);

/// An entrypoint with its store and resources: from here threads are opened.
///
/// ```
/// use graph_engine::{Entrypoint, MemoryStore, Workflow};
///
/// let echo = Entrypoint::new("echo", |_: Workflow<String>, said: String| async move { Ok(said) });
/// let runner = echo.runner()?.store(MemoryStore::new()).with(|runner| runner.max_concurrency(4));
/// # let _ = runner;
/// # Ok::<(), graph_engine::CompileError>(())
/// ```
#[must_use = "a runner does nothing until a thread of it runs"]
pub struct WorkflowRunner<I, O> {
    runner: Runner<DynState>,
    types: PhantomData<fn(I) -> O>,
}

impl<I: Serialize, O: DeserializeOwned> WorkflowRunner<I, O> {
    pub(super) fn new(runner: Runner<DynState>) -> Self {
        let clock = WorkflowClock(runner.seams_ref().0.clock.clone());
        Self { runner: runner.provide(clock), types: PhantomData }
    }

    /// Keeps threads in this store.
    pub fn store(self, store: impl CheckpointStore) -> Self {
        self.with(|runner| runner.store(store))
    }

    /// Everything else that a [`Runner`] can be told.
    pub fn with(self, change: impl FnOnce(Runner<DynState>) -> Runner<DynState>) -> Self {
        Self::new(change(self.runner))
    }

    /// A thread of this id.
    pub fn thread(&self, id: impl Into<Name>) -> WorkflowThread<I, O> {
        WorkflowThread::new(self.runner.thread(id))
    }

    /// The runner of the graph behind it.
    pub fn runner(&self) -> &Runner<DynState> {
        &self.runner
    }
}

impl<I, O> Clone for WorkflowRunner<I, O> {
    fn clone(&self) -> Self {
        Self { runner: self.runner.clone(), types: PhantomData }
    }
}

impl<I, O> fmt::Debug for WorkflowRunner<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowRunner").finish_non_exhaustive()
    }
}
