//! Changes of a file, made by one connection, several of them in one transaction.

mod commit;
mod copy;
mod delete;
mod prune;
mod save;

use std::collections::HashMap;
use std::sync::Arc;

use graph_engine::{CheckpointId, Commit, Keep, Name, Place, SavedResult, Tags};
use graph_engine_rows::Format;
use rusqlite::Connection;

use crate::error::Failed;

/// How many places the writer remembers.
const REMEMBERED: usize = 4_096;

/// How many checkpoints of a new place the writer knows by heart.
const KNOWN: usize = 32;

/// One change, with everything it needs: whoever asked for it may be gone.
#[derive(Debug)]
pub(crate) enum Change {
    Commit(Place, Commit),
    Save(Place, CheckpointId, Vec<SavedResult>),
    Prune(Place, Keep),
    Clear(Place),
    Copy(Name, Name),
    Delete(Name),
}

impl Change {
    /// The thread that it is about.
    pub(crate) fn thread(&self) -> &str {
        match self {
            Self::Commit(place, _) | Self::Save(place, ..) | Self::Prune(place, _) | Self::Clear(place) => {
                &place.thread
            }
            Self::Copy(thread, _) | Self::Delete(thread) => thread,
        }
    }
}

/// The connection that writes, and what it knows of places it wrote to.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) format: Format,
    heads: HashMap<Place, Head>,
    /// Changes when another connection has written: then nothing that is remembered counts.
    version: i64,
}

/// The end of a place, so that the next commit needs no look-up.
#[derive(Clone)]
pub(super) struct Head {
    space: i64,
    number: i64,
    id: CheckpointId,
    branch: i64,
    due: bool,
    /// Results may be saved after it.
    saved: bool,
    turn: Option<(Name, Arc<Tags>, i64)>,
    /// The series of the branch by field.
    series: HashMap<String, i64>,
    /// Fields that are not among them have none, because the branch was begun by this writer.
    all_series: bool,
    /// All checkpoints of a place that was begun by this writer, as long as they are few.
    ids: Option<Vec<CheckpointId>>,
}

impl Head {
    /// The checkpoint was stored here just now.
    fn note(&mut self, id: CheckpointId) {
        self.id = id;
        match &mut self.ids {
            Some(ids) if ids.len() < KNOWN => ids.push(id),
            ids => *ids = None,
        }
    }
}

impl Writer {
    pub(crate) fn new(connection: Connection, format: Format) -> Self {
        Self { connection, format, heads: HashMap::new(), version: 0 }
    }

    /// Begins a transaction that no other process can come into.
    pub(crate) fn begin(&mut self) -> rusqlite::Result<()> {
        if !self.connection.is_autocommit() {
            // Left behind by something that panicked.
            self.rollback();
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.version {
            self.heads.clear();
            self.version = version;
        }
        Ok(())
    }

    pub(crate) fn end(&mut self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// Undoes everything since `begin`. SQLite may have done so by itself.
    pub(crate) fn rollback(&mut self) {
        self.heads.clear();
        if !self.connection.is_autocommit() {
            // If it fails the next `begin` tries again.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Makes one change. What is counted or found comes back as a number.
    pub(crate) fn make(&mut self, change: &Change) -> Result<u64, Failed> {
        match change {
            Change::Commit(place, commit) => self.commit(place, commit).map(|()| 0),
            Change::Save(place, head, results) => self.save(place, *head, results).map(|()| 0),
            Change::Prune(place, keep) => self.prune(place, *keep),
            Change::Clear(place) => self.clear(place).map(u64::from),
            Change::Copy(from, to) => self.copy(from, to).map(|()| 0),
            Change::Delete(thread) => self.delete(thread).map(u64::from),
        }
    }

    fn remember(&mut self, place: &Place, head: Head) {
        if self.heads.len() >= REMEMBERED && !self.heads.contains_key(place) {
            self.heads.clear();
        }
        self.heads.insert(place.clone(), head);
    }
}
