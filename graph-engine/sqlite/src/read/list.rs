//! Lists of checkpoints, threads and namespaces.

use graph_engine::{CheckpointInfo, Filter, Name, Place, ThreadFilter, ThreadInfo};
use rusqlite::{Connection, params};

use super::blocks::{Blocks, Most};
use super::checkpoint::{find, head, header, info, space};
use crate::error::Failed;
use crate::keys;

/// Checkpoints that pass a filter, the newest first.
pub(crate) fn list(
    connection: &Connection,
    place: &Place,
    filter: &Filter,
    most: Most,
) -> Result<Vec<CheckpointInfo>, Failed> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let Some(space) = space(connection, place)? else { return Ok(Vec::new()) };
    let mut blocks = Blocks::at_most(connection, space.number, &place.thread, most);
    let whose = blocks.whose;
    let mut upto = match filter.before {
        None => keys::number(*keys::all(space.number).end()),
        Some(id) => match find(&mut blocks, space, id)? {
            Some(number) => number - 1,
            None => return Ok(Vec::new()),
        },
    };
    let (mut infos, mut numbers) = (Vec::new(), Vec::new());
    while infos.len() < limit
        && upto > 0
        && let Some(loaded) = blocks.before(upto)?
    {
        loaded.whole.map_err(|damaged| whose.damaged(loaded.first, damaged))?;
        let checkpoints = loaded.slots.iter().rev().filter(|slot| slot.is_checkpoint() && slot.number <= upto);
        numbers.extend(checkpoints.map(|slot| slot.number));
        upto = loaded.first - 1;
        for number in numbers.drain(..) {
            if infos.len() >= limit {
                return Ok(infos);
            }
            let info = info_of(&mut blocks, number)?;
            // Every filter is looked at here, so none is ever ignored.
            if filter.passes(&info.turn, info.step, &info.tags) {
                infos.push(info);
            }
        }
    }
    Ok(infos)
}

fn info_of(blocks: &mut Blocks<'_>, number: i64) -> Result<CheckpointInfo, Failed> {
    let (mut info, parent) = header(blocks, number, info)?;
    info.parent = parent;
    Ok(info)
}

/// The namespaces of a thread, in the order of their bytes.
pub(crate) fn namespaces(connection: &Connection, thread: &str) -> Result<Vec<Name>, Failed> {
    let mut query = connection.prepare_cached("SELECT namespace FROM places WHERE thread = ?1 ORDER BY namespace")?;
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
    let due = if filter.due_by.is_some() { "INDEXED BY places_due WHERE due_ms IS NOT NULL AND" } else { "WHERE" };
    let sql = format!(
        "SELECT space, thread, due_ms FROM places {due} namespace = '' AND thread >= ?1 AND (?2 IS NULL OR thread > ?2) ORDER BY thread"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let first = after.map_or(prefix, |after| after.max(prefix));
    let mut rows = query.query(params![first, after])?;
    let mut threads = Vec::new();
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
        let mut blocks = Blocks::new(connection, row.get(0)?, thread);
        let Some(head) = head(&mut blocks)? else { continue };
        let mut listed = ThreadInfo::new(thread, info_of(&mut blocks, head)?);
        listed.due_ms = due_ms;
        threads.push(listed);
    }
    Ok(threads)
}
