//! A table of deltas, one row a super-step, on the thread that asks.

use graph_engine_sqlite::Synchronous;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::workloads::chat::{Msg, msg};
use crate::workloads::sqlite::folded;

/// A file with the table.
pub(crate) struct Deltas {
    pub(crate) connection: Connection,
    _folder: TempDir,
}

const INSERT: &str = "insert into cp values (?1, ?2, ?3)";

/// What each super-step of `ckpt_loop` writes: the counter and the message.
pub(crate) fn deltas(steps: u64) -> Vec<Vec<u8>> {
    (0..steps).map(delta).collect()
}

pub(crate) fn delta(step: u64) -> Vec<u8> {
    serde_json::to_vec(&(step, msg(step, 100))).expect("JSON")
}

impl Deltas {
    pub(crate) fn new(synchronous: Synchronous) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = Connection::open(folder.path().join("limit.sqlite")).expect("a file");
        connection
            .execute_batch(&format!(
                "pragma journal_mode = wal;
                 pragma synchronous = {synchronous:?};
                 create table cp (thread text, step integer, delta blob, primary key (thread, step)) without rowid"
            ))
            .expect("a table");
        Self { connection, _folder: folder }
    }

    /// A thread of so many deltas beside one row with the whole list.
    pub(crate) fn filled(synchronous: Synchronous, steps: u64) -> Self {
        let filled = Self::new(synchronous);
        filled.together(|| {
            (0..).zip(&deltas(steps)).for_each(|(step, delta)| filled.insert("t", step, delta));
            let all: Vec<Msg> = (0..steps).map(|i| msg(i, 100)).collect();
            filled.insert("snap", 1, &serde_json::to_vec(&all).expect("JSON"));
        });
        filled
    }

    pub(crate) fn insert(&self, thread: &str, step: u64, delta: &[u8]) {
        let mut insert = self.connection.prepare_cached(INSERT).expect("a statement");
        insert.execute(params![thread, step as i64, delta]).expect("a row");
    }

    /// One commit a row.
    pub(crate) fn each(&self, deltas: &[Vec<u8>]) {
        let mut insert = self.connection.prepare("insert into cp values ('t', ?1, ?2)").expect("a statement");
        for (step, delta) in (0_i64..).zip(deltas) {
            insert.execute(params![step, delta]).expect("a row");
        }
    }

    /// One commit for so many rows.
    pub(crate) fn in_groups(&self, deltas: &[Vec<u8>], size: usize) {
        let mut insert = self.connection.prepare("insert into cp values ('t', ?1, ?2)").expect("a statement");
        let mut step = 0_i64;
        for group in deltas.chunks(size) {
            self.together(|| {
                for delta in group {
                    insert.execute(params![step, delta]).expect("a row");
                    step += 1;
                }
            });
        }
    }

    /// Everything in one commit.
    pub(crate) fn together(&self, work: impl FnOnce()) {
        self.connection.execute_batch("begin").expect("begins");
        work();
        self.connection.execute_batch("commit").expect("commits");
    }

    /// The whole list of the newest snapshot.
    pub(crate) fn snapshot(&self) -> Vec<Msg> {
        let mut query = self.connection.prepare_cached("select delta from cp where thread = 'snap'").expect("SQL");
        let bytes: Vec<u8> = query.query_row([], |row| row.get(0)).expect("a row");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The ten newest deltas.
    pub(crate) fn newest(&self) -> Vec<(u64, Msg)> {
        let sql = "select step, delta from cp where thread = 't' order by step desc limit 10";
        let mut query = self.connection.prepare_cached(sql).expect("SQL");
        let rows = query.query_map([], |row| row.get::<_, Vec<u8>>(1)).expect("rows");
        rows.map(|bytes| serde_json::from_slice(&bytes.expect("a row")).expect("JSON")).collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        folded(&self.connection)
    }
}
