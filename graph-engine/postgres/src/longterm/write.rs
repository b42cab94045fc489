//! Steps about single items.

use deadpool_postgres::Transaction;
use graph_engine::longterm::backend::PreparedPut;
use graph_engine::longterm::{Item, LongTermError, Namespace};
use serde_json::{Map, Value};
use tokio_postgres::Row;

use super::query::Query;
use super::trouble::Trouble;

/// How many items that are over one statement clears away.
const SWEEP: i64 = 1_000;

/// A number of the engine as the database keeps it.
pub(super) fn number(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// A value for filters: `jsonb` can't hold a NUL, so a character that no text has stands for it.
pub(super) fn without_nul(value: &Value) -> Value {
    let text = |text: &str| text.replace('\0', "\u{FDD0}");
    match value {
        Value::String(inner) => Value::String(text(inner)),
        Value::Array(list) => Value::Array(list.iter().map(without_nul).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (text(key), without_nul(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// An item out of a row: namespace, key, value and the two times.
pub(super) fn item(row: &Row) -> Result<Item, Trouble> {
    let (path, key) = (text(row, 0)?, text(row, 1)?);
    let corrupt = |why: String| LongTermError::corrupt(&path, &key, why);
    let namespace = Namespace::from_path(&path).map_err(|error| corrupt(error.to_string()))?;
    let value: &str = row.try_get(2)?;
    let value = serde_json::from_str(value).map_err(|error| corrupt(format!("the value is no JSON: {error}")))?;
    let time = |at: usize| -> Result<u64, Trouble> {
        let millis: i64 = row.try_get(at)?;
        Ok(u64::try_from(millis).map_err(|_| corrupt("a time lies before 1970".to_owned()))?)
    };
    let mut item = Item::new(namespace, key.clone(), value, time(3)?);
    item.updated_ms = time(4)?;
    Ok(item)
}

/// A namespace or key out of a row.
pub(super) fn text(row: &Row, at: usize) -> Result<String, Trouble> {
    let bytes: &[u8] = row.try_get(at)?;
    let text = String::from_utf8(bytes.to_vec());
    Ok(text.map_err(|error| LongTermError::corrupt(String::from_utf8_lossy(bytes), "", error.to_string()))?)
}

/// Clears away what is over, a thousand at most. What another one clears away now is left to it.
pub(super) async fn sweep(transaction: &Transaction<'_>, schema: &str, now_ms: i64) -> Result<u64, Trouble> {
    let mut query = Query::new(
        schema,
        "DELETE FROM {schema}.memory_items WHERE id IN (SELECT id FROM {schema}.memory_items WHERE expires_ms <= ",
    );
    query.bind(now_ms).part(" ORDER BY id LIMIT ").bind(SWEEP).part(" FOR UPDATE SKIP LOCKED)");
    query.execute(transaction).await
}

pub(super) async fn put(
    transaction: &Transaction<'_>,
    schema: &str,
    put: &PreparedPut,
    now_ms: i64,
) -> Result<(), Trouble> {
    // A text vector: each word in quotes, with so many positions as it occurs. Words have no quotes in them.
    let places = |times: u32| (1..=times.min(64)).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let words = put.words.iter().map(|(word, times)| format!("'{word}':{}", places(*times)));
    let vectors = (!put.vectors.is_empty()).then(|| put.vectors.to_bytes());
    let mut query = Query::new(
        schema,
        "INSERT INTO {schema}.memory_items AS old
         (namespace, key, created_ms, updated_ms, ttl_ms, expires_ms, value, doc, words, vectors) VALUES (",
    );
    query
        .bind(bytes(put.namespace.as_str()))
        .part(", ")
        .bind(bytes(&put.key))
        .part(", ")
        .bind(now_ms)
        .part(", ")
        .bind(now_ms)
        .part(", ")
        .bind(put.ttl_ms.map(number))
        .part(", ")
        .bind(put.expires_ms.map(number))
        .part(", ")
        .bind(put.value.to_string())
        .part(", ")
        .bind(without_nul(&put.value).to_string())
        .part("::text::jsonb, ")
        .bind(words.collect::<Vec<_>>().join(" "))
        .part("::text::tsvector, ")
        .bind(vectors)
        .part(
            ") ON CONFLICT (sha256(namespace), sha256(key)) DO UPDATE SET
             created_ms = CASE WHEN old.expires_ms <= excluded.created_ms THEN excluded.created_ms ELSE old.created_ms END,
             updated_ms = CASE WHEN old.expires_ms <= excluded.created_ms THEN excluded.created_ms
                 ELSE greatest(old.created_ms, excluded.updated_ms) END,
             ttl_ms = excluded.ttl_ms, expires_ms = excluded.expires_ms, value = excluded.value, doc = excluded.doc,
             words = excluded.words, vectors = excluded.vectors",
        );
    query.execute(transaction).await.map(drop)
}

pub(super) async fn get(
    transaction: &Transaction<'_>,
    schema: &str,
    (namespace, key): (&Namespace, &str),
    refresh: bool,
    now_ms: i64,
) -> Result<Option<Item>, Trouble> {
    let mut query =
        Query::new(schema, "SELECT namespace, key, value, created_ms, updated_ms, id FROM {schema}.memory_items");
    query.live_under(now_ms, None);
    by_key(&mut query, namespace, key);
    let rows = query.rows(transaction).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    if refresh {
        self::refresh(transaction, schema, vec![row.try_get(5)?], now_ms).await?;
    }
    item(row).map(Some)
}

fn by_key(query: &mut Query, namespace: &Namespace, key: &str) {
    query
        .part(" AND sha256(namespace) = sha256(")
        .bind(bytes(namespace.as_str()))
        .part("::bytea) AND sha256(key) = sha256(")
        .bind(bytes(key))
        .part("::bytea)");
}

/// Whether there was one.
pub(super) async fn delete(
    transaction: &Transaction<'_>,
    schema: &str,
    namespace: &Namespace,
    key: &str,
    now_ms: i64,
) -> Result<bool, Trouble> {
    let mut query = Query::new(schema, "DELETE FROM {schema}.memory_items");
    query.live_under(now_ms, None);
    by_key(&mut query, namespace, key);
    Ok(query.execute(transaction).await? > 0)
}

/// Begins the time of these items anew.
pub(super) async fn refresh(
    transaction: &Transaction<'_>,
    schema: &str,
    ids: Vec<i64>,
    now_ms: i64,
) -> Result<(), Trouble> {
    let mut query = Query::new(schema, "UPDATE {schema}.memory_items SET expires_ms = CASE WHEN ttl_ms > ");
    query
        .bind(i64::MAX - now_ms)
        .part(" THEN 9223372036854775807 ELSE ttl_ms + ")
        .bind(now_ms)
        .part(" END WHERE ttl_ms IS NOT NULL AND id = ANY(")
        .bind(ids)
        .part(")");
    query.execute(transaction).await.map(drop)
}
