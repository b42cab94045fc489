//! One commit: a record in the last block of its place, nothing else.

use std::collections::HashMap;

use graph_engine::{Commit, Encoding, Place, StoreError};
use graph_engine_rows::{encode, encode_into};
use rusqlite::params;

use super::Writer;
use super::head::Head;
use crate::block::{Builder, Group, Header, Held, Parent, Piece, Position, Record};
use crate::error::Failed;
use crate::{keys, read};

/// How many records may be looked at to find out which fields a checkpoint sees, if it sees few. For more fields it is
/// twice as many as there are fields: so the directory costs each commit a little, and a load what the state holds.
const LOOKS: usize = 16;

/// How many checkpoints are put into the index by id at once. In the order of their ids they are spread over it, so
/// fewer at a time would touch a page each.
const INDEXED: usize = 256;

impl Writer {
    pub(crate) fn commit(&mut self, place: &Place, commit: &Commit) -> Result<(), Failed> {
        let head = self.head(place)?;
        let checked = self.check(place, commit, head.as_deref());
        let parent = match checked {
            Ok(Some(parent)) => parent,
            // Nothing is written: what is known of the place stays true.
            done => {
                head.into_iter().for_each(|head| self.remember(place, head));
                return done.map(drop);
            }
        };
        let mut head = match head {
            Some(head) => head,
            None => self.first(place)?,
        };
        if parent != Some(head.number) {
            (head.fields, head.looks) = match parent {
                None => (HashMap::new(), 0),
                Some(parent) => {
                    let mut blocks = read::Blocks::new(&self.connection, head.space.number, &place.thread);
                    let (fields, looks) = read::directory(&mut blocks, parent, 0)?;
                    (fields.into_iter().collect(), looks)
                }
            };
        }
        self.record(&mut head, parent, commit)?;
        if std::mem::take(&mut head.saved) {
            // A sum is no parameter, whose every new value would let SQLite plan the statement anew.
            self.connection.prepare_cached("DELETE FROM saved WHERE space = ?1 + 0")?.execute([head.space.number])?;
        }
        if head.space.due || commit.due_ms.is_some() {
            self.connection
                .prepare_cached("UPDATE places SET due_ms = ?3 WHERE thread = ?1 AND namespace = ?2")?
                .execute(params![&*place.thread, &*place.namespace, commit.due_ms.map(|due| due as i64)])?;
            head.space.due = commit.due_ms.is_some();
        }
        if head.tail.len() >= INDEXED {
            self.index(place, &mut head)?;
        }
        self.remember(place, head);
        Ok(())
    }

