//! Changes of a file, made by one connection, several of them in one transaction.

mod commit;
mod copy;
mod delete;
mod head;
mod prune;
mod save;

use std::collections::HashMap;

use graph_engine::{CheckpointId, Commit, Keep, Name, Place, SavedResult};
use graph_engine_rows::Format;
use rusqlite::{Connection, params};

use self::head::Head;
use crate::block::{Builder, Draft, Held, INLINE};
use crate::error::Failed;
use crate::keys;

/// How many places the writer remembers.
const REMEMBERED: usize = 2_048;

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

    /// The place that it goes on with.
    pub(crate) fn place(&self) -> Option<&Place> {
        match self {
            Self::Commit(place, _) | Self::Save(place, ..) => Some(place),
            Self::Prune(..) | Self::Clear(_) | Self::Copy(..) | Self::Delete(_) => None,
        }
    }
}

/// The connection that writes, and what it knows of places it wrote to.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) format: Format,
    heads: HashMap<Place, Box<Head>>,
    /// The highest number of a space that was given out.
    spaces: Option<i64>,
    /// Changes when another connection has written: then nothing that is remembered counts.
    version: i64,
    draft: Draft,
}

impl Writer {
    pub(crate) fn new(connection: Connection, format: Format) -> Self {
        Self { connection, format, heads: HashMap::new(), spaces: None, version: 0, draft: Draft::default() }
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
            self.forget();
            self.version = version;
        }
        Ok(())
    }

    pub(crate) fn end(&mut self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// Undoes everything since `begin`. SQLite may have done so by itself.
    pub(crate) fn rollback(&mut self) {
        self.forget();
        if !self.connection.is_autocommit() {
            // If it fails the next `begin` tries again.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn forget(&mut self) {
        self.heads.clear();
        self.spaces = None;
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

    fn remember(&mut self, place: &Place, head: Box<Head>) {
        if self.heads.len() >= REMEMBERED && !self.heads.contains_key(place) {
            self.heads.clear();
        }
        self.heads.insert(place.clone(), head);
    }

    /// The number of a new space, which none ever had. Every place has blocks, so the last of them has the highest one;
    /// unless it was deleted, which is written down.
    fn new_space(&mut self) -> Result<i64, Failed> {
        let highest = match self.spaces {
            Some(highest) => highest,
            None => {
                self.highest_space()?.max(self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
            }
        };
        self.spaces = Some(highest + 1);
        Ok(highest + 1)
    }

    /// The highest number of a space of which something is stored.
    fn highest_space(&self) -> rusqlite::Result<i64> {
        let mut query = self.connection.prepare_cached("SELECT coalesce(max(key), 0) >> 32 FROM blocks")?;
        query.query_row([], |row| row.get(0))
    }

    fn insert_block(&self, space: i64, block: &Builder) -> Result<(), Failed> {
        self.connection
            .prepare_cached("INSERT INTO blocks (key, bytes) VALUES (?1, ?2)")?
            .execute(params![keys::key(space, block.first)?, block.bytes()])?;
        Ok(())
    }

    /// Where a row is kept: in its block, or beside it. `last` is the last number of a large row that was given out.
    fn hold<'r>(&self, space: i64, last: &mut Option<i64>, row: &'r [u8]) -> Result<Held<'r>, Failed> {
        if row.len() <= INLINE {
            return Ok(Held::Here(row));
        }
        let before = match *last {
            Some(before) => before,
            None => {
                let (first, end) = keys::all(space).into_inner();
                let sql = "SELECT coalesce(max(key), ?1) FROM large WHERE key BETWEEN ?1 AND ?2";
                let key = self.connection.prepare_cached(sql)?.query_row([first, end], |row| row.get(0))?;
                keys::number(key)
            }
        };
        let number = before + 1;
        *last = Some(number);
        self.connection
            .prepare_cached("INSERT INTO large (key, bytes) VALUES (?1, ?2)")?
            .execute(params![keys::key(space, number)?, row])?;
        Ok(Held::Large(number))
    }
}
