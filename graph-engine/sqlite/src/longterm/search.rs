//! Searches and lists. Filters and vectors are looked at here, row by row, by the engine's own code.

use graph_engine::longterm::backend::{PreparedSearch, Vectors};
use graph_engine::longterm::{Found, Listing, LongTermError, Namespace, Order};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::items::{item, refresh};
use super::trouble::Trouble;

const COLUMNS: &str = "namespace, key, value, created_ms, updated_ms, id, vectors";

/// Constant parts of a statement, and the values of its parameters.
struct Query {
    sql: String,
    values: Vec<(&'static str, Box<dyn ToSql>)>,
}

impl Query {
    /// Only live items of a namespace and of everything inside of it.
    fn live_under(mut self, now_ms: i64, under: Option<&Namespace>) -> Self {
        self.sql.push_str(" WHERE (expires_ms IS NULL OR expires_ms > :now)");
        self.values.push((":now", Box::new(now_ms)));
        if let Some(under) = under {
            let (from, to) = under.inside();
            // The first two bounds are one range of the index, in its order; the rest is what doesn't belong in there.
            self.sql
                .push_str(" AND namespace >= :own AND namespace < :to AND (namespace = :own OR namespace >= :from)");
            self.values.push((":own", Box::new(under.to_string())));
            self.values.push((":from", Box::new(from)));
            self.values.push((":to", Box::new(to)));
        }
        self
    }

    /// Hands each row to a visitor until that says that it is enough.
    fn visit(
        &self,
        connection: &Connection,
        mut visitor: impl FnMut(&Row<'_>) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let values: Vec<(&str, &dyn ToSql)> = self.values.iter().map(|(name, value)| (*name, &**value)).collect();
        let mut rows = statement.query(values.as_slice())?;
        while let Some(row) = rows.next()? {
            if !visitor(row)? {
                break;
            }
        }
        Ok(())
    }
}

fn statement(wanted: &PreparedSearch, now_ms: i64) -> Query {
    let mut query = Query { sql: format!("SELECT {COLUMNS}, "), values: Vec::new() };
    let by_text = !wanted.words.is_empty();
    query.sql.push_str(match by_text {
        true => "-bm25(memory_words) FROM memory_words JOIN memory_items ON memory_items.id = memory_words.rowid",
        false => "NULL FROM memory_items",
    });
    query = query.live_under(now_ms, wanted.search.under.as_ref());
    if by_text {
        // Words have no quotes in them, and in quotes they are nothing but words.
        let words: Vec<String> = wanted.words.iter().map(|word| format!("\"{word}\"")).collect();
        query.sql.push_str(" AND memory_words MATCH :words");
        query.values.push((":words", Box::new(words.join(" AND "))));
    }
    if wanted.near.is_some() {
        query.sql.push_str(" AND vectors IS NOT NULL");
    }
    query.sql.push_str(match wanted.search.order {
        // Put in order here, once all scores are known.
        Order::Best if wanted.is_ranked() => "",
        Order::Updated => " ORDER BY updated_ms DESC, namespace, key",
        Order::Created => " ORDER BY created_ms DESC, namespace, key",
        _ => " ORDER BY namespace, key",
    });
    query
}

/// How well a row fits; `None` if it doesn't.
fn score(row: &Row<'_>, wanted: &PreparedSearch) -> Result<Option<Option<f64>>, Trouble> {
    let corrupt = |why: String| -> Trouble {
        let text = |at: usize| row.get::<_, String>(at).unwrap_or_default();
        LongTermError::corrupt(text(0), text(1), why).into()
    };
    if !wanted.search.filter.is_empty() {
        let value = row.get_ref(2)?.as_str().map_err(|error| corrupt(error.to_string()))?;
        let value: Value =
            serde_json::from_str(value).map_err(|error| corrupt(format!("the value is no JSON: {error}")))?;
        if !wanted.search.filter.iter().all(|condition| condition.passes(&value)) {
            return Ok(None);
        }
    }
    let Some(near) = &wanted.near else { return Ok(Some(row.get(7)?)) };
    let bytes = row.get_ref(6)?.as_blob().map_err(|error| corrupt(error.to_string()))?;
    let vectors = Vectors::from_bytes(bytes).ok_or_else(|| corrupt("its vectors are damaged".to_owned()))?;
    Ok(vectors.score(near).map(Some))
}

/// What is known of a row before its page is.
struct Candidate {
    score: f64,
    namespace: String,
    key: String,
    id: i64,
}

pub(super) fn search(connection: &Connection, wanted: &PreparedSearch, now_ms: i64) -> Result<Vec<Found>, Trouble> {
    let (skip, take) = (wanted.search.offset, wanted.search.limit);
    let query = statement(wanted, now_ms);
    let (mut ids, mut found) = (Vec::new(), Vec::new());
    if wanted.is_ranked() {
        let mut candidates = Vec::new();
        query.visit(connection, |row| {
            if let Some(score) = score(row, wanted)? {
                let score = score.unwrap_or(f64::MIN);
                candidates.push(Candidate { score, namespace: row.get(0)?, key: row.get(1)?, id: row.get(5)? });
            }
            Ok(true)
        })?;
        candidates.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (&a.namespace, &a.key).cmp(&(&b.namespace, &b.key)))
        });
        let sql = "SELECT namespace, key, value, created_ms, updated_ms FROM memory_items WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        for candidate in candidates.into_iter().skip(skip).take(take) {
            let mut rows = statement.query([candidate.id])?;
            if let Some(row) = rows.next()? {
                ids.push(candidate.id);
                found.push(Found::new(item(row)?, Some(candidate.score)));
            }
        }
    } else if take > 0 {
        let mut skipped = 0;
        query.visit(connection, |row| {
            if let Some(score) = score(row, wanted)? {
                if skipped < skip {
                    skipped += 1;
                } else {
                    ids.push(row.get(5)?);
                    found.push(Found::new(item(row)?, score));
                }
            }
            Ok(found.len() < take)
        })?;
    }
    if wanted.refresh {
        ids.into_iter().try_for_each(|id| refresh(connection, id, now_ms))?;
    }
    Ok(found)
}

pub(super) fn list(connection: &Connection, listing: &Listing, now_ms: i64) -> Result<Vec<Namespace>, Trouble> {
    let query = Query { sql: "SELECT DISTINCT namespace FROM memory_items".to_owned(), values: Vec::new() };
    let mut all = Vec::new();
    query.live_under(now_ms, listing.prefix.as_ref()).visit(connection, |row| {
        let path: String = row.get(0)?;
        all.push(Namespace::from_path(&path).map_err(|error| LongTermError::corrupt(&path, "", error.to_string()))?);
        Ok(true)
    })?;
    Ok(listing.page(all))
}
