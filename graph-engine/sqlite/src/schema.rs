//! The tables, and how a file comes to have them.
//!
//! - A space is a thread and a namespace. Its checkpoints are numbered from 1; the newest one is its head. A checkpoint's
//!   key is `space << 32 | number`, so a space lies together in the file and is read in order.
//! - A branch is a run of checkpoints without a fork. A series is one field in one branch: its segments have the key
//!   `series << 32 | number of the checkpoint`, so the last base of a field and what follows it are one range.
//! - Numbers of threads, turns and fields stand in for their names, so that rows are small.
//!
//! A commit adds a checkpoint and the segments it changed and touches nothing else. Pruning drops segments that no kept
//! checkpoint sees; it never rewrites one.

use std::time::{Duration, Instant};

use graph_engine::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::sql;
use crate::options::SqliteOptions;

/// `gEng`: says whose file it is.
const APPLICATION: i32 = 0x6745_6e67;

/// Each brings a file from the version that is its place to the next. Never change one that was released.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE spaces (
        space INTEGER PRIMARY KEY,
        thread TEXT NOT NULL,
        namespace TEXT NOT NULL,
        due_ms INTEGER,
        UNIQUE (thread, namespace)
    );
    CREATE INDEX spaces_due ON spaces (due_ms) WHERE due_ms IS NOT NULL;
    CREATE TABLE turns (turn INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL, tags TEXT);
    CREATE INDEX turns_of_space ON turns (space, name);
    CREATE TABLE branches (branch INTEGER PRIMARY KEY, space INTEGER NOT NULL, parent INTEGER, fork INTEGER);
    CREATE INDEX branches_of_space ON branches (space);
    CREATE TABLE series (
        series INTEGER PRIMARY KEY,
        branch INTEGER NOT NULL,
        field TEXT NOT NULL,
        UNIQUE (branch, field)
    );
    CREATE TABLE checkpoints (
        key INTEGER PRIMARY KEY,
        id BLOB NOT NULL,
        back INTEGER,
        pruned_parent BLOB,
        span INTEGER,
        branch INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        step INTEGER NOT NULL,
        time_ms INTEGER NOT NULL,
        kind TEXT,
        due_ms INTEGER,
        position BLOB NOT NULL
    );
    CREATE INDEX checkpoints_by_id ON checkpoints (substr(id, 1, 8));
    CREATE TABLE segments (
        key INTEGER PRIMARY KEY,
        encoding INTEGER NOT NULL,
        first INTEGER NOT NULL,
        items INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
    CREATE TABLE saved (
        space INTEGER NOT NULL,
        step INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        name TEXT NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (space, step, rank, name)
    ) WITHOUT ROWID;
"];

/// The version that this program writes.
const KNOWN: i64 = MIGRATIONS.len() as i64;

/// Brings a connection that writes, and its file, to where this program wants them.
pub(crate) fn prepare(connection: &mut Connection, options: &SqliteOptions, file: &str) -> Result<(), StoreError> {
    let all = format!("(all of `{file}`)");
    let failed = |error| sql(error, &all);
    settings(connection, options).map_err(failed)?;
    refuse_others(connection, file).map_err(failed)??;
    wal(connection, options.busy_timeout).map_err(failed)?;
    migrate(connection, file).map_err(failed)??;
    if let Some(pages) = options.max_pages {
        connection.pragma_update(None, "max_page_count", pages).map_err(failed)?;
    }
    Ok(())
}

/// What every connection is set to.
pub(crate) fn settings(connection: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "synchronous", options.synchronous.as_str())?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // A damaged or hostile file must not run anything.
    connection.pragma_update(None, "trusted_schema", false)
}

/// A file that is somebody else's stays as it is.
fn refuse_others(connection: &Connection, file: &str) -> rusqlite::Result<Result<(), StoreError>> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = application == 0 && tables == 0;
    Ok(if empty || application == APPLICATION {
        Ok(())
    } else {
        Err(StoreError::unavailable(format!(
            "`{file}` is a database of another program; give the store a file of its own"
        )))
    })
}

/// WAL mode is kept in the file. Whoever makes the file may be held up by another one who does the same.
fn wal(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    let since = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && since.elapsed() < timeout => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

fn migrate(connection: &mut Connection, file: &str) -> rusqlite::Result<Result<(), StoreError>> {
    if version(connection)? == Some(KNOWN) {
        return Ok(Ok(()));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, statements TEXT NOT NULL)",
    )?;
    // Another process may have been faster.
    let done = version(&transaction)?.unwrap_or(0);
    if done > KNOWN {
        return Ok(Err(StoreError::unavailable(format!(
            "`{file}` has schema version {done}, this program knows {KNOWN}; open it with the newer program that wrote it"
        ))));
    }
    for (at, statements) in MIGRATIONS.iter().enumerate().skip(done as usize) {
        transaction.execute_batch(statements)?;
        transaction.execute("INSERT INTO migrations VALUES (?1, ?2)", (at as i64 + 1, statements))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()?;
    Ok(Ok(()))
}

/// The version of the schema, or `None` for a new file.
fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let known: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'",
        [],
        |row| row.get(0),
    )?;
    if known == 0 {
        return Ok(None);
    }
    connection.query_row("SELECT max(version) FROM migrations", [], |row| row.get(0))
}
