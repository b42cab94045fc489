//! The store around another one.

use std::ops::Range;

use graph_engine::{
    BoxError, CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Name, Place, SavedResult, Segment,
    StoreError, Stored, ThreadFilter, ThreadInfo,
};

use crate::copies::{self, NOTES};
use crate::envelope::Envelope;
use crate::key::KeyRing;
use crate::slot::Slot;
use crate::vault::{Refused, Vault};

/// A checkpoint store whose rows another one keeps, sealed.
///
/// ```
/// use graph_engine::{CheckpointStore, MemoryStore, Place};
/// use graph_engine_sealed::{Key, KeyRing, Sealed};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &[7; 32])));
/// assert!(store.load(&Place::thread("guest-7"), None).await.unwrap().is_none());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Sealed<S> {
    inner: S,
    vault: Vault,
}

impl<S: CheckpointStore> Sealed<S> {
    /// Seals what goes into this store.
    pub fn new(inner: S, ring: KeyRing) -> Self {
        Self { inner, vault: Vault::new(ring) }
    }

    /// Takes nonces from here instead of from the operating system. Two rows of one key must never have the same: who
    /// sees both can then read and forge them. For tests.
    #[must_use]
    pub fn nonces(mut self, fill: impl Fn(&mut [u8; 12]) -> Result<(), BoxError> + Send + Sync + 'static) -> Self {
        self.vault.nonces(fill);
        self
    }

    /// The store that keeps the rows.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Opens one row. `exact` is the checkpoint that it has to be of, for rows that no pruning ever moves.
    async fn open(
        &self,
        places: &mut Vec<Place>,
        slot: Slot<'_>,
        row: &[u8],
        exact: Option<CheckpointId>,
    ) -> Result<(CheckpointId, Vec<u8>), StoreError> {
        let place = places[0].clone();
        let corrupt = |why: &str| StoreError::corrupt(&*place.thread, format!("{slot}: {why}"));
        let envelope = Envelope::read(row).map_err(corrupt)?;
        if exact.is_some_and(|exact| exact != envelope.checkpoint) {
            return Err(corrupt(&format!("it belongs to checkpoint {}", envelope.checkpoint)));
        }
        let opened = match self.vault.open(places, slot, &envelope) {
            Ok(plain) => Ok(plain),
            // Maybe the thread is a copy. Its notes are read once a call.
            Err(Refused::Damaged) if places.len() == 1 => {
                let homes = copies::homes(&self.inner, &self.vault, &place.thread).await?;
                places.extend(homes.into_iter().map(|home| Place::new(home, &place.namespace)));
                self.vault.open(places, slot, &envelope)
            }
            Err(refused) => Err(refused),
        };
        let plain = opened.map_err(|refused| refused.error(&place, slot, &envelope))?;
        Ok((envelope.checkpoint, plain))
    }

    async fn open_segments(&self, places: &mut Vec<Place>, segments: &mut [Segment]) -> Result<(), StoreError> {
        for segment in segments {
            let (_, plain) = self.open(places, Slot::segment(segment), &segment.bytes, None).await?;
            segment.bytes = plain;
        }
        Ok(())
    }

    /// A row with everything in it opened, and for each field the checkpoint that committed it.
    async fn opened(&self, place: &Place, sealed: &Commit) -> Result<(Commit, Vec<CheckpointId>), StoreError> {
        let mut places = vec![place.clone()];
        let mut commit = sealed.clone();
        commit.bytes.clear();
        let mut origins = Vec::with_capacity(sealed.fields.len());
        for (row, field) in sealed.fields.iter().zip(&mut commit.fields) {
            let (origin, plain) = self.open(&mut places, Slot::row(row), sealed.field_bytes(row), None).await?;
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(&plain);
            field.bytes = start..commit.bytes.len();
            origins.push(origin);
        }
        let (_, position) = self.open(&mut places, Slot::Position, sealed.position(), Some(sealed.id)).await?;
        commit.bytes.extend_from_slice(&position);
        Ok((commit, origins))
    }

