//! A store that gives one checkpoint, or one error, whatever it is asked.

use std::ops::Range;

use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Name, Place, SavedResult, Segment, StoreError,
    Stored, ThreadFilter, ThreadInfo, async_trait,
};

/// Loads this, and then fails with that.
pub(crate) struct Fake {
    pub(crate) stored: Option<Stored>,
    pub(crate) error: fn() -> StoreError,
}

impl Fake {
    /// Can be asked for nothing.
    pub(crate) fn broken(error: fn() -> StoreError) -> Self {
        Self { stored: None, error }
    }

    /// Holds a checkpoint with this position and these bytes of the field `city`.
    pub(crate) fn holding(position: &str, city: &str) -> Self {
        let id = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
        let mut stored = Stored::new(CheckpointInfo::new(id, None, "turn-1", 0), position.into());
        stored.fields.push("city", graph_engine::Encoding::Base, 0..0, city.as_ref());
        Self { stored: Some(stored), error: || StoreError::unavailable("never asked") }
    }
}

#[async_trait]
impl CheckpointStore for Fake {
    fn outlives_process(&self) -> bool {
        false
    }

    async fn commit(&self, _: &Place, _: &Commit) -> Result<(), StoreError> {
        Err((self.error)())
    }

    async fn save(&self, _: &Place, _: CheckpointId, _: &[SavedResult]) -> Result<(), StoreError> {
        Err((self.error)())
    }

    async fn load(&self, _: &Place, _: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        self.stored.clone().map(Some).ok_or_else(self.error)
    }

    async fn field(
        &self,
        _: &Place,
        _: Option<CheckpointId>,
        _: &str,
        _: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        Err((self.error)())
    }

    async fn list(&self, _: &Place, _: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        Err((self.error)())
    }

    async fn prune(&self, _: &Place, _: Keep) -> Result<u64, StoreError> {
        Err((self.error)())
    }

    async fn row(&self, _: &Place, _: CheckpointId) -> Result<Option<Commit>, StoreError> {
        Err((self.error)())
    }

    async fn namespaces(&self, _: &str) -> Result<Vec<Name>, StoreError> {
        Err((self.error)())
    }

    async fn threads(&self, _: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        Err((self.error)())
    }

    async fn clear(&self, _: &Place) -> Result<bool, StoreError> {
        Err((self.error)())
    }

    async fn copy(&self, _: &str, _: &str) -> Result<(), StoreError> {
        Err((self.error)())
    }

    async fn delete(&self, _: &str) -> Result<bool, StoreError> {
        Err((self.error)())
    }
}
