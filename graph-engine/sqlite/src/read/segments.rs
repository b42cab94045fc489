//! The segments of fields as of a checkpoint.

use std::collections::BTreeMap;
use std::ops::Range;

use graph_engine::{CheckpointId, Encoding, Segment, Segments, StoreError};

use super::blocks::{Blocks, Whose};
use super::checkpoint::id;
use crate::block::{Damaged, Held, Parent, Piece};
use crate::error::Failed;

/// Which fields a checkpoint sees, and the number of the record that wrote each last. How many records were looked at
/// comes with it. Fields that were written last up to the number `since` may be missing.
pub(crate) fn directory(
    blocks: &mut Blocks<'_>,
    number: i64,
    since: i64,
) -> Result<(BTreeMap<String, i64>, usize), Failed> {
    let whose = blocks.whose;
    let (mut fields, mut at, mut looks) = (BTreeMap::new(), number, 0);
    loop {
        if since > 0 && at <= since {
            return Ok((fields, looks));
        }
        looks += 1;
        let (block, slot) = blocks.needed(at)?;
        let damaged = |damaged| whose.damaged(at, damaged);
        let mut groups = block.groups(slot).map_err(damaged)?;
        while let Some((name, _)) = groups.next_field().map_err(damaged)? {
            if !fields.contains_key(name) {
                fields.insert(name.to_owned(), at);
            }
        }
        let header = block.header(slot).map_err(damaged)?.ok_or_else(|| damaged(Damaged("what is said of it")))?;
        if let Some(directory) = header.directory {
            for (name, back) in directory {
                if !fields.contains_key(name) {
                    fields.insert(name.to_owned(), at - back);
                }
            }
            return Ok((fields, looks));
        }
        match header.parent {
            Parent::Back(back) if back > 0 => at -= back,
            _ => return Ok((fields, looks)),
        }
    }
}

fn encoding(code: u8, name: &str, of: CheckpointId, whose: Whose<'_>) -> Result<Encoding, Failed> {
    Encoding::from_code(code).ok_or_else(|| {
        let why = format!("checkpoint {of}: field `{name}` has the encoding {code}, which is none");
        StoreError::corrupt(whose.thread, why).into()
    })
}

fn items(piece: Piece<'_>) -> Range<u64> {
    piece.first..piece.first.wrapping_add(piece.items)
}

/// A segment that is wanted: the numbers of which it is made, and where its row is.
struct Found {
    encoding: Encoding,
    items: Range<u64>,
    held: Where,
}

enum Where {
    /// In a block that was read.
    Block(usize, Range<usize>),
    Large(i64),
}

/// For every field (or one) its base and the deltas after it, in order, as of a checkpoint. A segment that is not
/// wanted is not read, nor what was there up to the number `since`.
pub(crate) fn visible(
    blocks: &mut Blocks<'_>,
    number: i64,
    since: i64,
    only: Option<&str>,
    wanted: impl Fn(&Range<u64>) -> bool,
) -> Result<Segments, Failed> {
    let (whose, of) = (blocks.whose, id(blocks, number)?);
    let (fields, _) = directory(blocks, number, since)?;
    let mut found: Vec<Found> = Vec::new();
    let (mut ends, mut bytes) = (Vec::with_capacity(fields.len()), 0);
    for (name, newest) in &fields {
        if *newest <= since || only.is_some_and(|only| only != name) {
            continue;
        }
        // Newest first; turned round below. A block at a time, because most of the way stays in the same one.
        let mut at = *newest;
        'blocks: loop {
            let (place, loaded) = blocks.needed_block(at)?;
            let block = loaded.view();
            while at >= loaded.first {
                let damaged = |damaged| whose.damaged(at, damaged);
                let slot = loaded.needed(at).map_err(damaged)?;
                let mut groups = block.groups(slot).map_err(damaged)?;
                let back = groups.find(name).map_err(damaged)?;
                let (start, mut complete) = (found.len(), false);
                while let Some(piece) = groups.next_piece().map_err(damaged)? {
                    let encoding = encoding(piece.encoding, name, of, whose)?;
                    if encoding.is_whole() {
                        found.truncate(start);
                        complete = true;
                    }
                    let items = items(piece);
                    if wanted(&items) {
                        let held = match piece.held {
                            Held::Here(row) => {
                                bytes += row.len();
                                Where::Block(place, groups.at() - row.len()..groups.at())
                            }
                            Held::Large(number) => Where::Large(number),
                        };
                        found.push(Found { encoding, items, held });
                    }
                }
                found[start..].reverse();
                if complete || back == 0 || at - back <= since {
                    break 'blocks;
                }
                at -= back;
            }
        }
        ends.push((name, found.len()));
    }
    let (mut all, mut start) = (Segments::new(), 0);
    all.reserve(found.len(), bytes);
    for (name, end) in ends {
        for Found { encoding, items, held } in found[start..end].iter().rev() {
            let row = match held {
                Where::Block(place, range) => Held::Here(blocks.bytes(*place, range.clone())),
                Where::Large(number) => Held::Large(*number),
            };
            let bytes = whose.row(row, of, || format!("field `{name}`"))?;
            all.push(name, *encoding, items.clone(), &bytes);
        }
        start = end;
    }
    Ok(all)
}

/// What a checkpoint itself wrote, in the order of names.
pub(crate) fn own(blocks: &mut Blocks<'_>, number: i64) -> Result<Segments, Failed> {
    let (whose, of) = (blocks.whose, id(blocks, number)?);
    let (block, slot) = blocks.needed(number)?;
    let damaged = |damaged| whose.damaged(number, damaged);
    let mut groups = block.groups(slot).map_err(damaged)?;
    let mut found: Vec<Segment> = Vec::new();
    while let Some((name, _)) = groups.next_field().map_err(damaged)? {
        while let Some(piece) = groups.next_piece().map_err(damaged)? {
            let encoding = encoding(piece.encoding, name, of, whose)?;
            let bytes = whose.row(piece.held, of, || format!("field `{name}`"))?;
            found.push(Segment::new(name.to_owned(), encoding, items(piece), bytes.into_owned()));
        }
    }
    found.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(found.into())
}
