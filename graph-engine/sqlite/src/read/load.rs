//! One checkpoint with everything in it.

use std::ops::Range;
use std::sync::Arc;

use graph_engine::{CheckpointId, Commit, FieldRow, Place, SavedResult, Segment, Stored, TaskId};
use rusqlite::Connection;

use super::checkpoint::{Found, INFO, INFO_FROM, bytes, find, head, info, space};
use super::segments::{own, visible};
use crate::error::Failed;

/// The checkpoint of an id, or the head.
fn at(connection: &Connection, place: &Place, id: Option<CheckpointId>) -> rusqlite::Result<Option<(i64, Found)>> {
    let Some(space) = space(connection, place)? else { return Ok(None) };
    let found = match id {
        Some(id) => find(connection, space, id)?,
        None => head(connection, space)?,
    };
    Ok(found.map(|found| (space, found)))
}

/// A checkpoint without its fields, when it is due, and whether its parent is stored or there is none.
fn bare(connection: &Connection, found: &Found, thread: &str) -> Result<(Stored, Option<u64>, bool), Failed> {
    let sql = format!("SELECT {INFO}, c.due_ms, c.position, p.id IS NULL FROM {INFO_FROM} WHERE c.key = ?1");
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query([found.key])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let position = bytes(row, 9, thread, Some(found.id), || "the position".to_owned())?;
    let due = row.get::<_, Option<i64>>(8)?.map(|due| due as u64);
    Ok((Stored::new(info(row, thread)?, position), due, row.get(10)?))
}

fn saved(connection: &Connection, space: i64, at: &Found, thread: &str) -> Result<Vec<SavedResult>, Failed> {
    let mut query = connection
        .prepare_cached("SELECT step, rank, name, bytes FROM saved WHERE space = ?1 ORDER BY step, rank, name")?;
    let mut rows = query.query([space])?;
    let mut results = Vec::new();
    while let Some(row) = rows.next()? {
        let task = TaskId { step: row.get::<_, i64>(0)? as u64, rank: row.get(1)? };
        let name = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let bytes = bytes(row, 3, thread, Some(at.id), || format!("the result of {task:?} saved after the head"))?;
        results.push(SavedResult::new(task, name, bytes));
    }
    Ok(results)
}

/// A checkpoint with all its fields and, if it is the head, what was saved after it.
pub(crate) fn load(connection: &Connection, place: &Place, id: Option<CheckpointId>) -> Result<Option<Stored>, Failed> {
    let Some((space, found)) = at(connection, place, id)? else { return Ok(None) };
    let (mut stored, ..) = bare(connection, &found, &place.thread)?;
    stored.fields = visible(connection, &found, &place.thread, None, |_| true)?;
    if id.is_none() || head(connection, space)?.is_some_and(|head| head.key == found.key) {
        stored.saved = saved(connection, space, &found, &place.thread)?;
    }
    Ok(Some(stored))
}

/// The segments of one field that touch a range.
pub(crate) fn field(
    connection: &Connection,
    place: &Place,
    id: Option<CheckpointId>,
    field: &str,
    range: &Range<u64>,
) -> Result<Vec<Segment>, Failed> {
    let Some((_, found)) = at(connection, place, id)? else { return Ok(Vec::new()) };
    // A field that doesn't count its items is one segment, whatever the range.
    let touches = |items: &Range<u64>| items.is_empty() || (items.start < range.end && range.start < items.end);
    visible(connection, &found, &place.thread, Some(field), touches)
}

/// What one checkpoint changed, or all of it if what it followed was pruned.
pub(crate) fn row(connection: &Connection, place: &Place, id: CheckpointId) -> Result<Option<Commit>, Failed> {
    let Some((_, found)) = at(connection, place, Some(id))? else { return Ok(None) };
    let (stored, due_ms, first) = bare(connection, &found, &place.thread)?;
    let fields = match first {
        true => visible(connection, &found, &place.thread, None, |_| true)?,
        false => own(connection, &found, &place.thread)?,
    };
    let mut commit = Commit::default();
    (commit.id, commit.parent, commit.kind) = (found.id, stored.info.parent, stored.info.kind);
    (commit.turn, commit.step, commit.time_ms) = (stored.info.turn, stored.info.step, stored.info.time_ms);
    (commit.due_ms, commit.tags) = (due_ms, Arc::new(stored.info.tags));
    for field in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(&field.bytes);
        commit.fields.push(FieldRow::new(field.name, field.encoding, field.items, start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(&stored.position);
    Ok(Some(commit))
}
