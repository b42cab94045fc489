//! One commit: a checkpoint, its segments, nothing else.

use std::collections::HashMap;

use graph_engine::{CheckpointId, CheckpointKind, Commit, Place, StoreError};
use graph_engine_rows::encode;
use rusqlite::{OptionalExtension, params};

use super::{Head, Writer};
use crate::error::Failed;
use crate::{keys, read};

impl Writer {
    /// The end of a place, if there is one.
    pub(super) fn head(&mut self, place: &Place) -> rusqlite::Result<Option<Head>> {
        if let Some(head) = self.heads.remove(place) {
            return Ok(Some(head));
        }
        let Some(space) = read::space(&self.connection, place)? else { return Ok(None) };
        let Some(found) = read::head(&self.connection, space)? else { return Ok(None) };
        let due = self
            .connection
            .prepare_cached("SELECT due_ms IS NOT NULL FROM spaces WHERE space = ?1")?
            .query_row([space], |row| row.get(0))?;
        let (number, id, branch) = (found.number(), found.id, found.branch);
        let series = HashMap::new();
        Ok(Some(Head { space, number, id, branch, due, saved: true, turn: None, series, all_series: false, ids: None }))
    }

    pub(super) fn commit(&mut self, place: &Place, commit: &Commit) -> Result<(), Failed> {
        let head = self.head(place)?;
        let checked = self.check(place, commit, head.as_ref());
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
        if parent != Some((head.number, head.branch)) {
            head.branch = self.branch(head.space, parent)?;
            head.series.clear();
            head.all_series = true;
        }
        // A field with several segments takes a number for each.
        let span = widest(commit);
        let number = head.number + span;
        let back = parent.map(|(parent, _)| number - parent);
        self.insert(&mut head, number, span, back, commit)?;
        self.segments(&mut head, number, span, commit)?;
        if std::mem::take(&mut head.saved) {
            self.connection.prepare_cached("DELETE FROM saved WHERE space = ?1")?.execute([head.space])?;
        }
        if head.due || commit.due_ms.is_some() {
            self.connection
                .prepare_cached("UPDATE spaces SET due_ms = ?2 WHERE space = ?1")?
                .execute(params![head.space, commit.due_ms.map(|due| due as i64)])?;
            head.due = commit.due_ms.is_some();
        }
        head.number = number;
        head.note(commit.id);
        self.remember(place, head);
        Ok(())
    }

    /// Whether it may be stored: `None` if it is there already, else its parent's number and branch.
    fn check(&self, place: &Place, commit: &Commit, head: Option<&Head>) -> Result<Option<Option<(i64, i64)>>, Failed> {
        let known = match head {
            Some(Head { ids: Some(ids), .. }) if !ids.contains(&commit.id) => None,
            Some(head) => read::find(&self.connection, head.space, commit.id)?,
            None => None,
        };
        if let Some(known) = known {
            return self.repeated(&known, place, commit).map(|()| None);
        }
        let newest = head.map(|head| head.id);
        if newest != commit.parent && !commit.fork {
            let show = |id: Option<CheckpointId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
            let why = format!("the head is {}, the commit follows {}", show(newest), show(commit.parent));
            return Err(StoreError::conflict(&*place.thread, why).into());
        }
        let parent = match (head, commit.parent) {
            (_, None) => None,
            (Some(head), Some(id)) if head.id == id => Some((head.number, head.branch)),
            (Some(head), Some(id)) => {
                read::find(&self.connection, head.space, id)?.map(|found| (found.number(), found.branch))
            }
            (None, Some(_)) => None,
        };
        if parent.is_none() && commit.parent.is_some() {
            return Err(StoreError::conflict(&*place.thread, "the parent of the commit is not stored").into());
        }
        Ok(Some(parent))
    }

    /// A commit that is known already: the same content is a success, other content a conflict.
    fn repeated(&self, known: &read::Found, place: &Place, commit: &Commit) -> Result<(), Failed> {
        let stored = read::row(&self.connection, place, commit.id)?;
        let own = read::own(&self.connection, known, &place.thread)?;
        let mut wanted: Vec<_> = commit.fields.iter().collect();
        wanted.sort_by(|one, two| one.name.cmp(&two.name));
        let same = stored
            .is_some_and(|stored| stored.parent == commit.parent && stored.position() == commit.position())
            && own.len() == wanted.len()
            && own.iter().zip(wanted).all(|(stored, new)| {
                stored.name == new.name && stored.encoding == new.encoding && stored.bytes == commit.field_bytes(new)
            });
        if same {
            Ok(())
        } else {
            let why = format!("checkpoint {} has other content", commit.id);
            Err(StoreError::conflict(&*place.thread, why).into())
        }
    }

