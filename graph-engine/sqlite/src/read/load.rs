//! One checkpoint with everything in it.

use std::ops::Range;
use std::sync::Arc;

use graph_engine::{CheckpointId, Commit, FieldRow, Mark, Place, SavedResult, Segment, StoreError, Stored, TaskId};
use graph_engine_rows::decode;
use rusqlite::Connection;

use super::blocks::{Blocks, Most, Whose};
use super::checkpoint::{Space, find, head, header, id, info, position, space};
use super::segments::{own, visible};
use crate::block::Parent;
use crate::error::Failed;

/// The checkpoint of an id, or the head.
fn at<'c>(
    connection: &'c Connection,
    place: &'c Place,
    id: Option<CheckpointId>,
    most: Most,
) -> Result<Option<(Space, Blocks<'c>, i64)>, Failed> {
    let Some(space) = space(connection, place)? else { return Ok(None) };
    let mut blocks = Blocks::at_most(connection, space.number, &place.thread, most);
    let found = match id {
        Some(id) => find(&mut blocks, space, id)?,
        None => head(&mut blocks)?,
    };
    Ok(found.map(|found| (space, blocks, found)))
}

/// A checkpoint without its fields, when it is due, and whether its parent is stored.
fn bare(blocks: &mut Blocks<'_>, number: i64) -> Result<(Stored, Option<u64>, bool), Failed> {
    let ((mut stored, due, follows), parent) = header(blocks, number, |whose, header| {
        let stored = Stored::new(info(whose, header)?, position(whose, header)?);
        Ok((stored, header.due_ms, matches!(header.parent, Parent::Back(_))))
    })?;
    stored.info.parent = parent;
    Ok((stored, due, follows))
}

fn saved(whose: Whose<'_>, at: CheckpointId) -> Result<Vec<SavedResult>, Failed> {
    let Whose { connection, space, thread, .. } = whose;
    // A sum is no parameter, whose every new value would let SQLite plan the statement anew.
    let mut query = connection
        .prepare_cached("SELECT step, rank, name, bytes FROM saved WHERE space = ?1 + 0 ORDER BY step, rank, name")?;
    let mut rows = query.query([space])?;
    let mut results = Vec::new();
    while let Some(row) = rows.next()? {
        let task = TaskId { step: row.get::<_, i64>(0)? as u64, rank: row.get(1)? };
        let name = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let stored = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        let what = || format!("the result of {task:?} saved after the head");
        let bytes = decode(stored).map_err(|error| error.corrupt(thread, Some(at), &what()))?;
        results.push(SavedResult::new(task, name, bytes));
    }
    Ok(results)
}

/// How long the way from a mark to the head may be for whoever must not wait.
const SHORT: i64 = 64;

/// Whether a checkpoint is still there and led to another one.
fn led(blocks: &mut Blocks<'_>, known: i64, checkpoint: CheckpointId, mut number: i64) -> Result<bool, Failed> {
    while number > known {
        let whose = blocks.whose;
        let (block, slot) = blocks.needed(number)?;
        let header = block.header(slot).map_err(|damaged| whose.damaged(number, damaged))?;
        number = match header.map(|header| header.parent) {
            Some(Parent::Back(back)) if back > 0 => number - back,
            _ => return Ok(false),
        };
    }
    let slot = blocks.slot(known)?.filter(|_| number == known);
    Ok(slot.is_some_and(|(block, slot)| block.id(slot) == Some(checkpoint)))
}

/// A checkpoint with all its fields and, if it is the head, what was saved after it. `opened` is the number of the store
/// that is asked.
pub(crate) fn load(
    connection: &Connection,
    place: &Place,
    at_id: Option<CheckpointId>,
    opened: u64,
    most: Most,
) -> Result<Option<Stored>, Failed> {
    let Some((space, mut blocks, number)) = at(connection, place, at_id, most)? else { return Ok(None) };
    // A damaged head doesn't hide what came before it.
    let is_head = at_id.is_none() || head(&mut blocks).is_ok_and(|head| head == Some(number));
    stored(&mut blocks, space, number, 0, is_head, opened).map(Some)
}

