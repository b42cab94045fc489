//! Pruning: checkpoints go, then the segments that no kept one sees. Blocks of which something goes are written anew;
//! others stay as they are.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use graph_engine::{Encoding, Keep, Place};

use super::Writer;
use crate::block::{Builder, Damaged, Draft, Group, Held, Parent, Position, Record};
use crate::error::Failed;
use crate::{keys, read};

/// Everything of a place, by number.
type Records<'a> = BTreeMap<i64, Record<'a>>;

/// A field that a record wrote.
type Wrote = (i64, String);

impl Writer {
    pub(super) fn prune(&mut self, place: &Place, keep: Keep) -> Result<u64, Failed> {
        self.heads.remove(place);
        let Some(space) = read::space(&self.connection, place)? else { return Ok(0) };
        let mut blocks = read::Blocks::new(&self.connection, space.number, &place.thread);
        let whose = blocks.whose;
        let Some(head) = read::head(&mut blocks)? else { return Ok(0) };
        let all = blocks.into_all()?;
        let mut records = Records::new();
        for loaded in &all {
            loaded.whole.map_err(|damaged| whose.damaged(loaded.first, damaged))?;
            for slot in &loaded.slots {
                let record = loaded.view().record(slot).map_err(|damaged| whose.damaged(slot.number, damaged))?;
                records.insert(slot.number, record);
            }
        }
        let kept = choose(&records, head, keep);
        let dropped: Vec<i64> = checkpoints(&records).filter(|number| !kept.contains(number)).collect();
        if dropped.is_empty() {
            return Ok(0);
        }
        let mut blocks = read::Blocks::new(&self.connection, space.number, &place.thread);
        let mut needed = HashSet::new();
        let mut behind_gaps = BTreeMap::new();
        let damaged = |number| whose.damaged(number, Damaged("what was added to"));
        for number in &kept {
            let record = &records[number];
            let parent = record.header.as_ref().map_or(Parent::None, |header| header.parent);
            if matches!(parent, Parent::Back(back) if kept.contains(&(number - back))) {
                // What else it sees its parent sees too.
                for group in &record.groups {
                    mark(&records, &mut needed, *number, group.name).map_err(damaged)?;
                }
                continue;
            }
            let (fields, _) = read::directory(&mut blocks, *number, 0)?;
            for (field, newest) in &fields {
                mark(&records, &mut needed, *newest, field).map_err(damaged)?;
            }
            if let Parent::Back(back) = parent {
                let id = records.get(&(number - back)).and_then(|parent| parent.header.as_ref());
                behind_gaps.insert(*number, (id.ok_or_else(|| damaged(*number))?.id, fields));
            }
        }
        let mut changed: BTreeSet<i64> = behind_gaps.keys().copied().collect();
        let mut freed = Vec::new();
        for (number, record) in records.iter_mut().filter(|(number, _)| !kept.contains(number)) {
            let had = record.header.take();
            if let Some(Position::Large(large)) = had.as_ref().map(|header| header.position) {
                freed.push(large);
            }
            if strip(*number, record, &needed, &mut freed) || had.is_some() {
                changed.insert(*number);
            }
        }
        for (number, (id, fields)) in &behind_gaps {
            if let Some(header) = records.get_mut(number).and_then(|record| record.header.as_mut()) {
                header.parent = Parent::Pruned(*id);
                header.directory = Some(fields.iter().map(|(name, newest)| (name.as_str(), number - newest)).collect());
            }
        }
        self.rewrite(space.number, &all, &records, &changed)?;
        for large in freed {
            let key = keys::key(space.number, large)?;
            self.connection.prepare_cached("DELETE FROM large WHERE key = ?1")?.execute([key])?;
        }
        self.unindex(space, &all, &dropped)?;
        Ok(dropped.len() as u64)
    }

