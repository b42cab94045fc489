//! Finding one checkpoint, and what is said of it.

use graph_engine::{CheckpointId, CheckpointInfo, CheckpointKind, Place, StoreError, Tags};
use graph_engine_rows::decode;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::Failed;
use crate::keys;

/// A checkpoint's row, its fields aside.
pub(crate) struct Found {
    pub(crate) key: i64,
    pub(crate) id: CheckpointId,
    /// How many numbers it takes: more than one if a field of it has several segments.
    pub(crate) span: i64,
    pub(crate) branch: i64,
}

impl Found {
    pub(crate) fn number(&self) -> i64 {
        keys::number(self.key)
    }
}

pub(crate) fn id(row: &Row<'_>, at: usize) -> rusqlite::Result<CheckpointId> {
    row.get(at).map(CheckpointId::from_bytes)
}

/// The number of a thread's namespace.
pub(crate) fn space(connection: &Connection, place: &Place) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT space FROM spaces WHERE thread = ?1 AND namespace = ?2")?
        .query_row(params![&*place.thread, &*place.namespace], |row| row.get(0))
        .optional()
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let span = row.get::<_, Option<i64>>(2)?.unwrap_or(1);
    Ok(Found { key: row.get(0)?, id: id(row, 1)?, span, branch: row.get(3)? })
}

/// The checkpoint of an id.
pub(crate) fn find(connection: &Connection, space: i64, id: CheckpointId) -> rusqlite::Result<Option<Found>> {
    let range = keys::all(space);
    connection
        .prepare_cached(
            "SELECT key, id, span, branch FROM checkpoints
             WHERE substr(id, 1, 8) = substr(?1, 1, 8) AND key BETWEEN ?2 AND ?3 AND id = ?1",
        )?
        .query_row(params![id.to_bytes(), range.start(), range.end()], found)
        .optional()
}

/// The newest checkpoint.
pub(crate) fn head(connection: &Connection, space: i64) -> rusqlite::Result<Option<Found>> {
    let range = keys::all(space);
    connection
        .prepare_cached(
            "SELECT key, id, span, branch FROM checkpoints WHERE key BETWEEN ?1 AND ?2
             ORDER BY key DESC LIMIT 1",
        )?
        .query_row(params![range.start(), range.end()], found)
        .optional()
}

/// The columns that [`info`] reads. The parent's id is its own row's, or is kept if that was pruned.
pub(crate) const INFO: &str = "c.key, c.id, coalesce(p.id, c.pruned_parent), t.name, t.tags, c.step, c.time_ms, c.kind";

/// Where they come from.
pub(crate) const INFO_FROM: &str =
    "checkpoints c JOIN turns t ON t.turn = c.turn LEFT JOIN checkpoints p ON p.key = c.key - c.back";

/// What is said of a checkpoint.
pub(crate) fn info(row: &Row<'_>, thread: &str) -> Result<CheckpointInfo, Failed> {
    let id = id(row, 1)?;
    let parent = row.get::<_, Option<[u8; 16]>>(2)?.map(CheckpointId::from_bytes);
    let unreadable = |what: &str, error: serde_json::Error| {
        StoreError::corrupt(thread, format!("the {what} of checkpoint {id} can't be read: {error}"))
    };
    let tags: Tags = match row.get_ref(4)?.as_str_or_null().map_err(rusqlite::Error::from)? {
        Some(tags) => serde_json::from_str(tags).map_err(|error| unreadable("tags", error))?,
        None => Tags::new(),
    };
    let kind = match row.get_ref(7)?.as_str_or_null().map_err(rusqlite::Error::from)? {
        Some(kind) => serde_json::from_value(kind.into()).map_err(|error| unreadable("kind", error))?,
        None => CheckpointKind::default(),
    };
    let turn = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    let mut info = CheckpointInfo::new(id, parent, turn, row.get::<_, i64>(5)? as u64);
    (info.time_ms, info.kind, info.tags) = (row.get::<_, i64>(6)? as u64, kind, tags);
    Ok(info)
}

/// A stored text as the bytes it was made of.
pub(crate) fn bytes(
    row: &Row<'_>,
    at: usize,
    thread: &str,
    checkpoint: Option<CheckpointId>,
    what: impl Fn() -> String,
) -> Result<Vec<u8>, Failed> {
    let stored = row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok(decode(stored).map_err(|error| error.corrupt(thread, checkpoint, &what()))?)
}
