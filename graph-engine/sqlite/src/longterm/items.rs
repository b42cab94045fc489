//! Steps about single items.

use graph_engine::longterm::backend::PreparedPut;
use graph_engine::longterm::{Item, LongTermError, Namespace};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::trouble::Trouble;

/// A number of the engine as the file keeps it.
pub(super) fn number(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// An item out of a row: namespace, key, value and the two times.
pub(super) fn item(row: &Row<'_>) -> Result<Item, Trouble> {
    let (path, key): (String, String) = (row.get(0)?, row.get(1)?);
    let corrupt = |why: String| LongTermError::corrupt(&path, &key, why);
    let namespace = Namespace::from_path(&path).map_err(|error| corrupt(error.to_string()))?;
    let value = row.get_ref(2)?.as_str().map_err(|error| corrupt(error.to_string()))?;
    let value = serde_json::from_str(value).map_err(|error| corrupt(format!("the value is no JSON: {error}")))?;
    let time = |at: usize| -> Result<u64, Trouble> {
        let millis: i64 = row.get(at)?;
        Ok(u64::try_from(millis).map_err(|_| corrupt("a time lies before 1970".to_owned()))?)
    };
    let mut item = Item::new(namespace, key.clone(), value, time(3)?);
    item.updated_ms = time(4)?;
    Ok(item)
}

/// Clears away what is over.
pub(super) fn sweep(connection: &Connection, now_ms: i64) -> Result<u64, Trouble> {
    let over = "DELETE FROM memory_words WHERE rowid IN (SELECT id FROM memory_items WHERE expires_ms <= ?1)";
    connection.prepare_cached(over)?.execute([now_ms])?;
    let swept = connection.prepare_cached("DELETE FROM memory_items WHERE expires_ms <= ?1")?.execute([now_ms])?;
    Ok(swept as u64)
}

/// What is over has been cleared away before.
pub(super) fn put(connection: &Connection, put: &PreparedPut, now_ms: i64) -> Result<(), Trouble> {
    let sql = "INSERT INTO memory_items (namespace, key, created_ms, updated_ms, ttl_ms, expires_ms, value, vectors)
        VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (namespace, key) DO UPDATE SET updated_ms = max(created_ms, excluded.updated_ms),
            ttl_ms = excluded.ttl_ms, expires_ms = excluded.expires_ms, value = excluded.value, vectors = excluded.vectors
        RETURNING id";
    let vectors = (!put.vectors.is_empty()).then(|| put.vectors.to_bytes());
    let values = params![
        put.namespace.as_str(),
        put.key,
        now_ms,
        put.ttl_ms.map(number),
        put.expires_ms.map(number),
        put.value.to_string(),
        vectors
    ];
    let id: i64 = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    connection.prepare_cached("DELETE FROM memory_words WHERE rowid = ?1")?.execute([id])?;
    if !put.words.is_empty() {
        // As often as each occurs, because that is what the rank looks at.
        let times = |times: &u32| usize::try_from(*times).unwrap_or(usize::MAX).min(64);
        let words: Vec<&str> =
            put.words.iter().flat_map(|(word, count)| std::iter::repeat_n(word.as_str(), times(count))).collect();
        connection
            .prepare_cached("INSERT INTO memory_words (rowid, words) VALUES (?1, ?2)")?
            .execute(params![id, words.join(" ")])?;
    }
    Ok(())
}

pub(super) fn get(
    connection: &Connection,
    namespace: &Namespace,
    key: &str,
    refresh: bool,
    now_ms: i64,
) -> Result<Option<Item>, Trouble> {
    let sql = "SELECT namespace, key, value, created_ms, updated_ms, id FROM memory_items
        WHERE namespace = ?1 AND key = ?2 AND (expires_ms IS NULL OR expires_ms > ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![namespace.as_str(), key, now_ms])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (item, id) = (item(row)?, row.get(5)?);
    if refresh {
        self::refresh(connection, id, now_ms)?;
    }
    Ok(Some(item))
}

/// Whether there was one. What is over has been cleared away before.
pub(super) fn delete(connection: &Connection, namespace: &Namespace, key: &str) -> Result<bool, Trouble> {
    let sql = "DELETE FROM memory_items WHERE namespace = ?1 AND key = ?2 RETURNING id";
    let id: Option<i64> =
        connection.prepare_cached(sql)?.query_row(params![namespace.as_str(), key], |row| row.get(0)).optional()?;
    if let Some(id) = id {
        connection.prepare_cached("DELETE FROM memory_words WHERE rowid = ?1")?.execute([id])?;
    }
    Ok(id.is_some())
}

/// Begins the time of an item anew.
pub(super) fn refresh(connection: &Connection, id: i64, now_ms: i64) -> Result<(), Trouble> {
    // A sum that doesn't fit would become a float.
    let sql = "UPDATE memory_items SET expires_ms =
        CASE WHEN ttl_ms > 9223372036854775807 - ?2 THEN 9223372036854775807 ELSE ttl_ms + ?2 END
        WHERE id = ?1 AND ttl_ms IS NOT NULL";
    connection.prepare_cached(sql)?.execute([id, now_ms])?;
    Ok(())
}