    /// Whether it may be stored: `None` if it is there already, else its parent's number.
    fn check(&self, place: &Place, commit: &Commit, head: Option<&Head>) -> Result<Option<Option<i64>>, Failed> {
        let Some(head) = head else {
            return match commit.parent {
                None => Ok(Some(None)),
                Some(_) if !commit.fork => Err(not_the_head(place, None, commit)),
                Some(_) => Err(no_parent(place)),
            };
        };
        let mut blocks = read::Blocks::new(&self.connection, head.space.number, &place.thread);
        let number_of = |blocks: &mut read::Blocks<'_>, id| match head.tail.iter().find(|(known, _)| *known == id) {
            Some((_, number)) => Ok(Some(*number)),
            None if head.space.indexed == 0 => Ok(None),
            None => read::indexed(blocks, head.space, id),
        };
        if let Some(number) = number_of(&mut blocks, commit.id)? {
            return match read::same(&mut blocks, number, commit)? {
                true => Ok(None),
                false => Err(read::other_content(&place.thread, commit.id).into()),
            };
        }
        if Some(head.id) != commit.parent && !commit.fork {
            return Err(not_the_head(place, Some(head), commit));
        }
        match commit.parent {
            None => Ok(Some(None)),
            Some(id) if id == head.id => Ok(Some(Some(head.number))),
            Some(id) => match number_of(&mut blocks, id)? {
                Some(parent) => Ok(Some(Some(parent))),
                None => Err(no_parent(place)),
            },
        }
    }

    fn record(&mut self, head: &mut Head, parent: Option<i64>, commit: &Commit) -> Result<(), Failed> {
        let (number, space) = (head.number + 1, head.space.number);
        // All rows behind each other, each with its end.
        let (mut rows, mut ends) =
            (Vec::with_capacity(commit.bytes.len() + 16), Vec::with_capacity(commit.fields.len()));
        for field in &commit.fields {
            encode_into(self.format, commit.field_bytes(field), &mut rows);
            ends.push(rows.len());
        }
        let mut groups: Vec<Group<'_>> = Vec::with_capacity(ends.len());
        let mut group_of: HashMap<&str, usize> = HashMap::new();
        let mut start = 0;
        for (field, end) in commit.fields.iter().zip(ends) {
            let held = self.hold(space, &mut head.large, &rows[start..end])?;
            start = end;
            let items = field.items.end.wrapping_sub(field.items.start);
            let piece = Piece { encoding: field.encoding.code(), first: field.items.start, items, held };
            let at = match commit.fields.len() {
                1 => groups.len(),
                _ => *group_of.entry(&field.name).or_insert(groups.len()),
            };
            if let Some(group) = groups.get_mut(at) {
                group.pieces.push(piece);
                continue;
            }
            let before = match head.fields.get_mut(&*field.name) {
                Some(newest) => std::mem::replace(newest, number),
                None => {
                    head.fields.insert(field.name.to_string(), number);
                    number
                }
            };
            let back = if Encoding::is_whole(field.encoding) { 0 } else { number - before };
            groups.push(Group { name: &field.name, back, pieces: vec![piece] });
        }
        let looks = head.looks + 1;
        let directory = (looks > LOOKS && looks > head.fields.len() * 2).then(|| {
            let mut fields: Vec<_> =
                head.fields.iter().map(|(name, newest)| (name.as_str(), number - newest)).collect();
            fields.sort_unstable();
            fields
        });
        head.looks = if directory.is_some() { 1 } else { looks };
        let position = commit.position();
        let row;
        let position = match Position::around(position, commit.step) {
            Some(position) => position,
            None => {
                row = encode(self.format, position);
                match self.hold(space, &mut head.large, &row)? {
                    Held::Here(row) => Position::Row(row),
                    Held::Large(number) => Position::Large(number),
                }
            }
        };
        // Texts by texts: that can always be written.
        let tags = (!commit.tags.is_empty()).then(|| serde_json::to_string(&*commit.tags).unwrap_or_default());
        let header = Header {
            id: commit.id,
            parent: parent.map_or(Parent::None, |parent| Parent::Back(number - parent)),
            step: commit.step,
            time_ms: commit.time_ms,
            kind: commit.kind.as_str(),
            due_ms: commit.due_ms,
            turn: &commit.turn,
            tags: tags.as_deref(),
            position,
            directory,
        };
        let record = Record { number, header: Some(header), groups };
        let begun = !head.block.is_empty();
        if begun && head.block.push(&record, &mut self.draft) {
            self.connection
                .prepare_cached("UPDATE blocks SET bytes = ?2 WHERE key = ?1")?
                .execute(params![keys::key(space, head.block.first)?, head.block.bytes()])?;
        } else {
            head.block = Builder::new(number);
            head.block.push(&record, &mut self.draft);
            self.insert_block(space, &head.block)?;
        }
        (head.number, head.id) = (number, commit.id);
        head.tail.push((commit.id, number));
        Ok(())
    }

    /// Puts the newest checkpoints into the index by id.
    fn index(&self, place: &Place, head: &mut Head) -> Result<(), Failed> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO ids (space, prefix, number) VALUES (?1, ?2, ?3)")?;
        // In the order in which they stand there.
        head.tail.sort_unstable_by_key(|(id, _)| keys::prefix(*id));
        for (id, number) in head.tail.drain(..) {
            insert.execute([head.space.number, keys::prefix(id), number])?;
        }
        head.space.indexed = head.number;
        self.connection
            .prepare_cached("UPDATE places SET indexed = ?3 WHERE thread = ?1 AND namespace = ?2")?
            .execute(params![&*place.thread, &*place.namespace, head.number])?;
        Ok(())
    }
}

fn not_the_head(place: &Place, head: Option<&Head>, commit: &Commit) -> Failed {
    let show = |id: Option<graph_engine::CheckpointId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let (head, parent) = (show(head.map(|head| head.id)), show(commit.parent));
    StoreError::conflict(&*place.thread, format!("the head is {head}, the commit follows {parent}")).into()
}

fn no_parent(place: &Place) -> Failed {
    StoreError::conflict(&*place.thread, "the parent of the commit is not stored").into()
}
