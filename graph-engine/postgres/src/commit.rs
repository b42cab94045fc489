//! Storing a checkpoint: one statement in the normal case, a transaction for forks and for everything that needs a reason.

use deadpool_postgres::{GenericClient, Object, Transaction};
use graph_engine::{CheckpointId, Commit, Place, SavedResult};
use graph_engine_rows::{Format, decode, encode};
use tokio_postgres::IsolationLevel;
use tokio_postgres::types::ToSql;

use crate::fault::Fault;
use crate::read::state;
use crate::sql::Sql;
use crate::value::{bits, id_bytes, id_from, tags_to_rows};

/// Branches that a checkpoint may be made of. One more takes over everything it needs, so that loading a thread that was
/// forked a thousand times looks at no more branches than this.
const BRANCHES: usize = 16;

/// How often names of fields may turn out to be new while a checkpoint is stored. Each time they are added first.
const ROUNDS: u32 = 3;

/// A commit as the statements take it.
struct Bound<'a> {
    place: &'a Place,
    commit: &'a Commit,
    id: [u8; 16],
    parent: Option<[u8; 16]>,
    step: i64,
    time_ms: i64,
    due_ms: Option<i64>,
    kind: &'static str,
    turn: &'a [u8],
    tags: Vec<Vec<u8>>,
    position: Vec<u8>,
    names: Vec<&'a [u8]>,
    encodings: Vec<i16>,
    los: Vec<i64>,
    his: Vec<i64>,
    data: Vec<Vec<u8>>,
}

/// What the transaction after a commit without effect found.
enum Found {
    /// It is stored: now, or it was already.
    Stored,
    /// Names of fields are new.
    NewNames,
}

/// Stores a commit, as [`CheckpointStore::commit`](graph_engine::CheckpointStore::commit) promises.
pub(crate) async fn commit(
    connection: &mut Object,
    sql: &Sql,
    format: Format,
    place: &Place,
    commit: &Commit,
) -> Result<(), Fault> {
    let bound = Bound::new(format, place, commit);
    for _ in 0..ROUNDS {
        let statement = if commit.parent.is_some() { &sql.commit_next } else { &sql.commit_first };
        match bound.store(&*connection, statement).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            // The id is known.
            Err(fault) if fault.is_unique_violation() => {}
            Err(fault) => return Err(fault),
        }
        let level = IsolationLevel::ReadCommitted;
        let transaction = connection.build_transaction().isolation_level(level).start().await?;
        match explain(&transaction, sql, &bound, commit).await? {
            Found::Stored => return Ok(transaction.commit().await?),
            Found::NewNames => {
                transaction.rollback().await?;
                let intern = connection.prepare_cached(&sql.intern).await?;
                connection.execute(&intern, &[&bound.names]).await?;
            }
        }
    }
    Err(Fault::Conflict("the thread is deleted and made again all the time".to_owned()))
}

/// Why the head didn't move; a fork moves it here.
async fn explain(transaction: &Transaction<'_>, sql: &Sql, bound: &Bound<'_>, commit: &Commit) -> Result<Found, Fault> {
    let show = |id: Option<CheckpointId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let stale =
        |head| Fault::Conflict(format!("the head is {}, the commit follows {}", show(head), show(commit.parent)));
    let orphan = || Fault::Conflict("the parent of the commit is not stored".to_owned());

    let find = transaction.prepare_cached(&sql.place).await?;
    let (thread, namespace) = (bound.place.thread.as_bytes(), bound.place.namespace.as_bytes());
    let Some(row) = transaction.query_opt(&find, &[&thread, &namespace]).await? else {
        return match (commit.parent, commit.fork) {
            (None, _) => Ok(Found::NewNames),
            (Some(_), true) => Err(orphan()),
            (Some(_), false) => Err(stale(None)),
        };
    };
    let (at, head, branches): (i64, Option<CheckpointId>, i32) =
        (row.try_get(0)?, id_from(row.try_get(1)?), row.try_get(2)?);
    let known = transaction.prepare_cached(&sql.known).await?;
    if transaction.query_opt(&known, &[&at, &&bound.id[..]]).await?.is_some() {
        return if bound.is_stored(transaction, sql).await? {
            Ok(Found::Stored)
        } else {
            Err(Fault::Conflict(format!("checkpoint {} has other content", commit.id)))
        };
    }
    if head == commit.parent {
        return Ok(Found::NewNames);
    }
    if !commit.fork {
        return Err(stale(head));
    }
    if let Some(parent) = bound.parent {
        let row = transaction.query_opt(&known, &[&at, &&parent[..]]).await?.ok_or_else(orphan)?;
        branch(transaction, sql, bound, at, branches + 1, (row.try_get(1)?, row.try_get(0)?)).await?;
    }
    match bound.store(transaction, &sql.commit_fork).await? {
        true => Ok(Found::Stored),
        false => Ok(Found::NewNames),
    }
}

