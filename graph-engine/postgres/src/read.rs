//! Reading checkpoints: rows as they are stored, and what the engine makes of them.

use std::ops::Range;

use deadpool_postgres::{GenericClient, Object};
use graph_engine::{
    CheckpointId, CheckpointInfo, Commit, Encoding, FieldRow, Filter, Name, Place, SavedResult, Segment, Stored,
    TaskId, ThreadFilter, ThreadInfo,
};
use graph_engine_rows::{RowError, decode};
use tokio_postgres::Row;

use crate::fault::Fault;
use crate::sql::Sql;
use crate::value::{bits, bound, id_bytes, id_from, kind, number, tags_from_rows, tags_to_rows, text};

/// A checkpoint as it is stored.
pub(crate) struct StateRows {
    pub(crate) seq: i64,
    pub(crate) parent: Option<Vec<u8>>,
    pub(crate) position: Vec<u8>,
    pub(crate) segments: Vec<SegmentRow>,
    saved: Vec<SavedRow>,
    info: CheckpointInfo,
    due_ms: Option<u64>,
}

/// A segment as it is stored.
pub(crate) struct SegmentRow {
    pub(crate) seq: i64,
    pub(crate) name: Vec<u8>,
    pub(crate) encoding: i16,
    items: Range<u64>,
    pub(crate) data: Vec<u8>,
}

struct SavedRow {
    task: TaskId,
    key: Vec<u8>,
    data: Vec<u8>,
}

/// The rows of a checkpoint, the head if none is named: all that it means, or what it changed itself (`own`).
pub(crate) async fn state(
    client: &impl GenericClient,
    sql: &Sql,
    place: &Place,
    at: Option<[u8; 16]>,
    own: bool,
) -> Result<Option<StateRows>, Fault> {
    let statement = client.prepare_cached(&sql.state).await?;
    let at = at.as_ref().map(|id| &id[..]);
    let rows = client.query(&statement, &[&place.thread.as_bytes(), &place.namespace.as_bytes(), &at, &own]).await?;
    let mut rows = rows.into_iter();
    let Some(first) = rows.next() else { return Ok(None) };
    let mut found = StateRows {
        seq: first.try_get("seq")?,
        parent: first.try_get("parent")?,
        position: first.try_get("data")?,
        segments: Vec::with_capacity(rows.len()),
        saved: Vec::new(),
        info: info(&first)?,
        due_ms: first.try_get::<_, Option<i64>>("due_ms")?.map(number),
    };
    for row in rows {
        let (lo, hi) = (number(row.try_get("step")?), number(row.try_get("time_ms")?));
        let (name, data) = (row.try_get("name")?, row.try_get("data")?);
        if row.try_get::<_, i32>("part")? == 1 {
            let (seq, encoding) = (row.try_get("seq")?, row.try_get("encoding")?);
            found.segments.push(SegmentRow { seq, name, encoding, items: lo..hi, data });
        } else {
            let rank = u32::try_from(hi).map_err(|_| Fault::Corrupt(format!("a saved result has rank {hi}")))?;
            found.saved.push(SavedRow { task: TaskId { step: lo, rank }, key: name, data });
        }
    }
    Ok(Some(found))
}

/// What a list says of a checkpoint.
fn info(row: &Row) -> Result<CheckpointInfo, Fault> {
    let id = row.try_get::<_, &[u8]>("id")?;
    let id = id_from(id).ok_or_else(|| Fault::Corrupt(format!("an id of a checkpoint has {} bytes", id.len())))?;
    let broken = |why: String| Fault::Corrupt(format!("checkpoint {id}: {why}"));
    let parent = match row.try_get::<_, Option<&[u8]>>("parent")? {
        None => None,
        Some(bytes) => Some(id_from(bytes).ok_or_else(|| broken("its parent's id is not readable".to_owned()))?),
    };
    let turn = text(row.try_get("turn")?).ok_or_else(|| broken("its turn is not text".to_owned()))?;
    let mut info = CheckpointInfo::new(id, parent, turn, number(row.try_get("step")?));
    info.time_ms = number(row.try_get("time_ms")?);
    info.kind = kind(row.try_get("kind")?).map_err(broken)?;
    info.tags = tags_from_rows(&row.try_get::<_, Vec<&[u8]>>("tags")?).map_err(|why| broken(why.to_owned()))?;
    Ok(info)
}

