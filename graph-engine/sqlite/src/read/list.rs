//! Lists of checkpoints, threads and namespaces.

use graph_engine::{CheckpointInfo, Filter, Name, Place, ThreadFilter, ThreadInfo};
use rusqlite::{Connection, params};

use super::checkpoint::{INFO, INFO_FROM, find, head, info, space};
use crate::error::Failed;
use crate::keys;

/// Checkpoints that pass a filter, the newest first.
pub(crate) fn list(connection: &Connection, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, Failed> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let Some(space) = space(connection, place)? else { return Ok(Vec::new()) };
    let range = keys::all(space);
    let end = match filter.before {
        None => *range.end(),
        Some(id) => match find(connection, space, id)? {
            Some(found) => found.key - 1,
            None => return Ok(Vec::new()),
        },
    };
    let sql = format!("SELECT {INFO} FROM {INFO_FROM} WHERE c.key BETWEEN ?1 AND ?2 ORDER BY c.key DESC");
    let mut query = connection.prepare_cached(&sql)?;
    let mut rows = query.query(params![range.start(), end])?;
    let mut infos = Vec::new();
    while infos.len() < limit
        && let Some(row) = rows.next()?
    {
        // Every filter is looked at here, so none is ever ignored.
        let info = info(row, &place.thread)?;
        if filter.passes(&info.turn, info.step, &info.tags) {
            infos.push(info);
        }
    }
    Ok(infos)
}

/// The namespaces of a thread, in the order of their bytes.
pub(crate) fn namespaces(connection: &Connection, thread: &str) -> Result<Vec<Name>, Failed> {
    let mut query = connection.prepare_cached("SELECT namespace FROM spaces WHERE thread = ?1 ORDER BY namespace")?;
    let mut rows = query.query([thread])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        names.push(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?.into());
    }
    Ok(names)
}

/// Threads that pass a filter, in the order of their bytes.
pub(crate) fn threads(connection: &Connection, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, Failed> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let (after, prefix) = (filter.after.as_deref(), filter.prefix.as_deref().unwrap_or(""));
    // What is due is few, so those are taken from their own index and sorted.
    let due = if filter.due_by.is_some() { "INDEXED BY spaces_due WHERE due_ms IS NOT NULL AND" } else { "WHERE" };
    let sql = format!(
        "SELECT space, thread, due_ms FROM spaces {due} namespace = '' AND thread >= ?1 AND (?2 IS NULL OR thread > ?2) ORDER BY thread"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let first = after.map_or(prefix, |after| after.max(prefix));
    let mut rows = query.query(params![first, after])?;
    let mut threads = Vec::new();
    let sql = format!("SELECT {INFO} FROM {INFO_FROM} WHERE c.key = ?1");
    let mut infos = connection.prepare_cached(&sql)?;
    while threads.len() < limit
        && let Some(row) = rows.next()?
    {
        let thread = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let due_ms = row.get::<_, Option<i64>>(2)?.map(|due| due as u64);
        if !thread.starts_with(prefix) {
            // In the order of bytes all that begin so stand together.
            break;
        }
        if !filter.passes(thread, due_ms) {
            continue;
        }
        let Some(head) = head(connection, row.get(0)?)? else { continue };
        let mut found = infos.query([head.key])?;
        let head = found.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let mut listed = ThreadInfo::new(thread, info(head, thread)?);
        listed.due_ms = due_ms;
        threads.push(listed);
    }
    Ok(threads)
}
