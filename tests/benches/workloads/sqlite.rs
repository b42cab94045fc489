//! `ckpt_loop` and its thread in a SQLite file.

use std::path::{Path, PathBuf};

use graph_engine::{Durability, Runner};
use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};
use rusqlite::Connection;
use tempfile::TempDir;

use super::chat::{self, Chat};

/// A store in a folder of its own, which goes with it.
pub(crate) struct Filed {
    pub(crate) store: SqliteStore,
    folder: TempDir,
}

/// The file of the store in a folder.
fn file(folder: &Path) -> PathBuf {
    folder.join("threads.sqlite")
}

impl Filed {
    pub(crate) fn new(synchronous: Synchronous, format: Format) -> Self {
        Self::open(SqliteOptions::new().synchronous(synchronous).format(format))
    }

    pub(crate) fn open(options: SqliteOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { store: options.open(file(folder.path())).expect("a store"), folder }
    }

    /// Adds a message in each super-step, and keeps each.
    pub(crate) fn growing(&self, durability: Durability) -> Runner<Chat> {
        chat::growing().store(self.store.clone()).durability(durability)
    }

    /// How large the file is with everything that its log holds.
    pub(crate) fn bytes(&self) -> u64 {
        folded(&Connection::open(file(self.folder.path())).expect("a file"))
    }
}

/// How large a file is after its log was folded into it.
pub(crate) fn folded(connection: &Connection) -> u64 {
    let number = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let held: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], number).expect("a pragma");
    assert_eq!(held, 0, "somebody holds the log");
    let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    connection.query_row(pages, [], number).expect("a size") as u64
}

/// A turn of so many super-steps on the thread `t`.
pub(crate) async fn grow(runner: &Runner<Chat>, steps: u64) {
    let end = super::turn(runner, Chat::update().limit(steps)).await;
    assert_eq!(end.state.messages.len() as u64, steps);
}
