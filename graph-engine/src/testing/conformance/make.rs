//! Commits and chains to fill a store with, and what a checkpoint means.

use std::fmt::Debug;
use std::ops::Range;

use crate::{
    CheckpointId, CheckpointStore, Commit, Encoding, FieldRow, Filter, Place, SavedResult, StoreError, TaskId,
};

/// A commit that follows `parent`; its time is its step.
pub(super) fn commit(
    parent: Option<CheckpointId>,
    turn: &str,
    step: u64,
    fields: &[(&'static str, Encoding, Range<u64>, &str)],
) -> Commit {
    let id = CheckpointId::derive("t", "", parent, turn, step);
    let mut commit = Commit { id, parent, turn: turn.into(), step, time_ms: step, ..Commit::default() };
    for (name, encoding, items, json) in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(json.as_bytes());
        commit.fields.push(FieldRow::new(*name, *encoding, items.clone(), start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(format!("{{\"step\":{step}}}").as_bytes());
    commit
}

/// The same as the beginning of a new branch.
pub(super) fn fork(
    parent: Option<CheckpointId>,
    turn: &str,
    step: u64,
    fields: &[(&'static str, Encoding, Range<u64>, &str)],
) -> Commit {
    Commit { fork: true, ..commit(parent, turn, step, fields) }
}

/// One step of a log with one item each, every fourth one written whole, beside a counter.
pub(super) fn link(parent: Option<CheckpointId>, step: u64) -> Commit {
    let all = (0..=step).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let (whole, new, count) = (format!("[{all}]"), format!("[{step}]"), step.to_string());
    let log = match step % 4 {
        0 => ("log", Encoding::Base, 0..step + 1, whole.as_str()),
        _ => ("log", Encoding::Delta, step..step + 1, new.as_str()),
    };
    match step % 3 {
        0 => commit(parent, "turn", step, &[log, ("count", Encoding::Base, 0..0, &count)]),
        _ => commit(parent, "turn", step, &[log]),
    }
}

/// So many links after each other.
pub(super) async fn chain(store: &dyn CheckpointStore, place: &Place, steps: u64) -> Vec<CheckpointId> {
    let mut ids = Vec::new();
    for step in 0..steps {
        let next = link(ids.last().copied(), step);
        store.commit(place, &next).await.unwrap();
        ids.push(next.id);
    }
    ids
}

pub(super) fn is_conflict<T: Debug>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Conflict { .. }))
}

/// What a checkpoint means: its position, its turn and its fields, folded.
pub(super) async fn meaning(store: &dyn CheckpointStore, place: &Place, at: Option<CheckpointId>) -> Option<String> {
    let stored = store.load(place, at).await.unwrap()?;
    let mut names: Vec<_> = stored.fields.iter().map(|segment| segment.name.to_string()).collect();
    names.sort();
    names.dedup();
    let mut text = format!("{} {:?}", String::from_utf8(stored.position).unwrap(), stored.info.turn);
    for name in names {
        let mut folded: Option<Vec<serde_json::Value>> = None;
        for segment in stored.fields.iter().filter(|segment| segment.name == name) {
            let value: serde_json::Value = serde_json::from_slice(segment.bytes).unwrap();
            let items = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            match (segment.encoding, &mut folded) {
                (Encoding::Base, _) => folded = Some(items),
                (Encoding::Delta, Some(all)) => all.extend(items),
                (Encoding::Delta, None) => panic!("a delta of `{name}` without a base"),
                (other, _) => panic!("`{name}` is no {other:?}"),
            }
        }
        text.push_str(&format!(" {name}={}", serde_json::Value::from(folded.unwrap_or_default())));
    }
    Some(text)
}

pub(super) async fn ids(store: &dyn CheckpointStore, place: &Place, filter: Filter) -> Vec<CheckpointId> {
    store.list(place, &filter).await.unwrap().iter().map(|info| info.id).collect()
}

pub(super) async fn steps(store: &dyn CheckpointStore, place: &Place, filter: Filter) -> Vec<u64> {
    store.list(place, &filter).await.unwrap().iter().map(|info| info.step).collect()
}

pub(super) fn task(step: u64, rank: u32) -> TaskId {
    TaskId { step, rank }
}

/// A result of a whole task.
pub(super) fn result(step: u64, rank: u32, bytes: &[u8]) -> SavedResult {
    SavedResult::new(task(step, rank), "", bytes.to_vec())
}

/// What is saved after the head, in the order of task and key.
pub(super) async fn saved(store: &dyn CheckpointStore, place: &Place) -> Vec<SavedResult> {
    let mut saved = store.load(place, None).await.unwrap().map_or_else(Vec::new, |stored| stored.saved);
    saved.sort_by(|one, two| (one.task, &one.key).cmp(&(two.task, &two.key)));
    saved
}
