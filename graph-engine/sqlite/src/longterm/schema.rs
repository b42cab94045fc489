//! The tables of the long-term store. They have versions of their own, beside those of the checkpoints.

use rusqlite::{Connection, TransactionBehavior};

/// Each brings a file from the version that is its place to the next. Never change one that was released.
///
/// Words come from the engine as they are to be found, so the index takes them apart at spaces only: its tokenizer for
/// ASCII leaves letters of other scripts alone.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE memory_items (
        id INTEGER PRIMARY KEY,
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        ttl_ms INTEGER,
        expires_ms INTEGER,
        value TEXT NOT NULL,
        vectors BLOB,
        UNIQUE (namespace, key)
    );
    CREATE INDEX memory_items_by_expiry ON memory_items (expires_ms) WHERE expires_ms IS NOT NULL;
    CREATE VIRTUAL TABLE memory_words USING fts5 (
        words, content = '', contentless_delete = 1, detail = column, tokenize = 'ascii'
    );
"];

const KNOWN: i64 = MIGRATIONS.len() as i64;

/// The version of a file that a newer program wrote, or `None` once everything is there.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS memory_migrations (version INTEGER PRIMARY KEY, statements TEXT NOT NULL)",
    )?;
    let done: i64 =
        transaction.query_row("SELECT coalesce(max(version), 0) FROM memory_migrations", [], |row| row.get(0))?;
    if done > KNOWN {
        return Ok(Some(done));
    }
    for (at, statements) in MIGRATIONS.iter().enumerate().skip(done as usize) {
        transaction.execute_batch(statements)?;
        transaction.execute("INSERT INTO memory_migrations VALUES (?1, ?2)", (at as i64 + 1, statements))?;
    }
    transaction.commit()?;
    Ok(None)
}
