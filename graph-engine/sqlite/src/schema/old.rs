//! Files of the first version: a row for each checkpoint and each segment, with numbers instead of names.

use std::collections::{BTreeMap, HashMap, HashSet};

use graph_engine::{CheckpointId, Encoding, StoreError};
use graph_engine_rows::decode;
use rusqlite::{Connection, Row, params};

use crate::block::{Builder, Draft, Group, Header, Held, INLINE, Parent, Piece, Position, Record};
use crate::error::Failed;
use crate::keys;

/// Looks at so many records before there is a directory.
const LOOKS: usize = 16;

/// A checkpoint's row.
struct Checkpoint {
    id: CheckpointId,
    back: Option<i64>,
    pruned: Option<CheckpointId>,
    span: i64,
    branch: i64,
    turn: String,
    tags: Option<String>,
    step: u64,
    time_ms: u64,
    kind: Option<String>,
    due_ms: Option<u64>,
    position: Vec<u8>,
}

/// A segment's row without its bytes.
#[derive(Clone, Copy)]
struct Segment {
    key: i64,
    encoding: u8,
    first: u64,
    items: u64,
}

/// A run of checkpoints without a fork.
#[derive(Default)]
struct Branch {
    parent: Option<(i64, i64)>,
    /// By field the numbers of the records that wrote it.
    wrote: BTreeMap<String, Vec<i64>>,
}

/// What one number of a space was.
#[derive(Default)]
struct Entry {
    checkpoint: Option<Checkpoint>,
    branch: i64,
    fields: BTreeMap<String, Vec<Segment>>,
}

/// A place of the first version.
struct Place<'c> {
    connection: &'c Connection,
    space: i64,
    entries: BTreeMap<i64, Entry>,
    branches: HashMap<i64, Branch>,
    large: i64,
}

/// Takes everything over and drops the old tables.
pub(super) fn convert(connection: &Connection) -> Result<(), Failed> {
    let mut query = connection.prepare("SELECT space FROM spaces")?;
    let spaces: Vec<i64> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for space in spaces {
        connection
            .prepare_cached(
                "INSERT INTO places (thread, namespace, space, indexed, due_ms)
                 SELECT thread, namespace, space, 0, due_ms FROM spaces WHERE space = ?1",
            )?
            .execute([space])?;
        let mut place = Place::read(connection, space)?;
        place.write()?;
    }
    drop(query);
    connection.flush_prepared_statement_cache();
    connection.execute_batch(
        "DROP TABLE spaces; DROP TABLE turns; DROP TABLE branches; DROP TABLE series; DROP TABLE checkpoints;
         DROP TABLE segments;",
    )?;
    Ok(())
}

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<(i64, Checkpoint)> {
    let id = |at| row.get::<_, Option<[u8; 16]>>(at).map(|id| id.map(CheckpointId::from_bytes));
    let checkpoint = Checkpoint {
        id: id(1)?.unwrap_or_default(),
        back: row.get(2)?,
        pruned: id(3)?,
        span: row.get::<_, Option<i64>>(4)?.unwrap_or(1),
        branch: row.get(5)?,
        turn: row.get(6)?,
        tags: row.get(7)?,
        step: row.get::<_, i64>(8)? as u64,
        time_ms: row.get::<_, i64>(9)? as u64,
        kind: row.get(10)?,
        due_ms: row.get::<_, Option<i64>>(11)?.map(|due| due as u64),
        position: row.get(12)?,
    };
    Ok((keys::number(row.get(0)?), checkpoint))
}

impl<'c> Place<'c> {
    fn read(connection: &'c Connection, space: i64) -> Result<Self, Failed> {
        let mut place = Self { connection, space, entries: BTreeMap::new(), branches: HashMap::new(), large: 0 };
        let range = keys::all(space);
        let mut query = connection.prepare_cached(
            "SELECT c.key, c.id, c.back, c.pruned_parent, c.span, c.branch, t.name, t.tags, c.step, c.time_ms, c.kind,
                 c.due_ms, c.position
             FROM checkpoints c JOIN turns t ON t.turn = c.turn WHERE c.key BETWEEN ?1 AND ?2 ORDER BY c.key",
        )?;
        for read in query.query_map(params![range.start(), range.end()], checkpoint)? {
            let (number, checkpoint) = read?;
            let branch = checkpoint.branch;
            place.entries.insert(number, Entry { checkpoint: Some(checkpoint), branch, fields: BTreeMap::new() });
        }
        let mut query = connection.prepare_cached("SELECT branch, parent, fork FROM branches WHERE space = ?1")?;
        let mut rows = query.query([space])?;
        while let Some(row) = rows.next()? {
            let parent = row.get::<_, Option<i64>>(1)?.zip(row.get(2)?);
            place.branches.insert(row.get(0)?, Branch { parent, wrote: BTreeMap::new() });
        }
        place.check_branches()?;
        let branches: Vec<i64> = place.branches.keys().copied().collect();
        for branch in branches {
            place.segments(branch)?;
        }
        Ok(place)
    }

