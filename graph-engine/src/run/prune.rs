//! The threads of a store, and what is dropped of their history.

use super::runner::Runner;
use super::thread::Thread;
use crate::error::StoreError;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{Keep, ThreadFilter, ThreadInfo};

/// How many threads are asked for at once.
const PAGE: usize = 1_000;

impl<S: State> Thread<S> {
    /// Drops old checkpoints, those of child graphs too, and says how many. The newest one of each is always kept, so
    /// the thread goes on as before; what is kept stays whole. A turn may run at the same time.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, and what the store says.
    ///
    /// ```
    /// use graph_engine::{Filter, Graph, Keep, MemoryStore, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn explore() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update().city("Oslo")).await.unwrap();
    /// assert_eq!(thread.prune(Keep::Last(1)).await.unwrap(), 1);
    /// assert_eq!(thread.history(&Filter::default()).await.unwrap().len(), 1);
    /// assert_eq!(thread.state().await.unwrap().state.city, "Oslo");
    /// # });
    /// ```
    pub async fn prune(&self, keep: Keep) -> Result<u64, RunError> {
        let Some(store) = self.runner.checkpoints() else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "prune" });
        };
        let work = async {
            let mut dropped = 0;
            for namespace in store.namespaces(&self.id).await? {
                let mut place = self.place();
                place.namespace = namespace;
                dropped += store.prune(&place, keep).await?;
            }
            Ok(dropped)
        };
        self.guarded(async { work.await.map_err(|cause: StoreError| self.store_error(cause)) }).await
    }
}

impl<S: State> Runner<S> {
    /// The threads of the store that pass the filter, in the order of their ids' bytes.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, and what the store says; both name no thread.
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, START, State, ThreadFilter};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn explore() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// let runner = graph.runner().store(MemoryStore::new());
    /// for id in ["guest-7", "guest-8", "host-1"] {
    ///     runner.thread(id).run(Trip::update()).await.unwrap();
    /// }
    /// let guests = runner.threads(&ThreadFilter::default().prefix("guest-")).await.unwrap();
    /// assert_eq!(guests.iter().map(|info| info.thread.as_str()).collect::<Vec<_>>(), ["guest-7", "guest-8"]);
    /// # });
    /// ```
    pub async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, RunError> {
        let every = self.thread(Name::from("*"));
        let Some(store) = self.checkpoints() else {
            return Err(RunError::NoStore { thread: every.id, operation: "threads" });
        };
        every.guarded(async { store.threads(filter).await.map_err(|cause| every.store_error(cause)) }).await
    }

    /// Prunes all threads that pass the filter, one after the other, and says how many checkpoints were dropped.
    ///
    /// # Errors
    /// As [`threads`](Self::threads) and [`Thread::prune`]; the threads before the one that failed are pruned.
    pub async fn prune_all(&self, filter: &ThreadFilter, keep: Keep) -> Result<u64, RunError> {
        let (mut page, mut dropped) = (filter.clone(), 0);
        let mut left = filter.limit.unwrap_or(usize::MAX);
        while left > 0 {
            page.limit = Some(left.min(PAGE));
            let threads = self.threads(&page).await?;
            let Some(last) = threads.last() else { break };
            page.after = Some(last.thread.clone());
            left -= threads.len().min(left);
            for info in &threads {
                dropped += self.thread(&info.thread).prune(keep).await?;
            }
        }
        Ok(dropped)
    }
}
