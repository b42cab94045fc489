//! Copies of threads, table by table.

use std::collections::HashMap;

use graph_engine::{Name, Place, StoreError};
use rusqlite::params;

use super::Writer;
use crate::error::Failed;
use crate::{keys, read};

impl Writer {
    pub(super) fn copy(&mut self, from: &Name, to: &Name) -> Result<(), Failed> {
        let namespaces = read::namespaces(&self.connection, from)?;
        if namespaces.is_empty() {
            return Err(StoreError::conflict(&**from, "the thread is not stored").into());
        }
        if !read::namespaces(&self.connection, to)?.is_empty() {
            return Err(StoreError::conflict(&**to, "the thread exists already").into());
        }
        for namespace in namespaces {
            let Some(old) = read::space(&self.connection, &Place::new(from, &namespace))? else { continue };
            let new = self
                .connection
                .prepare_cached(
                    "INSERT INTO spaces (thread, namespace, due_ms) SELECT ?2, namespace, due_ms FROM spaces WHERE space = ?1",
                )?
                .insert(params![old, &**to])?;
            self.copy_space(old, new)?;
        }
        Ok(())
    }

    fn copy_space(&self, old: i64, new: i64) -> Result<(), Failed> {
        self.connection.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS branch_of (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
             CREATE TEMP TABLE IF NOT EXISTS turn_of (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
             DELETE FROM temp.branch_of;
             DELETE FROM temp.turn_of;",
        )?;
        for turn in self.numbers("SELECT turn FROM turns WHERE space = ?1", old)? {
            let copy = self
                .connection
                .prepare_cached(
                    "INSERT INTO turns (space, name, tags) SELECT ?2, name, tags FROM turns WHERE turn = ?1",
                )?
                .insert([turn, new])?;
            self.connection.prepare_cached("INSERT INTO temp.turn_of VALUES (?1, ?2)")?.execute([turn, copy])?;
        }
        self.copy_branches(old, new)?;
        let (range, first) = (keys::all(old), keys::key(new, 0)?);
        self.connection
            .prepare_cached(
                "INSERT INTO checkpoints
                     (key, id, back, pruned_parent, span, branch, turn, step, time_ms, kind, due_ms, position)
                 SELECT c.key - ?1 + ?3, id, back, pruned_parent, span, b.new, t.new, step, time_ms, kind, due_ms, position
                 FROM checkpoints c JOIN temp.branch_of b ON b.old = c.branch JOIN temp.turn_of t ON t.old = c.turn
                 WHERE c.key BETWEEN ?1 AND ?2",
            )?
            .execute(params![range.start(), range.end(), first])?;
        self.connection
            .prepare_cached("INSERT INTO saved SELECT ?2, step, rank, name, bytes FROM saved WHERE space = ?1")?
            .execute([old, new])?;
        Ok(())
    }

    /// Branches come in the order in which they were made: a parent before its children.
    fn copy_branches(&self, old: i64, new: i64) -> Result<(), Failed> {
        let mut copies: HashMap<i64, i64> = HashMap::new();
        for branch in self.numbers("SELECT branch FROM branches WHERE space = ?1 ORDER BY branch", old)? {
            let (parent, fork): (Option<i64>, Option<i64>) = self
                .connection
                .prepare_cached("SELECT parent, fork FROM branches WHERE branch = ?1")?
                .query_row([branch], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let parent = parent.and_then(|parent| copies.get(&parent).copied());
            let copy = self.branch(new, fork.zip(parent))?;
            copies.insert(branch, copy);
            self.connection.prepare_cached("INSERT INTO temp.branch_of VALUES (?1, ?2)")?.execute([branch, copy])?;
            for series in self.numbers("SELECT series FROM series WHERE branch = ?1", branch)? {
                let twin = self
                    .connection
                    .prepare_cached(
                        "INSERT INTO series (branch, field) SELECT ?2, field FROM series WHERE series = ?1",
                    )?
                    .insert([series, copy])?;
                let (range, first) = (keys::all(series), keys::key(twin, 0)?);
                self.connection
                    .prepare_cached(
                        "INSERT INTO segments (key, encoding, first, items, bytes)
                         SELECT key - ?1 + ?3, encoding, first, items, bytes FROM segments WHERE key BETWEEN ?1 AND ?2",
                    )?
                    .execute(params![range.start(), range.end(), first])?;
            }
        }
        Ok(())
    }
}
