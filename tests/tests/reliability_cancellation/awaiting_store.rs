//! A store that awaits before and after everything it does, so that a turn can be dropped in the middle of a commit
//! and between a commit and its acknowledgement.

use std::ops::Range;

use behaviour_tests::TestStore;
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Name, Place, SavedResult, Segment, StoreError,
    Stored, ThreadFilter, ThreadInfo, async_trait,
};
use tokio::task::yield_now;

#[derive(Clone, Debug)]
pub(crate) struct AwaitingStore(pub(crate) TestStore);

#[async_trait]
impl CheckpointStore for AwaitingStore {
    fn outlives_process(&self) -> bool {
        self.0.outlives_process()
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        yield_now().await;
        let done = self.0.commit(place, commit).await;
        yield_now().await;
        done
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        yield_now().await;
        let done = self.0.save(place, head, results).await;
        yield_now().await;
        done
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        yield_now().await;
        let loaded = self.0.load(place, at).await;
        yield_now().await;
        loaded
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.0.field(place, at, field, range).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.0.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.0.prune(place, keep).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.0.row(place, id).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.0.namespaces(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.0.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.0.clear(place).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.0.copy(from, to).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.0.delete(thread).await
    }
}
