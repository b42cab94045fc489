//! Finding one checkpoint, and what is said of it.

use std::borrow::Cow;

use graph_engine::{CheckpointId, CheckpointInfo, CheckpointKind, Place, StoreError, Tags};
use rusqlite::{Connection, OptionalExtension, params};

use super::blocks::{Blocks, Whose};
use crate::block::{Damaged, Header, Held, Parent, Position};
use crate::error::Failed;
use crate::keys;

/// A thread's namespace.
#[derive(Clone, Copy)]
pub(crate) struct Space {
    pub(crate) number: i64,
    /// The checkpoints up to this number are in the index by id.
    pub(crate) indexed: i64,
    /// Something of it is due at some time.
    pub(crate) due: bool,
}

/// What is stored of a thread's namespace, if it is there.
pub(crate) fn space(connection: &Connection, place: &Place) -> rusqlite::Result<Option<Space>> {
    connection
        .prepare_cached("SELECT space, indexed, due_ms IS NOT NULL FROM places WHERE thread = ?1 AND namespace = ?2")?
        .query_row(params![&*place.thread, &*place.namespace], |row| {
            Ok(Space { number: row.get(0)?, indexed: row.get(1)?, due: row.get(2)? })
        })
        .optional()
}

/// The number of the checkpoint of an id.
pub(crate) fn find(blocks: &mut Blocks<'_>, space: Space, id: CheckpointId) -> Result<Option<i64>, Failed> {
    // The newest ones are not in the index yet, and are few.
    let mut upto = keys::number(*keys::all(space.number).end());
    while let Some(loaded) = blocks.before(upto)? {
        let view = loaded.view();
        if let Some(slot) = loaded.slots.iter().rev().find(|slot| view.id(slot) == Some(id)) {
            return Ok(Some(slot.number));
        }
        upto = loaded.first - 1;
        if upto <= space.indexed {
            break;
        }
    }
    if space.indexed > 0 { indexed(blocks, space, id) } else { Ok(None) }
}

/// The same of one that is in the index.
pub(crate) fn indexed(blocks: &mut Blocks<'_>, space: Space, id: CheckpointId) -> Result<Option<i64>, Failed> {
    // A sum is no parameter, whose every new value would let SQLite plan the statement anew.
    let mut query =
        blocks.whose.connection.prepare_cached("SELECT number FROM ids WHERE space = ?1 + 0 AND prefix = ?2 + 0")?;
    let mut rows = query.query([space.number, keys::prefix(id)])?;
    while let Some(row) = rows.next()? {
        let number = row.get(0)?;
        if blocks.slot(number)?.is_some_and(|(block, slot)| block.id(slot) == Some(id)) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// The number of the newest checkpoint.
pub(crate) fn head(blocks: &mut Blocks<'_>) -> Result<Option<i64>, Failed> {
    let whose = blocks.whose;
    let Some(loaded) = blocks.before(keys::number(*keys::all(whose.space).end()))? else { return Ok(None) };
    loaded.whole.map_err(|damaged| whose.damaged(loaded.first, damaged))?;
    match loaded.slots.last() {
        Some(slot) if slot.is_checkpoint() => Ok(Some(slot.number)),
        _ => Err(whose.damaged(loaded.first, Damaged("the newest one"))),
    }
}

/// The id of a checkpoint that has to be there.
pub(crate) fn id(blocks: &mut Blocks<'_>, number: i64) -> Result<CheckpointId, Failed> {
    let whose = blocks.whose;
    let (block, slot) = blocks.needed(number)?;
    block.id(slot).ok_or_else(|| whose.damaged(number, Damaged("the id")))
}

/// A checkpoint's header, whose parent's id is found out.
pub(crate) fn header<T>(
    blocks: &mut Blocks<'_>,
    number: i64,
    read: impl FnOnce(Whose<'_>, &Header<'_>) -> Result<T, Failed>,
) -> Result<(T, Option<CheckpointId>), Failed> {
    let (whose, id_of) = (blocks.whose, id(blocks, number)?);
    let (block, slot) = blocks.needed(number)?;
    let header = block.header(slot).and_then(|header| header.ok_or(Damaged("what is said")));
    let header = header.map_err(|damaged| whose.corrupt(id_of, damaged))?;
    let (read, parent) = (read(whose, &header)?, header.parent);
    let parent = match parent {
        Parent::None => None,
        Parent::Pruned(id) => Some(id),
        Parent::Back(back) => Some(id(blocks, number - back)?),
    };
    Ok((read, parent))
}

/// What is said of a checkpoint, but its parent.
pub(crate) fn info(whose: Whose<'_>, header: &Header<'_>) -> Result<CheckpointInfo, Failed> {
    let unreadable = |what: &str, error: serde_json::Error| {
        StoreError::corrupt(whose.thread, format!("the {what} of checkpoint {} can't be read: {error}", header.id))
    };
    let kind = match header.kind {
        "step" => CheckpointKind::Step,
        kind => serde_json::from_value(kind.into()).map_err(|error| unreadable("kind", error))?,
    };
    let tags: Tags = match header.tags {
        Some(tags) => serde_json::from_str(tags).map_err(|error| unreadable("tags", error))?,
        None => Tags::new(),
    };
    let mut info = CheckpointInfo::new(header.id, None, header.turn, header.step);
    (info.time_ms, info.kind, info.tags) = (header.time_ms, kind, tags);
    Ok(info)
}

/// The position of a checkpoint as it was given.
pub(crate) fn position(whose: Whose<'_>, header: &Header<'_>) -> Result<Vec<u8>, Failed> {
    let what = || "the position".to_owned();
    match header.position {
        Position::Around(before, after) => Ok([before, &header.step.to_string(), after].concat().into_bytes()),
        Position::Row(row) => whose.row(Held::Here(row), header.id, what).map(Cow::into_owned),
        Position::Large(number) => whose.row(Held::Large(number), header.id, what).map(Cow::into_owned),
    }
}