    /// Whoever goes back from a branch to those before it must come to an end.
    fn check_branches(&self) -> Result<(), Failed> {
        let mut ending: HashSet<i64> = HashSet::new();
        for branch in self.branches.keys() {
            let (mut passed, mut next) = (HashSet::new(), Some(*branch));
            while let Some(at) = next.filter(|at| !ending.contains(at)) {
                if !passed.insert(at) {
                    let sql = "SELECT thread FROM spaces WHERE space = ?1";
                    let thread: String = self.connection.query_row(sql, [self.space], |row| row.get(0))?;
                    let why = format!("branch {at} of its checkpoints comes after itself");
                    return Err(StoreError::corrupt(thread, why).into());
                }
                next = self.branches.get(&at).and_then(|branch| branch.parent).map(|(parent, _)| parent);
            }
            ending.extend(passed);
        }
        Ok(())
    }

    /// A checkpoint with several segments of a field had a number for each, the last one its own.
    fn segments(&mut self, branch: i64) -> Result<(), Failed> {
        let spans: Vec<(i64, i64)> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.branch == branch)
            .filter_map(|(number, entry)| entry.checkpoint.as_ref().map(|found| (*number, found.span)))
            .collect();
        let mut fields = self.connection.prepare_cached("SELECT series, field FROM series WHERE branch = ?1")?;
        let mut segments = self.connection.prepare_cached(
            "SELECT key, encoding, first, items FROM segments WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
        )?;
        let mut rows = fields.query([branch])?;
        while let Some(row) = rows.next()? {
            let (series, field): (i64, String) = (row.get(0)?, row.get(1)?);
            let range = keys::all(series);
            let mut found = segments.query(params![range.start(), range.end()])?;
            while let Some(row) = found.next()? {
                let key = row.get(0)?;
                let (first, items) = (row.get::<_, i64>(2)? as u64, row.get::<_, i64>(3)? as u64);
                let segment = Segment { key, encoding: row.get(1)?, first, items };
                let number = keys::number(key);
                let at = spans.partition_point(|(own, _)| *own < number);
                let owner = spans
                    .get(at)
                    .filter(|(own, span)| own.saturating_sub(*span) < number)
                    .map_or(number, |(own, _)| *own);
                let entry = self.entries.entry(owner).or_insert_with(|| Entry { branch, ..Entry::default() });
                entry.fields.entry(field.clone()).or_default().push(segment);
                let wrote = &mut self.branches.entry(branch).or_default().wrote;
                let numbers = wrote.entry(field.clone()).or_default();
                if numbers.last() != Some(&owner) {
                    numbers.push(owner);
                }
            }
        }
        Ok(())
    }

    /// The newest record of a branch or its ancestors that wrote a field, up to a number.
    fn newest(&self, branch: i64, field: &str, upto: i64) -> Option<i64> {
        let (mut branch, mut upto) = (self.branches.get(&branch)?, upto);
        loop {
            let wrote = branch.wrote.get(field);
            if let Some(found) = wrote.and_then(|all| all[..all.partition_point(|own| *own <= upto)].last()) {
                return Some(*found);
            }
            let (parent, fork) = branch.parent?;
            (branch, upto) = (self.branches.get(&parent)?, fork.min(upto));
        }
    }

    fn directory(&self, branch: i64, number: i64) -> BTreeMap<String, i64> {
        let mut names: Vec<&String> = Vec::new();
        let mut next = self.branches.get(&branch);
        while let Some(branch) = next {
            names.extend(branch.wrote.keys());
            next = branch.parent.and_then(|(parent, _)| self.branches.get(&parent));
        }
        names.into_iter().filter_map(|name| Some((name.clone(), self.newest(branch, name, number)?))).collect()
    }

    fn write(&mut self) -> Result<(), Failed> {
        let mut looks: HashMap<i64, usize> = HashMap::new();
        let (mut builder, mut draft): (Option<Builder>, Draft) = Default::default();
        let entries = std::mem::take(&mut self.entries);
        for (number, entry) in &entries {
            let mut rows = Vec::new();
            for segment in entry.fields.values().flatten() {
                rows.push(self.bytes(segment.key)?);
            }
            let mut held = Vec::new();
            for row in &rows {
                held.push(self.hold(row)?);
            }
            let mut held = held.into_iter();
            let groups = entry.fields.iter().map(|(name, segments)| {
                let is_whole = |code: u8| Encoding::from_code(code).is_some_and(Encoding::is_whole);
                let first_is_whole = segments.first().is_some_and(|segment| is_whole(segment.encoding));
                let before = self.newest(entry.branch, name, number - 1).filter(|_| !first_is_whole);
                let pieces = segments.iter().zip(&mut held).map(|(segment, held)| {
                    let Segment { encoding, first, items, .. } = *segment;
                    Piece { encoding, first, items, held }
                });
                Group { name, back: before.map_or(0, |before| number - before), pieces: pieces.collect() }
            });
            let groups: Vec<Group<'_>> = groups.collect();
            let mut directory = None;
            if let Some(checkpoint) = &entry.checkpoint {
                let far =
                    checkpoint.back.and_then(|back| looks.get(&number.wrapping_sub(back))).map_or(0, |far| *far) + 1;
                let fields =
                    (checkpoint.pruned.is_some() || far > LOOKS).then(|| self.directory(entry.branch, *number));
                directory = fields.filter(|fields| checkpoint.pruned.is_some() || far > fields.len() * 2);
                looks.insert(*number, if directory.is_some() { 1 } else { far });
            }
            let decoded = entry.checkpoint.as_ref().map(|found| decode(&found.position).unwrap_or_default());
            let header = match &entry.checkpoint {
                None => None,
                Some(found) => Some(Header {
                    id: found.id,
                    parent: match (found.back, found.pruned) {
                        (Some(back), _) => Parent::Back(back),
                        (None, Some(id)) => Parent::Pruned(id),
                        (None, None) => Parent::None,
                    },
                    step: found.step,
                    time_ms: found.time_ms,
                    kind: found.kind.as_deref().unwrap_or("step"),
                    due_ms: found.due_ms,
                    turn: &found.turn,
                    tags: found.tags.as_deref(),
                    position: match decoded.as_deref().and_then(|text| Position::around(text, found.step)) {
                        Some(position) => position,
                        None => match self.hold(&found.position)? {
                            Held::Here(row) => Position::Row(row),
                            Held::Large(number) => Position::Large(number),
                        },
                    },
                    directory: directory
                        .as_ref()
                        .map(|fields| fields.iter().map(|(name, at)| (name.as_str(), number - at)).collect()),
                }),
            };
            let record = Record { number: *number, header, groups };
            if !builder.as_mut().is_some_and(|builder| builder.push(&record, &mut draft)) {
                if let Some(full) = builder.replace(Builder::new(*number)) {
                    self.insert(&full)?;
                }
                builder.as_mut().map(|builder| builder.push(&record, &mut draft));
            }
        }
        if let Some(last) = &builder {
            self.insert(last)?;
        }
        self.index(&entries)
    }

    fn index(&self, entries: &BTreeMap<i64, Entry>) -> Result<(), Failed> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO ids (space, prefix, number) VALUES (?1, ?2, ?3)")?;
        for (number, entry) in entries {
            if let Some(checkpoint) = &entry.checkpoint {
                insert.execute([self.space, keys::prefix(checkpoint.id), *number])?;
            }
        }
        let last = entries.last_key_value().map_or(0, |(number, _)| *number);
        self.connection
            .prepare_cached("UPDATE places SET indexed = ?2 WHERE space = ?1")?
            .execute([self.space, last])?;
        Ok(())
    }

    fn bytes(&self, segment: i64) -> Result<Vec<u8>, Failed> {
        let mut query = self.connection.prepare_cached("SELECT bytes FROM segments WHERE key = ?1")?;
        Ok(query.query_row([segment], |row| row.get(0))?)
    }

    /// Where a row is kept: in the block, or beside it.
    fn hold<'r>(&mut self, row: &'r [u8]) -> Result<Held<'r>, Failed> {
        if row.len() <= INLINE {
            return Ok(Held::Here(row));
        }
        self.large += 1;
        self.connection
            .prepare_cached("INSERT INTO large (key, bytes) VALUES (?1, ?2)")?
            .execute(params![keys::key(self.space, self.large)?, row])?;
        Ok(Held::Large(self.large))
    }

    fn insert(&self, block: &Builder) -> Result<(), Failed> {
        self.connection
            .prepare_cached("INSERT INTO blocks (key, bytes) VALUES (?1, ?2)")?
            .execute(params![keys::key(self.space, block.first)?, block.bytes()])?;
        Ok(())
    }
}
