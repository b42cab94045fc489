//! New threads made of old ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::intake::Intake;
use super::lineage::PAGE;
use super::thread::Thread;
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointInfo, CheckpointStore, Filter, Place};

impl<S: State> Thread<S> {
    /// Copies the whole thread to a new one: every branch, what child graphs have stored, and what an unfinished
    /// super-step has saved. From then on they share nothing.
    ///
    /// # Errors
    /// [`RunError::ThreadExists`], [`RunError::UnknownThread`] if nothing is stored, [`RunError::NoStore`] without a
    /// store, [`RunError::Busy`] while a turn of the new thread runs, and what the store says.
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     #[state(append)]
    ///     cities: Vec<String>,
    /// }
    ///
    /// async fn explore() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update().cities(["Oslo"])).await.unwrap();
    /// let other = thread.fork("guest-7, what if").await.unwrap();
    /// other.run(Trip::update().cities(["Bergen"])).await.unwrap();
    /// assert_eq!(other.state().await.unwrap().state.cities, ["Oslo", "Bergen"]);
    /// assert_eq!(thread.state().await.unwrap().state.cities, ["Oslo"]);
    /// # });
    /// ```
    pub async fn fork(&self, thread: impl Into<Name>) -> Result<Self, RunError> {
        let (store, to) = (self.forked_store()?, self.runner.thread(thread));
        let _lease = self.runner.take(&to.id, None).await?;
        let work = async {
            let known = async |id: &Name| store.namespaces(id).await.map_err(|cause| self.store_error(cause));
            if known(&self.id).await?.is_empty() {
                return Err(RunError::UnknownThread { thread: self.id.clone() });
            }
            if !known(&to.id).await?.is_empty() {
                return Err(RunError::ThreadExists { thread: to.id.clone() });
            }
            store.copy(&self.id, &to.id).await.map_err(|cause| self.store_error(cause))
        };
        self.guarded(work).await?;
        Ok(to)
    }

    /// The same up to a checkpoint and without other branches. Of child graphs it takes what the same turns made.
    pub(super) async fn fork_at(&self, at: CheckpointId, thread: Name) -> Result<Self, RunError> {
        let (store, to) = (self.forked_store()?, self.runner.thread(thread));
        let _lease = self.runner.take(&to.id, None).await?;
        let work = async {
            let lineage = self.lineage(&**store, at, None).await?;
            let turns: BTreeSet<Name> = lineage.iter().map(|info| info.turn.clone()).collect();
            let mut intake = Intake::begin(store.clone(), to.id.clone()).await?;
            let filled = async {
                self.take(&**store, &mut intake, &"".into(), lineage).await?;
                for namespace in store.namespaces(&self.id).await.map_err(|cause| self.store_error(cause))? {
                    if !namespace.is_empty() {
                        let rows = self.rows_of(&**store, &namespace, &turns).await?;
                        self.take(&**store, &mut intake, &namespace, rows).await?;
                    }
                }
                Ok(())
            };
            match filled.await {
                Ok(()) => intake.finish().await,
                Err(error) => intake.discard().await.and(Err(error)),
            }
        };
        self.guarded(work).await?;
        Ok(to)
    }

    fn forked_store(&self) -> Result<&Arc<dyn CheckpointStore>, RunError> {
        let missing = || RunError::NoStore { thread: self.id.clone(), operation: "fork" };
        self.runner.checkpoints().ok_or_else(missing)
    }

    /// Puts these checkpoints, the newest first, into a new thread.
    async fn take(
        &self,
        store: &dyn CheckpointStore,
        intake: &mut Intake,
        namespace: &Name,
        rows: Vec<CheckpointInfo>,
    ) -> Result<(), RunError> {
        let place = Place::new(&self.id, namespace);
        let mut taken = BTreeSet::new();
        for info in rows.into_iter().rev() {
            let row = store.row(&place, info.id).await.map_err(|cause| self.store_error(cause))?;
            let unknown = || RunError::UnknownCheckpoint { thread: self.id.clone(), id: info.id };
            let mut commit = row.ok_or_else(unknown)?;
            // A row whose parent was pruned stands for itself.
            commit.parent = commit.parent.filter(|parent| taken.contains(parent));
            taken.insert(commit.id);
            intake.commit(namespace, commit).await?;
        }
        Ok(())
    }

    /// The checkpoints of a namespace that these turns made, and what they follow, the newest first.
    async fn rows_of(
        &self,
        store: &dyn CheckpointStore,
        namespace: &Name,
        turns: &BTreeSet<Name>,
    ) -> Result<Vec<CheckpointInfo>, RunError> {
        let place = Place::new(&self.id, namespace);
        let (mut rows, mut needed) = (Vec::new(), BTreeSet::new());
        let mut filter = Filter::default().limit(PAGE);
        loop {
            let page = store.list(&place, &filter).await.map_err(|cause| self.store_error(cause))?;
            let Some(oldest) = page.last() else { return Ok(rows) };
            filter = filter.before(oldest.id);
            for info in page {
                if turns.contains(&info.turn) || needed.contains(&info.id) {
                    needed.extend(info.parent);
                    rows.push(info);
                }
            }
        }
    }
}
