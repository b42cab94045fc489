//! Searches and lists.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use graph_engine::longterm::backend::{PreparedSearch, Vectors};
use graph_engine::longterm::{Condition, Found, Item, Listing, LongTermError, Namespace, Order};
use serde_json::Value;

use super::query::Query;
use super::trouble::Trouble;
use super::write::{item, number, refresh, text, without_nul};

/// The conditions as the function in the database reads them.
fn conditions(filter: &[Condition]) -> Result<String, Trouble> {
    let json = serde_json::to_value(filter).map_err(LongTermError::unavailable)?;
    Ok(without_nul(&json).to_string())
}

impl Query {
    fn wanted(&mut self, wanted: &PreparedSearch, now_ms: i64, schema: &str) -> Result<&mut Self, Trouble> {
        self.live_under(now_ms, wanted.search.under.as_ref());
        if let Some(words) = words(wanted) {
            self.part(" AND words @@ ").bind(words).part("::text::tsquery");
        }
        if !wanted.search.filter.is_empty() {
            let filter = conditions(&wanted.search.filter)?;
            let passes = crate::sql::within(schema, "{schema}.memory_passes(doc, ");
            self.part(" AND ").schema_part(&passes).bind(filter).part("::text::jsonb)");
        }
        Ok(self)
    }
}

/// All words of a search have to occur. Words have no quotes in them.
fn words(wanted: &PreparedSearch) -> Option<String> {
    let all: Vec<String> = wanted.words.iter().map(|word| format!("'{word}'")).collect();
    (!all.is_empty()).then(|| all.join(" & "))
}

/// The order of a search that is not by meaning.
fn order(wanted: &PreparedSearch) -> &'static str {
    match wanted.search.order {
        Order::Best if wanted.is_ranked() => " ORDER BY score DESC, namespace, key",
        Order::Updated => " ORDER BY updated_ms DESC, namespace, key",
        Order::Created => " ORDER BY created_ms DESC, namespace, key",
        _ => " ORDER BY namespace, key",
    }
}

pub(super) async fn search(
    transaction: &Transaction<'_>,
    schema: &str,
    wanted: &PreparedSearch,
    now_ms: i64,
) -> Result<Vec<Found>, Trouble> {
    let (ids, found) = match &wanted.near {
        Some(near) => by_meaning(transaction, schema, wanted, near, now_ms).await?,
        None => plain(transaction, schema, wanted, now_ms).await?,
    };
    if wanted.refresh && !ids.is_empty() {
        refresh(transaction, schema, ids, now_ms).await?;
    }
    Ok(found)
}

async fn plain(
    transaction: &Transaction<'_>,
    schema: &str,
    wanted: &PreparedSearch,
    now_ms: i64,
) -> Result<(Vec<i64>, Vec<Found>), Trouble> {
    let mut query = Query::new(schema, "SELECT namespace, key, value, created_ms, updated_ms, id, ");
    match words(wanted) {
        Some(words) => query.part("ts_rank(words, ").bind(words).part("::text::tsquery, 1)::float8 AS score"),
        None => query.part("NULL::float8 AS score"),
    };
    query.schema_part(&crate::sql::within(schema, " FROM {schema}.memory_items"));
    let page = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    query
        .wanted(wanted, now_ms, schema)?
        .part(order(wanted))
        .part(" LIMIT ")
        .bind(page(wanted.search.limit))
        .part(" OFFSET ")
        .bind(page(wanted.search.offset));
    let (mut ids, mut found) = (Vec::new(), Vec::new());
    for row in query.rows(transaction).await? {
        ids.push(row.try_get(5)?);
        found.push(Found::new(item(&row)?, row.try_get(6)?));
    }
    Ok((ids, found))
}

/// Looks at every vector that passes the rest of the search. Only what is on the page is read whole.
async fn by_meaning(
    transaction: &Transaction<'_>,
    schema: &str,
    wanted: &PreparedSearch,
    near: &[f32],
    now_ms: i64,
) -> Result<(Vec<i64>, Vec<Found>), Trouble> {
    let mut query =
        Query::new(schema, "SELECT namespace, key, created_ms, updated_ms, id, vectors FROM {schema}.memory_items");
    query.wanted(wanted, now_ms, schema)?.part(" AND vectors IS NOT NULL");
    let mut candidates = Vec::new();
    let mut ids = HashMap::new();
    for row in query.rows(transaction).await? {
        let (path, key) = (text(&row, 0)?, text(&row, 1)?);
        let corrupt = |why: String| LongTermError::corrupt(&path, &key, why);
        let vectors = Vectors::from_bytes(row.try_get(5)?).ok_or_else(|| corrupt("its vectors are damaged".into()))?;
        let Some(score) = vectors.score(near) else { continue };
        let namespace = Namespace::from_path(&path).map_err(|error| corrupt(error.to_string()))?;
        let time = |millis: i64| u64::try_from(millis).unwrap_or(0);
        let mut item = Item::new(namespace, key.clone(), Value::Null, time(row.try_get(2)?));
        item.updated_ms = time(row.try_get(3)?);
        ids.insert((path, key), row.try_get::<_, i64>(4)?);
        candidates.push(Found::new(item, Some(score)));
    }
    let page = wanted.page(candidates);
    let id = |found: &Found| ids.get(&(found.namespace.to_string(), found.key.clone())).copied();
    let chosen: Vec<i64> = page.iter().filter_map(id).collect();
    let mut query =
        Query::new(schema, "SELECT namespace, key, value, created_ms, updated_ms, id FROM {schema}.memory_items");
    query.part(" WHERE id = ANY(").bind(chosen.clone()).part(")");
    let mut whole = HashMap::new();
    for row in query.rows(transaction).await? {
        whole.insert(row.try_get::<_, i64>(5)?, item(&row)?);
    }
    // What was deleted since is left out.
    let found = page.iter().filter_map(|found| Some(Found::new(whole.remove(&id(found)?)?, found.score))).collect();
    Ok((chosen, found))
}

pub(super) async fn list(
    transaction: &Transaction<'_>,
    schema: &str,
    listing: &Listing,
    now_ms: i64,
) -> Result<Vec<Namespace>, Trouble> {
    let mut query = Query::new(schema, "SELECT DISTINCT namespace FROM {schema}.memory_items");
    query.live_under(now_ms, listing.prefix.as_ref());
    let mut all = Vec::new();
    for row in query.rows(transaction).await? {
        let path = text(&row, 0)?;
        all.push(Namespace::from_path(&path).map_err(|error| LongTermError::corrupt(&path, "", error.to_string()))?);
    }
    Ok(listing.page(all))
}

/// The time of a batch.
pub(super) fn time(now_ms: u64) -> i64 {
    number(now_ms)
}
