//! Commits to seal, and ways to tamper with what was sealed.

use graph_engine::{
    CheckpointId, CheckpointStore, Commit, Encoding, FieldRow, MemoryStore, Place, SavedResult, StoreError, TaskId,
};
use graph_engine_sealed::{Key, KeyRing, Sealed};

pub(crate) type Store = Sealed<MemoryStore>;

/// A key whose secret is its number.
pub(crate) fn key(id: u8) -> Key {
    Key::new(id.into(), &[id; 32])
}

pub(crate) fn sealed() -> Store {
    Sealed::new(MemoryStore::new(), KeyRing::new(key(1)))
}

/// A commit of bases.
pub(crate) fn commit(
    place: &Place,
    parent: Option<CheckpointId>,
    step: u64,
    fields: &[(&'static str, &str)],
) -> Commit {
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive(&place.thread, &place.namespace, parent, "turn", step);
    (commit.parent, commit.turn, commit.step) = (parent, "turn".into(), step);
    for (name, json) in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(json.as_bytes());
        commit.fields.push(FieldRow::new(*name, Encoding::Base, 0..0, start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(format!("{{\"step\":{step}}}").as_bytes());
    commit
}

pub(crate) fn result(rank: u32, key: &str, json: &str) -> SavedResult {
    SavedResult::new(TaskId { step: 1, rank }, key, json.as_bytes().to_vec())
}

/// Commits two fields as the first checkpoint of a thread.
pub(crate) async fn fill(store: &Store, thread: &str, note: &str) -> CheckpointId {
    let place = Place::thread(thread);
    let first = commit(&place, None, 0, &[("notes", note), ("other", "\"x\"")]);
    store.commit(&place, &first).await.unwrap();
    first.id
}

/// A field of the head, as JSON.
pub(crate) async fn field(store: &Store, thread: &str, name: &str) -> Result<String, StoreError> {
    let mut found = store.field(&Place::thread(thread), None, name, 0..1).await?;
    Ok(String::from_utf8(found.remove(0).bytes).unwrap())
}

/// The row as the store below holds it.
pub(crate) async fn raw(store: &Store, place: &Place, id: CheckpointId) -> Commit {
    store.inner().row(place, id).await.unwrap().unwrap()
}

/// A row made of other rows: its fields, then its position.
pub(crate) fn forged(id: CheckpointId, fields: &[(&'static str, &[u8])], position: &[u8]) -> Commit {
    let mut commit = Commit::default();
    (commit.id, commit.fork, commit.turn) = (id, true, "turn".into());
    for (name, bytes) in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(bytes);
        commit.fields.push(FieldRow::new(*name, Encoding::Base, 0..0, start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(position);
    commit
}

pub(crate) fn corrupt<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(StoreError::Corrupt { why, .. }) => why,
        other => panic!("not corrupt: {other:?}"),
    }
}
