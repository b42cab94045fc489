//! The segments of fields as of a checkpoint.

use std::collections::BTreeMap;
use std::ops::Range;

use graph_engine::{CheckpointId, Encoding, Segment, StoreError};
use rusqlite::{Connection, Row, params};

use super::checkpoint::{Found, bytes};
use crate::error::Failed;
use crate::keys;

/// The branches from a checkpoint back to the first one, each with the last number that counts.
fn lineage(connection: &Connection, at: &Found) -> rusqlite::Result<Vec<(i64, i64)>> {
    connection
        .prepare_cached(
            "WITH RECURSIVE line (branch, upto, parent, fork, level) AS (
                 SELECT branch, ?2, parent, fork, 0 FROM branches WHERE branch = ?1
                 UNION ALL
                 SELECT b.branch, line.fork, b.parent, b.fork, level + 1
                 FROM line JOIN branches b ON b.branch = line.parent
             )
             SELECT branch, upto FROM line ORDER BY level",
        )?
        .query_map(params![at.branch, at.number()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The fields that were written in a branch, or one of them.
fn series(connection: &Connection, branch: i64, field: Option<&str>) -> rusqlite::Result<Vec<(i64, String)>> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    match field {
        None => connection
            .prepare_cached("SELECT series, field FROM series WHERE branch = ?1")?
            .query_map([branch], read)?
            .collect(),
        Some(field) => connection
            .prepare_cached("SELECT series, field FROM series WHERE branch = ?1 AND field = ?2")?
            .query_map(params![branch, field], read)?
            .collect(),
    }
}

/// Whose rows are read, for errors.
pub(crate) struct Whose<'a> {
    pub(crate) thread: &'a str,
    pub(crate) id: CheckpointId,
}

/// A segment without its bytes.
fn outline(row: &Row<'_>, name: &str, whose: &Whose<'_>) -> Result<(Encoding, Range<u64>), Failed> {
    let code: u8 = row.get(1)?;
    let first = row.get::<_, i64>(2)? as u64;
    let items = first..first.wrapping_add(row.get::<_, i64>(3)? as u64);
    let Some(encoding) = Encoding::from_code(code) else {
        let why = format!("checkpoint {}: field `{name}` has the encoding {code}, which is none", whose.id);
        return Err(StoreError::corrupt(whose.thread, why).into());
    };
    Ok((encoding, items))
}

fn segment(row: &Row<'_>, name: &str, whose: &Whose<'_>) -> Result<Segment, Failed> {
    let (encoding, items) = outline(row, name, whose)?;
    whole(row, name, whose, encoding, items)
}

/// The same with the bytes.
fn whole(
    row: &Row<'_>,
    name: &str,
    whose: &Whose<'_>,
    encoding: Encoding,
    items: Range<u64>,
) -> Result<Segment, Failed> {
    let bytes = bytes(row, 4, whose.thread, Some(whose.id), || format!("field `{name}`"))?;
    Ok(Segment::new(name.to_owned(), encoding, items, bytes))
}

/// For every field (or one) its base and the deltas after it, in order, as of a checkpoint. A segment that is not
/// wanted is not read.
pub(super) fn visible(
    connection: &Connection,
    at: &Found,
    thread: &str,
    only: Option<&str>,
    wanted: impl Fn(&Range<u64>) -> bool,
) -> Result<Vec<Segment>, Failed> {
    let whose = Whose { thread, id: at.id };
    // Newest first; turned round below.
    let mut fields: BTreeMap<String, (bool, Vec<Segment>)> = BTreeMap::new();
    let mut query = connection.prepare_cached(
        "SELECT key, encoding, first, items, bytes FROM segments WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC",
    )?;
    for (branch, upto) in lineage(connection, at)? {
        for (series, name) in series(connection, branch, only)? {
            let (complete, found) = fields.entry(name.clone()).or_default();
            if *complete {
                continue;
            }
            let range = keys::up_to(series, upto);
            let mut rows = query.query(params![range.start(), range.end()])?;
            while let Some(row) = rows.next()? {
                let (encoding, items) = outline(row, &name, &whose)?;
                if wanted(&items) {
                    found.push(whole(row, &name, &whose, encoding, items)?);
                }
                if encoding.is_whole() {
                    *complete = true;
                    break;
                }
            }
        }
    }
    Ok(fields.into_values().flat_map(|(_, found)| found.into_iter().rev()).collect())
}

/// What a checkpoint itself wrote, in the order of names.
pub(crate) fn own(connection: &Connection, at: &Found, thread: &str) -> Result<Vec<Segment>, Failed> {
    let whose = Whose { thread, id: at.id };
    let mut found = Vec::new();
    let mut query = connection.prepare_cached(
        "SELECT key, encoding, first, items, bytes FROM segments WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
    )?;
    for (series, name) in series(connection, at.branch, None)? {
        let range = keys::up_to(series, at.number());
        let mut rows = query.query(params![range.end() - at.span + 1, range.end()])?;
        while let Some(row) = rows.next()? {
            found.push(segment(row, &name, &whose)?);
        }
    }
    found.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(found)
}