    /// A new place.
    fn first(&self, place: &Place) -> Result<Head, Failed> {
        let mut insert = self.connection.prepare_cached("INSERT INTO spaces (thread, namespace) VALUES (?1, ?2)")?;
        let space = insert.insert(params![&*place.thread, &*place.namespace])?;
        let id = CheckpointId::default();
        let (series, ids) = (HashMap::new(), Some(Vec::new()));
        let head = Head {
            space,
            number: 0,
            id,
            branch: 0,
            due: false,
            saved: false,
            turn: None,
            series,
            all_series: false,
            ids,
        };
        Ok(head)
    }

    pub(super) fn branch(&self, space: i64, parent: Option<(i64, i64)>) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("INSERT INTO branches (space, parent, fork) VALUES (?1, ?2, ?3)")?
            .insert(params![space, parent.map(|(_, branch)| branch), parent.map(|(number, _)| number)])
    }

    fn insert(
        &self,
        head: &mut Head,
        number: i64,
        span: i64,
        back: Option<i64>,
        commit: &Commit,
    ) -> Result<(), Failed> {
        let turn = self.turn(head, commit)?;
        let kind = (commit.kind != CheckpointKind::Step).then(|| commit.kind.as_str());
        self.connection
            .prepare_cached(
                "INSERT INTO checkpoints (key, id, back, span, branch, turn, step, time_ms, kind, due_ms, position)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                keys::key(head.space, number)?,
                commit.id.to_bytes(),
                back,
                (span > 1).then_some(span),
                head.branch,
                turn,
                commit.step as i64,
                commit.time_ms as i64,
                kind,
                commit.due_ms.map(|due| due as i64),
                encode(self.format, commit.position()),
            ])?;
        Ok(())
    }

    /// The number of a turn with its tags.
    fn turn(&self, head: &mut Head, commit: &Commit) -> Result<i64, Failed> {
        if let Some((name, tags, turn)) = &head.turn
            && *name == commit.turn
            && *tags == commit.tags
        {
            return Ok(*turn);
        }
        let text = match commit.tags.is_empty() {
            true => None,
            // Texts by texts: that can always be written.
            false => Some(serde_json::to_string(&*commit.tags).unwrap_or_default()),
        };
        let known = match head.number {
            // A new place has none.
            0 => None,
            _ => self
                .connection
                .prepare_cached("SELECT turn FROM turns WHERE space = ?1 AND name = ?2 AND tags IS ?3")?
                .query_row(params![head.space, &*commit.turn, text], |row| row.get(0))
                .optional()?,
        };
        let turn = match known {
            Some(turn) => turn,
            None => self
                .connection
                .prepare_cached("INSERT INTO turns (space, name, tags) VALUES (?1, ?2, ?3)")?
                .insert(params![head.space, &*commit.turn, text])?,
        };
        head.turn = Some((commit.turn.clone(), commit.tags.clone(), turn));
        Ok(turn)
    }

    fn segments(&self, head: &mut Head, number: i64, span: i64, commit: &Commit) -> Result<(), Failed> {
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO segments (key, encoding, first, items, bytes) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for (at, field) in commit.fields.iter().enumerate() {
            let series = match head.series.get(&*field.name) {
                Some(series) => *series,
                None => {
                    let series = match head.all_series {
                        true => self.new_series(head.branch, &field.name)?,
                        false => self.series(head.branch, &field.name)?,
                    };
                    head.series.insert(field.name.to_string(), series);
                    series
                }
            };
            // The last segment of a field has the checkpoint's own number.
            let later = match span {
                1 => 0,
                _ => commit.fields[at + 1..].iter().filter(|other| other.name == field.name).count() as i64,
            };
            insert.execute(params![
                keys::key(series, number - later)?,
                field.encoding.code(),
                field.items.start as i64,
                field.items.end.wrapping_sub(field.items.start) as i64,
                encode(self.format, commit.field_bytes(field)),
            ])?;
        }
        Ok(())
    }

    pub(super) fn series(&self, branch: i64, field: &str) -> rusqlite::Result<i64> {
        let known = self
            .connection
            .prepare_cached("SELECT series FROM series WHERE branch = ?1 AND field = ?2")?
            .query_row(params![branch, field], |row| row.get(0))
            .optional()?;
        match known {
            Some(series) => Ok(series),
            None => self.new_series(branch, field),
        }
    }

    fn new_series(&self, branch: i64, field: &str) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("INSERT INTO series (branch, field) VALUES (?1, ?2)")?
            .insert(params![branch, field])
    }
}

/// How many segments the field has that has the most of them.
fn widest(commit: &Commit) -> i64 {
    if commit.fields.len() < 2 {
        return 1;
    }
    let mut counts: HashMap<&str, i64> = HashMap::new();
    commit.fields.iter().for_each(|field| *counts.entry(&field.name).or_default() += 1);
    counts.into_values().max().unwrap_or(1)
}
