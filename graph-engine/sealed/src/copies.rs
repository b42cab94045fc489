//! Notes about copies: whose rows a thread may hold beside its own.

use graph_engine::{CheckpointId, CheckpointStore, Commit, Name, Place, StoreError};

use crate::envelope::Envelope;
use crate::slot::Slot;
use crate::vault::Vault;

/// The namespace of the notes. It is never listed.
pub(crate) const NOTES: &str = "\u{1}sealed";

/// The n-th note about a thread. Its id says which thread it is about, so it is found without a search.
fn id(about: &str, n: u64) -> CheckpointId {
    CheckpointId::derive(about, NOTES, None, "copy", n)
}

/// Whose rows a thread may hold, as its notes say.
pub(crate) async fn homes(store: &impl CheckpointStore, vault: &Vault, thread: &Name) -> Result<Vec<Name>, StoreError> {
    let mut homes = Vec::new();
    let mut n = 0;
    while let Some(note) = read(store, vault, thread, thread, n).await? {
        homes.extend(note);
        n += 1;
    }
    Ok(homes)
}

/// Writes into `from` that `to` may hold its rows.
pub(crate) async fn allow(
    store: &impl CheckpointStore,
    vault: &Vault,
    from: &Name,
    to: &Name,
) -> Result<(), StoreError> {
    let mut allowed = vec![from.clone()];
    allowed.extend(homes(store, vault, from).await?);
    allowed.sort();
    allowed.dedup();
    let mut n = 0;
    while let Some(note) = read(store, vault, from, to, n).await? {
        if note == allowed {
            return Ok(());
        }
        n += 1;
    }
    let mut commit = Commit::default();
    (commit.id, commit.fork, commit.turn) = (id(to, n), true, "copy".into());
    let plain = serde_json::to_vec(&allowed).map_err(StoreError::unavailable)?;
    vault.seal(&Place::new(to, NOTES), commit.id, Slot::Copy, &plain, &mut commit.bytes)?;
    match store.commit(&Place::new(from, NOTES), &commit).await {
        // Somebody else makes the same copy.
        Err(StoreError::Conflict { .. }) if read(store, vault, from, to, n).await?.is_some_and(|n| n == allowed) => {
            Ok(())
        }
        other => other,
    }
}

/// The n-th note about a thread that stands in a thread.
async fn read(
    store: &impl CheckpointStore,
    vault: &Vault,
    inside: &Name,
    about: &Name,
    n: u64,
) -> Result<Option<Vec<Name>>, StoreError> {
    let (place, id) = (Place::new(inside, NOTES), id(about, n));
    let Some(row) = store.row(&place, id).await? else { return Ok(None) };
    let corrupt = |why: &str| StoreError::corrupt(inside.as_str(), format!("the note about a copy: {why}"));
    let envelope = Envelope::read(row.position()).map_err(corrupt)?;
    let bound = [Place::new(about, NOTES)];
    let plain = vault.open(&bound, Slot::Copy, &envelope).map_err(|why| why.error(&place, Slot::Copy, &envelope))?;
    serde_json::from_slice(&plain).map(Some).map_err(|error| corrupt(&error.to_string()))
}