    /// Whether what is stored under the id of a commit is this commit.
    async fn is_repeated(&self, place: &Place, commit: &Commit) -> Result<bool, StoreError> {
        let Some(row) = self.inner.row(place, commit.id).await? else { return Ok(false) };
        if row.parent != commit.parent {
            return Ok(false);
        }
        let (stored, origins) = self.opened(place, &row).await?;
        // What a pruned parent left is not of this commit.
        let own: Vec<_> =
            stored.fields.iter().zip(origins).filter(|(_, origin)| *origin == commit.id).map(|(row, _)| row).collect();
        let is_stored = |new: &graph_engine::FieldRow| {
            own.iter().any(|old| {
                (&old.name, old.encoding, &old.items) == (&new.name, new.encoding, &new.items)
                    && stored.field_bytes(old) == commit.field_bytes(new)
            })
        };
        Ok(stored.position() == commit.position()
            && own.len() == commit.fields.len()
            && commit.fields.iter().all(is_stored))
    }

    async fn visible(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        let mut namespaces = self.inner.namespaces(thread).await?;
        namespaces.retain(|namespace| namespace != NOTES);
        Ok(namespaces)
    }

    /// Takes away the notes of a thread of which nothing else is left.
    async fn tidy(&self, thread: &Name) -> Result<(), StoreError> {
        if self.visible(thread).await?.is_empty() {
            self.inner.clear(&Place::new(thread, NOTES)).await?;
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl<S: CheckpointStore> CheckpointStore for Sealed<S> {
    fn outlives_process(&self) -> bool {
        self.inner.outlives_process()
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        let mut sealed = commit.clone();
        sealed.bytes.clear();
        for (row, field) in commit.fields.iter().zip(&mut sealed.fields) {
            let start = sealed.bytes.len();
            self.vault.seal(place, commit.id, Slot::row(row), commit.field_bytes(row), &mut sealed.bytes)?;
            field.bytes = start..sealed.bytes.len();
        }
        self.vault.seal(place, commit.id, Slot::Position, commit.position(), &mut sealed.bytes)?;
        match self.inner.commit(place, &sealed).await {
            // The same content never has the same bytes, so the store below can't know it again.
            Err(StoreError::Conflict { .. }) if self.is_repeated(place, commit).await? => Ok(()),
            other => other,
        }
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        let mut sealed = Vec::with_capacity(results.len());
        for result in results {
            let mut bytes = Vec::new();
            self.vault.seal(place, head, Slot::saved(result), &result.bytes, &mut bytes)?;
            sealed.push(SavedResult::new(result.task, &result.key, bytes));
        }
        self.inner.save(place, head, &sealed).await
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let Some(mut stored) = self.inner.load(place, at).await? else { return Ok(None) };
        let (mut places, id) = (vec![place.clone()], stored.info.id);
        (_, stored.position) = self.open(&mut places, Slot::Position, &stored.position, Some(id)).await?;
        let mut fields: Vec<Segment> = std::mem::take(&mut stored.fields).into_iter().collect();
        self.open_segments(&mut places, &mut fields).await?;
        stored.fields = fields.into();
        // What was opened is not to be kept in memory for later turns.
        stored.mark = None;
        for saved in &mut stored.saved {
            (_, saved.bytes) = self.open(&mut places, Slot::saved(saved), &saved.bytes, Some(id)).await?;
        }
        Ok(Some(stored))
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        let mut segments = self.inner.field(place, at, field, range).await?;
        self.open_segments(&mut vec![place.clone()], &mut segments).await?;
        Ok(segments)
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let Some(sealed) = self.inner.row(place, id).await? else { return Ok(None) };
        let (commit, origins) = self.opened(place, &sealed).await?;
        // Only a row whose parent was pruned has taken over rows of others.
        if let Some(other) = origins.iter().position(|origin| *origin != id)
            && let Some(parent) = commit.parent
            && self.inner.row(place, parent).await?.is_some()
        {
            let why = format!("field `{}` of checkpoint {id} belongs to {}", commit.fields[other].name, origins[other]);
            return Err(StoreError::corrupt(&*place.thread, why));
        }
        Ok(Some(commit))
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.inner.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.inner.prune(place, keep).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.visible(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.inner.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        let found = self.inner.clear(place).await?;
        self.tidy(&place.thread).await?;
        Ok(found)
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        if !self.visible(from).await?.is_empty() && self.visible(to).await?.is_empty() {
            copies::allow(&self.inner, &self.vault, &from.into(), &to.into()).await?;
        }
        let copied = self.inner.copy(from, to).await;
        if copied.is_err() {
            // The source may have been deleted meanwhile.
            self.tidy(&from.into()).await?;
        }
        copied
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.inner.delete(thread).await
    }
}
