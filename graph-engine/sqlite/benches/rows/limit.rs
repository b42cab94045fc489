//! The least that can be done by hand: a table of deltas, one row a commit, on the thread that asks.

use std::fs;

use graph_engine_sqlite::Synchronous;
use rusqlite::{Connection, params};
use tempfile::TempDir;

/// A file with the table of the limit.
pub(crate) struct Limit {
    pub(crate) connection: Connection,
    pub(crate) folder: TempDir,
}

impl Limit {
    pub(crate) fn new(synchronous: Synchronous) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = Connection::open(folder.path().join("limit.sqlite")).expect("a file");
        let mode = format!("{synchronous:?}");
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = WAL;
                 PRAGMA synchronous = {mode};
                 CREATE TABLE deltas (thread INTEGER, step INTEGER, bytes BLOB, PRIMARY KEY (thread, step)) WITHOUT ROWID;"
            ))
            .expect("a table");
        Self { connection, folder }
    }

    pub(crate) fn insert(&self, thread: u64, step: u64, delta: &[u8]) {
        self.connection
            .prepare_cached("INSERT INTO deltas VALUES (?1, ?2, ?3)")
            .expect("a statement")
            .execute(params![thread as i64, step as i64, delta])
            .expect("a row");
    }
}

/// So many commits of a delta of so many bytes.
pub(crate) fn commits(synchronous: Synchronous, steps: u64, bytes: usize) -> Box<dyn FnOnce()> {
    let limit = Limit::new(synchronous);
    let delta = vec![b'x'; bytes];
    Box::new(move || (0..steps).for_each(|step| limit.insert(1, step, &delta)))
}

/// How large a file of so many deltas is.
pub(crate) fn bytes(steps: u64, bytes: usize) -> u64 {
    let limit = Limit::new(Synchronous::Off);
    let delta = vec![b'x'; bytes];
    (0..steps).for_each(|step| limit.insert(1, step, &delta));
    let Limit { connection, folder } = limit;
    drop(connection);
    fs::metadata(folder.path().join("limit.sqlite")).expect("a file").len()
}