    /// Writes the blocks anew in which a record has changed; neighbours of them come together.
    fn rewrite(
        &self,
        space: i64,
        all: &[read::Loaded],
        records: &Records<'_>,
        changed: &BTreeSet<i64>,
    ) -> Result<(), Failed> {
        let (mut open, mut draft): (Option<Builder>, Draft) = Default::default();
        for loaded in all {
            let changes = loaded.slots.iter().any(|slot| changed.contains(&slot.number));
            if !changes {
                if let Some(full) = open.take() {
                    self.insert_block(space, &full)?;
                }
                continue;
            }
            let key = keys::key(space, loaded.first)?;
            self.connection.prepare_cached("DELETE FROM blocks WHERE key = ?1")?.execute([key])?;
            for slot in &loaded.slots {
                let Some(record) = records.get(&slot.number) else { continue };
                if record.header.is_none() && record.groups.is_empty() {
                    continue;
                }
                if open.as_mut().is_some_and(|open| open.push(record, &mut draft)) {
                    continue;
                }
                let mut next = Builder::new(slot.number);
                next.push(record, &mut draft);
                if let Some(full) = open.replace(next) {
                    self.insert_block(space, &full)?;
                }
            }
        }
        open.map_or(Ok(()), |last| self.insert_block(space, &last))
    }

    fn unindex(&self, space: read::Space, all: &[read::Loaded], dropped: &[i64]) -> Result<(), Failed> {
        let mut delete =
            self.connection.prepare_cached("DELETE FROM ids WHERE space = ?1 AND prefix = ?2 AND number = ?3")?;
        let dropped: HashSet<i64> = dropped.iter().copied().filter(|number| *number <= space.indexed).collect();
        for loaded in all {
            for slot in loaded.slots.iter().filter(|slot| dropped.contains(&slot.number)) {
                if let Some(id) = loaded.view().id(slot) {
                    delete.execute([space.number, keys::prefix(id), slot.number])?;
                }
            }
        }
        Ok(())
    }
}

fn checkpoints(records: &Records<'_>) -> impl Iterator<Item = i64> {
    records.iter().filter(|(_, record)| record.header.is_some()).map(|(number, _)| *number)
}

/// The numbers of what is kept.
fn choose(records: &Records<'_>, head: i64, keep: Keep) -> BTreeSet<i64> {
    let header = |number: i64| records.get(&number).and_then(|record| record.header.as_ref());
    match keep {
        Keep::Since(time) => checkpoints(records)
            .filter(|number| *number == head || header(*number).is_some_and(|header| header.time_ms >= time))
            .collect(),
        Keep::Last(count) => {
            let parent = |number: &i64| match header(*number)?.parent {
                Parent::Back(back) if back > 0 => Some(number - back),
                _ => None,
            };
            std::iter::successors(Some(head), parent).take(count.max(1)).collect()
        }
        // A kind of pruning that was added later keeps everything here until it is written.
        _ => checkpoints(records).collect(),
    }
}

fn is_whole(code: u8) -> bool {
    // What is no encoding is kept, and refused by whoever reads it.
    Encoding::from_code(code).is_some_and(Encoding::is_whole)
}

/// Notes that a field is needed as a record wrote it, and what that was added to.
fn mark(records: &Records<'_>, needed: &mut HashSet<Wrote>, number: i64, field: &str) -> Result<(), i64> {
    let mut number = number;
    while needed.insert((number, field.to_owned())) {
        let groups = &records.get(&number).ok_or(number)?.groups;
        let group = groups.iter().find(|group| group.name == field).ok_or(number)?;
        if group.back == 0 || group.pieces.iter().any(|piece| is_whole(piece.encoding)) {
            break;
        }
        number -= group.back;
    }
    Ok(())
}

/// Takes out of a pruned record what nobody needs. `true` if that was something.
fn strip(number: i64, record: &mut Record<'_>, needed: &HashSet<Wrote>, freed: &mut Vec<i64>) -> bool {
    let before = freed.len();
    let mut gone = false;
    let mut free = |group: &Group<'_>, pieces: usize| {
        gone |= pieces > 0;
        freed.extend(group.pieces[..pieces].iter().filter_map(|piece| match piece.held {
            Held::Large(large) => Some(large),
            Held::Here(_) => None,
        }));
    };
    record.groups.retain_mut(|group| {
        if !needed.contains(&(number, group.name.to_owned())) {
            free(group, group.pieces.len());
            return false;
        }
        // Nothing before the last base of one record matters.
        let base = group.pieces.iter().rposition(|piece| is_whole(piece.encoding)).unwrap_or(0);
        free(group, base);
        group.pieces.drain(..base);
        true
    });
    gone || freed.len() > before
}