impl StateRows {
    fn broken(&self, what: &str, why: impl std::fmt::Display) -> Fault {
        Fault::Corrupt(format!("checkpoint {}: {what}: {why}", self.info.id))
    }

    fn segment(&self, row: &SegmentRow) -> Result<Segment, Fault> {
        let name = text(&row.name).ok_or_else(|| self.broken("the name of a field", "not text"))?;
        let bytes = decode(&row.data).map_err(|why| self.broken(&format!("field `{name}`"), why))?;
        Ok(Segment::new(name, encoding(row.encoding)?, row.items.clone(), bytes))
    }

    /// As the engine loads it.
    pub(crate) fn stored(self) -> Result<Stored, Fault> {
        let position = decode(&self.position).map_err(|why| self.broken("the position", why))?;
        let mut stored = Stored::new(self.info.clone(), position);
        stored.fields = self.segments.iter().map(|row| self.segment(row)).collect::<Result<_, _>>()?;
        for row in &self.saved {
            let key = text(&row.key).ok_or_else(|| self.broken("the key of a saved result", "not text"))?;
            let what = || format!("the saved result `{key}` of task {}", row.task);
            let bytes = decode(&row.data).map_err(|why| self.broken(&what(), why))?;
            stored.saved.push(SavedResult::new(row.task, key, bytes));
        }
        Ok(stored)
    }

    /// As it was committed.
    pub(crate) fn commit(self) -> Result<Commit, Fault> {
        let mut commit = Commit::default();
        for row in &self.segments {
            let segment = self.segment(row)?;
            let start = commit.bytes.len();
            commit.bytes.extend_from_slice(&segment.bytes);
            let bytes = start..commit.bytes.len();
            commit.fields.push(FieldRow::new(segment.name, segment.encoding, segment.items, bytes));
        }
        let position = decode(&self.position).map_err(|why| self.broken("the position", why))?;
        commit.bytes.extend_from_slice(&position);
        commit.id = self.info.id;
        commit.parent = self.info.parent;
        commit.kind = self.info.kind;
        commit.turn = self.info.turn;
        commit.step = self.info.step;
        commit.time_ms = self.info.time_ms;
        commit.due_ms = self.due_ms;
        commit.tags = self.info.tags.into();
        Ok(commit)
    }
}

fn encoding(code: i16) -> Result<Encoding, Fault> {
    let known = u8::try_from(code).ok().and_then(Encoding::from_code);
    known.ok_or_else(|| Fault::Corrupt(format!("a segment has the encoding {code}, which is none")))
}

/// The segments of one field that touch a range.
pub(crate) async fn field(
    connection: &Object,
    sql: &Sql,
    place: &Place,
    at: Option<CheckpointId>,
    field: &str,
    range: Range<u64>,
) -> Result<Vec<Segment>, Fault> {
    let statement = connection.prepare_cached(&sql.field).await?;
    let at = at.map(|id| id_bytes(id).to_vec());
    let (thread, namespace) = (place.thread.as_bytes(), place.namespace.as_bytes());
    let (from, to) = (bound(range.start), bound(range.end));
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
        [&thread, &namespace, &at, &false, &field.as_bytes(), &from, &to];
    let rows = connection.query(&statement, &values).await?;
    let segment = |row: Row| {
        let items = number(row.try_get("step")?)..number(row.try_get("time_ms")?);
        let broken = |why: RowError| Fault::Corrupt(format!("field `{field}`, items {items:?}: {why}"));
        let bytes = decode(row.try_get("data")?).map_err(broken)?;
        Ok(Segment::new(field.to_owned(), encoding(row.try_get("encoding")?)?, items, bytes))
    };
    rows.into_iter().map(segment).collect()
}