/// The head without what was there at a mark; `None` if it has to be read whole. With [`Most::Little`], also if much was
/// stored since.
pub(crate) fn load_since(
    connection: &Connection,
    place: &Place,
    mark: Mark,
    opened: u64,
    most: Most,
) -> Result<Option<Stored>, Failed> {
    let Some((space, mut blocks, number)) = at(connection, place, None, most)? else { return Ok(None) };
    // Numbers of spaces are never given out again, so a number in a space is one record for ever.
    let [store, of, known] = mark.numbers();
    let known = i64::try_from(known).unwrap_or(0);
    let long = matches!(most, Most::Little) && number - known > SHORT;
    let mine = store == opened && of == space.number as u64 && known > 0 && !long;
    // Damage is for whoever reads everything to tell.
    if !mine || !led(&mut blocks, known, mark.checkpoint(), number).is_ok_and(|led| led) {
        return Ok(None);
    }
    let mut stored = stored(&mut blocks, space, number, known, true, opened)?;
    stored.since = Some(mark);
    Ok(Some(stored))
}

fn stored(
    blocks: &mut Blocks<'_>,
    space: Space,
    number: i64,
    since: i64,
    is_head: bool,
    opened: u64,
) -> Result<Stored, Failed> {
    let (mut stored, ..) = bare(blocks, number)?;
    stored.fields = visible(blocks, number, since, None, |_| true)?;
    stored.mark = Some(Mark::new(stored.info.id, [opened, space.number as u64, number as u64]));
    if is_head {
        stored.saved = saved(blocks.whose, stored.info.id)?;
    }
    Ok(stored)
}

/// The segments of one field that touch a range.
pub(crate) fn field(
    connection: &Connection,
    place: &Place,
    id: Option<CheckpointId>,
    field: &str,
    range: &Range<u64>,
) -> Result<Vec<Segment>, Failed> {
    let Some((_, mut blocks, number)) = at(connection, place, id, Most::All)? else { return Ok(Vec::new()) };
    // A field that doesn't count its items is one segment, whatever the range.
    let touches = |items: &Range<u64>| items.is_empty() || (items.start < range.end && range.start < items.end);
    Ok(visible(&mut blocks, number, 0, Some(field), touches)?.into_iter().collect())
}

/// What one checkpoint changed, or all of it if what it followed was pruned.
pub(crate) fn row(connection: &Connection, place: &Place, id: CheckpointId) -> Result<Option<Commit>, Failed> {
    let Some((_, mut blocks, number)) = at(connection, place, Some(id), Most::All)? else { return Ok(None) };
    row_of(&mut blocks, number).map(Some)
}

/// The same of the checkpoint of a number.
pub(crate) fn row_of(blocks: &mut Blocks<'_>, number: i64) -> Result<Commit, Failed> {
    let (stored, due_ms, follows) = bare(blocks, number)?;
    let fields = match follows {
        true => own(blocks, number)?,
        false => visible(blocks, number, 0, None, |_| true)?,
    };
    let mut commit = Commit::default();
    (commit.id, commit.parent, commit.kind) = (stored.info.id, stored.info.parent, stored.info.kind);
    (commit.turn, commit.step, commit.time_ms) = (stored.info.turn, stored.info.step, stored.info.time_ms);
    (commit.due_ms, commit.tags) = (due_ms, Arc::new(stored.info.tags));
    for field in fields.iter() {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(field.bytes);
        commit.fields.push(FieldRow::new(
            field.name.to_owned(),
            field.encoding,
            field.items,
            start..commit.bytes.len(),
        ));
    }
    commit.bytes.extend_from_slice(&stored.position);
    Ok(commit)
}

/// Whether a commit is what is stored under its id.
pub(crate) fn same(blocks: &mut Blocks<'_>, number: i64, commit: &Commit) -> Result<bool, Failed> {
    let (stored, ..) = bare(blocks, number)?;
    let own = own(blocks, number)?;
    let mut wanted: Vec<_> = commit.fields.iter().collect();
    wanted.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(stored.info.parent == commit.parent
        && stored.position == commit.position()
        && own.len() == wanted.len()
        && own.iter().zip(wanted).all(|(stored, new)| {
            stored.name == new.name && stored.encoding == new.encoding && stored.bytes == commit.field_bytes(new)
        }))
}

/// The error of a commit that is known with other content.
pub(crate) fn other_content(thread: &str, id: CheckpointId) -> StoreError {
    StoreError::conflict(thread, format!("checkpoint {id} has other content"))
}

/// The newest checkpoint with its id.
pub(crate) fn newest(blocks: &mut Blocks<'_>) -> Result<Option<(i64, CheckpointId)>, Failed> {
    let Some(number) = head(blocks)? else { return Ok(None) };
    Ok(Some((number, id(blocks, number)?)))
}