/// Notes what a new branch follows, or gives it all of that if it is too much.
async fn branch(
    transaction: &Transaction<'_>,
    sql: &Sql,
    bound: &Bound<'_>,
    at: i64,
    new: i32,
    (from, upto): (i32, i64),
) -> Result<(), Fault> {
    let lineage = transaction.prepare_cached(&sql.lineage).await?;
    let (mut froms, mut uptos) = (vec![from], vec![upto]);
    if let Some(row) = transaction.query_opt(&lineage, &[&at, &from]).await? {
        froms.extend(row.try_get::<_, Vec<i32>>(0)?);
        uptos.extend(row.try_get::<_, Vec<i64>>(1)?);
    }
    if froms.len() < BRANCHES {
        let add = transaction.prepare_cached(&sql.add_branch).await?;
        transaction.execute(&add, &[&at, &new, &froms, &uptos]).await?;
    } else {
        let copy = transaction.prepare_cached(&sql.copy_branch).await?;
        let (thread, namespace) = (bound.place.thread.as_bytes(), bound.place.namespace.as_bytes());
        let parent = bound.parent.map(Vec::from);
        transaction.execute(&copy, &[&thread, &namespace, &parent, &false, &new]).await?;
    }
    Ok(())
}

impl<'a> Bound<'a> {
    fn new(format: Format, place: &'a Place, commit: &'a Commit) -> Self {
        let fields = &commit.fields;
        Self {
            place,
            commit,
            id: id_bytes(commit.id),
            parent: commit.parent.map(id_bytes),
            step: bits(commit.step),
            time_ms: bits(commit.time_ms),
            due_ms: commit.due_ms.map(bits),
            kind: commit.kind.as_str(),
            turn: commit.turn.as_bytes(),
            tags: tags_to_rows(&commit.tags),
            position: encode(format, commit.position()),
            names: fields.iter().map(|field| field.name.as_bytes()).collect(),
            encodings: fields.iter().map(|field| field.encoding.code().into()).collect(),
            los: fields.iter().map(|field| bits(field.items.start)).collect(),
            his: fields.iter().map(|field| bits(field.items.end)).collect(),
            data: fields.iter().map(|field| encode(format, commit.field_bytes(field))).collect(),
        }
    }

    /// Runs a statement that stores this; whether it did.
    async fn store(&self, client: &impl GenericClient, statement: &str) -> Result<bool, Fault> {
        let statement = client.prepare_cached(statement).await?;
        let (thread, namespace) = (self.place.thread.as_bytes(), self.place.namespace.as_bytes());
        let (id, parent) = (&self.id[..], self.parent.as_ref().map(|id| &id[..]));
        let values: [&(dyn ToSql + Sync); 16] = [
            &thread,
            &namespace,
            &id,
            &parent,
            &self.step,
            &self.time_ms,
            &self.due_ms,
            &self.kind,
            &self.turn,
            &self.tags,
            &self.position,
            &self.names,
            &self.encodings,
            &self.los,
            &self.his,
            &self.data,
        ];
        Ok(client.query_opt(&statement, &values).await?.is_some())
    }

    /// Whether the checkpoint with this id has this content.
    async fn is_stored(&self, transaction: &Transaction<'_>, sql: &Sql) -> Result<bool, Fault> {
        let Some(stored) = state(transaction, sql, self.place, Some(self.id), true).await? else { return Ok(false) };
        let same = |stored: &[u8], new: &[u8]| match decode(stored) {
            Ok(stored) => Ok(stored == new),
            Err(why) => Err(Fault::Corrupt(format!("checkpoint {}: {why}", self.commit.id))),
        };
        let own: Vec<_> = stored.segments.iter().filter(|segment| segment.seq == stored.seq).collect();
        if stored.parent.as_deref() != self.parent.as_ref().map(|id| &id[..])
            || !same(&stored.position, self.commit.position())?
            || own.len() != self.names.len()
        {
            return Ok(false);
        }
        for (stored, new) in own.iter().zip(&self.commit.fields) {
            if stored.name != new.name.as_bytes()
                || stored.encoding != i16::from(new.encoding.code())
                || !same(&stored.data, self.commit.field_bytes(new))?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Stores results of single tasks, as [`CheckpointStore::save`](graph_engine::CheckpointStore::save) promises.
pub(crate) async fn save(
    connection: &Object,
    sql: &Sql,
    format: Format,
    place: &Place,
    head: CheckpointId,
    results: &[SavedResult],
) -> Result<(), Fault> {
    let steps: Vec<i64> = results.iter().map(|result| bits(result.task.step)).collect();
    let ranks: Vec<i64> = results.iter().map(|result| i64::from(result.task.rank)).collect();
    let keys: Vec<&[u8]> = results.iter().map(|result| result.key.as_bytes()).collect();
    let data: Vec<Vec<u8>> = results.iter().map(|result| encode(format, &result.bytes)).collect();
    let statement = connection.prepare_cached(&sql.save).await?;
    let (thread, namespace, head) = (place.thread.as_bytes(), place.namespace.as_bytes(), id_bytes(head));
    let values: [&(dyn ToSql + Sync); 7] = [&thread, &namespace, &&head[..], &steps, &ranks, &keys, &data];
    match connection.query_opt(&statement, &values).await? {
        Some(_) => Ok(()),
        None => Err(Fault::Conflict("the head moved".to_owned())),
    }
}