/// Checkpoints that pass the filter, the newest first.
pub(crate) async fn list(
    connection: &Object,
    sql: &Sql,
    place: &Place,
    filter: &Filter,
) -> Result<Vec<CheckpointInfo>, Fault> {
    let (thread, namespace) = (place.thread.as_bytes(), place.namespace.as_bytes());
    let mut before: Option<i64> = None;
    if let Some(id) = filter.before {
        let statement = connection.prepare_cached(&sql.seq_of).await?;
        let row = connection.query_opt(&statement, &[&thread, &namespace, &&id_bytes(id)[..]]).await?;
        // Nothing was made before what isn't stored.
        let Some(row) = row else { return Ok(Vec::new()) };
        before = Some(row.try_get(0)?);
    }
    let steps = filter.steps.clone().unwrap_or(0..=u64::MAX);
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let turn = filter.turn.as_ref().map(|turn| turn.as_bytes());
    let (first, last) = (bits(*steps.start()), bits(*steps.end()));
    let (tags, limit) = (tags_to_rows(&filter.tags), limit(filter.limit));
    let statement = connection.prepare_cached(&sql.list).await?;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&thread, &namespace, &before, &turn, &first, &last, &tags, &limit];
    connection.query(&statement, &values).await?.iter().map(info).collect()
}

fn limit(limit: Option<usize>) -> i64 {
    limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

/// The namespaces of a thread in the order of their bytes.
pub(crate) async fn namespaces(connection: &Object, sql: &Sql, thread: &str) -> Result<Vec<Name>, Fault> {
    let statement = connection.prepare_cached(&sql.namespaces).await?;
    let rows = connection.query(&statement, &[&thread.as_bytes()]).await?;
    let name = |row: &Row| text(row.try_get(0)?).ok_or_else(|| Fault::Corrupt("a namespace is not text".to_owned()));
    rows.iter().map(|row| Ok(name(row)?.into())).collect()
}

/// Threads that pass the filter, in the order of their bytes.
pub(crate) async fn threads(connection: &Object, sql: &Sql, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, Fault> {
    let prefix = filter.prefix.as_deref().unwrap_or("").as_bytes();
    let after = filter.after.as_ref().map(|after| after.as_bytes());
    let first = prefix.max(after.unwrap_or(b""));
    // No byte of UTF-8 is 0xff, so this is above everything with the prefix.
    let end = [prefix, b"\xff"].concat();
    let limit = limit(filter.limit);
    let rows = match filter.due_by {
        None => {
            let statement = connection.prepare_cached(&sql.threads).await?;
            connection.query(&statement, &[&first, &end, &after, &limit]).await?
        }
        Some(time) => {
            // Times beyond 2^63 are stored as negative numbers.
            let statement = if bits(time) < 0 { &sql.threads_due_beyond } else { &sql.threads_due };
            let statement = connection.prepare_cached(statement).await?;
            connection.query(&statement, &[&first, &end, &after, &limit, &bits(time)]).await?
        }
    };
    let thread = |row: &Row| {
        let name =
            text(row.try_get("thread")?).ok_or_else(|| Fault::Corrupt("the id of a thread is not text".to_owned()))?;
        let broken = |fault| match fault {
            Fault::Corrupt(why) => Fault::Corrupt(format!("thread `{name}`, {why}")),
            other => other,
        };
        let mut found = ThreadInfo::new(name.as_str(), info(row).map_err(broken)?);
        found.due_ms = row.try_get::<_, Option<i64>>("due_ms")?.map(number);
        Ok(found)
    };
    rows.iter().map(thread).collect()
}
