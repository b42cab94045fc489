//! Pruning, clearing, deleting and copying. Each locks what it works on first, so that nothing that is committed
//! meanwhile is left behind.

use deadpool_postgres::{GenericClient, Object};
use graph_engine::{Keep, Place};
use tokio_postgres::IsolationLevel;

use crate::fault::Fault;
use crate::sql::Sql;
use crate::value::bound;

/// Drops old checkpoints and returns how many.
pub(crate) async fn prune(connection: &mut Object, sql: &Sql, place: &Place, keep: Keep) -> Result<u64, Fault> {
    let (newest, since) = match keep {
        Keep::Last(count) => (Some(i64::try_from(count.max(1)).unwrap_or(i64::MAX)), None),
        Keep::Since(time) => (None, Some(bound(time))),
        other => return Err(Fault::NoConnection(format!("this store doesn't know how to keep {other:?}"))),
    };
    let level = IsolationLevel::ReadCommitted;
    let transaction = connection.build_transaction().isolation_level(level).start().await?;
    let lock = transaction.prepare_cached(&sql.lock).await?;
    let (thread, namespace) = (place.thread.as_bytes(), place.namespace.as_bytes());
    let Some(row) = transaction.query_opt(&lock, &[&thread, &namespace]).await? else { return Ok(0) };
    let prune = transaction.prepare_cached(&sql.prune).await?;
    let dropped: i64 =
        transaction.query_one(&prune, &[&row.try_get::<_, i64>(0)?, &newest, &since]).await?.try_get(0)?;
    transaction.commit().await?;
    Ok(dropped.unsigned_abs())
}

/// Drops one namespace of a thread, or all of them; whether there was one.
pub(crate) async fn remove(
    connection: &mut Object,
    sql: &Sql,
    thread: &str,
    namespace: Option<&str>,
) -> Result<bool, Fault> {
    let level = IsolationLevel::ReadCommitted;
    let transaction = connection.build_transaction().isolation_level(level).start().await?;
    let lock = transaction.prepare_cached(&sql.lock).await?;
    let rows = transaction.query(&lock, &[&thread.as_bytes(), &namespace.map(str::as_bytes)]).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    let places: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let remove = transaction.prepare_cached(&sql.remove).await?;
    transaction.query_one(&remove, &[&places]).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Copies a thread with all its namespaces.
pub(crate) async fn copy(connection: &Object, sql: &Sql, from: &str, to: &str) -> Result<(), Fault> {
    let taken = || Fault::Conflict(format!("a thread `{to}` exists already"));
    let copy = connection.prepare_cached(&sql.copy).await?;
    let row = match connection.query_one(&copy, &[&from.as_bytes(), &to.as_bytes()]).await {
        Err(error) => {
            let fault = Fault::from(error);
            return Err(if fault.is_unique_violation() { taken() } else { fault });
        }
        Ok(row) => row,
    };
    match (row.try_get::<_, i64>("sources")?, row.try_get::<_, i64>("targets")?) {
        (0, _) => Err(Fault::Conflict("the thread is not stored".to_owned())),
        (_, 0) => Err(taken()),
        _ => Ok(()),
    }
}
