//! The tables, and how a file comes to have them.
//!
//! - A place is a thread and a namespace; its space is a number that stands in for both. Its checkpoints are numbered from
//!   1, the newest one is its head.
//! - A block is a run of records of a place, with the fields that each wrote. Its key is `space << 32 | number of the first
//!   record`, so a place lies together in the file and is read in order. A commit writes to the last block of its place
//!   and touches nothing else.
//! - Large values are rows of their own, with keys of the same form.
//! - Checkpoints are found by their ids in an index that is written for hundreds at once: a thread's newest ones are
//!   looked for in its last blocks.

mod old;

use std::time::{Duration, Instant};

use graph_engine::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::{Failed, sql};
use crate::options::SqliteOptions;

/// `gEng`: says whose file it is.
const APPLICATION: i32 = 0x6745_6e67;

/// What a new file is made of.
const TABLES: &str = "
    CREATE TABLE places (
        thread TEXT NOT NULL,
        namespace TEXT NOT NULL,
        space INTEGER NOT NULL,
        indexed INTEGER NOT NULL,
        due_ms INTEGER,
        PRIMARY KEY (thread, namespace)
    ) WITHOUT ROWID;
    CREATE INDEX places_due ON places (due_ms) WHERE due_ms IS NOT NULL;
    CREATE TABLE blocks (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE large (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE ids (
        space INTEGER NOT NULL,
        prefix INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (space, prefix, number)
    ) WITHOUT ROWID;
";

/// Results of single tasks: the same in both versions.
const SAVED: &str = "
    CREATE TABLE saved (
        space INTEGER NOT NULL,
        step INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        name TEXT NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (space, step, rank, name)
    ) WITHOUT ROWID;
";

/// The version that this program writes.
const KNOWN: i64 = 2;

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
    // In this order: whoever makes the file meanwhile makes both at once.
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
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
    if done == KNOWN {
        return Ok(Ok(()));
    }
    transaction.execute_batch(TABLES)?;
    match done {
        0 => transaction.execute_batch(SAVED)?,
        // A row for each checkpoint and segment, and tables for what stood in for names.
        _ => {
            if let Err(failed) = old::convert(&transaction) {
                return match failed {
                    Failed::Refused(error) => Ok(Err(error)),
                    Failed::Sql(error) => Err(error),
                };
            }
        }
    }
    transaction.execute("INSERT INTO migrations VALUES (?1, ?2)", (KNOWN, TABLES))?;
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
