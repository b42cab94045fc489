//! Commits to fill a store with.

use graph_engine::{CheckpointId, Commit, Encoding, FieldRow};

/// A commit that adds one item to a log and follows `parent`.
pub(crate) fn commit(parent: Option<CheckpointId>, turn: &str, step: u64, item: &str) -> Commit {
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive("t", "", parent, turn, step);
    (commit.parent, commit.turn, commit.step, commit.time_ms) = (parent, turn.into(), step, 1_700_000_000_000 + step);
    let encoding = if parent.is_none() { Encoding::Base } else { Encoding::Delta };
    commit.bytes.extend_from_slice(item.as_bytes());
    commit.fields.push(FieldRow::new("log", encoding, step..step + 1, 0..commit.bytes.len()));
    commit.bytes.extend_from_slice(format!("{{\"step\":{step}}}").as_bytes());
    commit
}
