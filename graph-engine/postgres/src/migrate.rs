//! Makes the tables and brings them up to date.

use std::time::Duration;

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::IsolationLevel;

use crate::error::PostgresError;
use crate::fault::Fault;
use crate::pool::{Connections, Repeat, call};
use crate::sql::{VERSIONS, within};

/// The newest version that this crate knows.
const KNOWN: i32 = VERSIONS.len() as i32;

/// How long a program waits for another one that is bringing the tables up to date.
const PATIENCE: Duration = Duration::from_secs(60);

/// Brings the tables of a schema to the newest version. Of programs that start at once, one does it and the others wait.
pub(crate) async fn migrate(connections: &Connections, schema: &str) -> Result<(), PostgresError> {
    let slow = Connections { pool: connections.pool.clone(), acquire: connections.acquire, answer: PATIENCE };
    let found = call!(&slow, Repeat::Harmless, |connection| bring_up(connection, schema));
    match found.map_err(|fault: Fault| fault.told("(all)"))? {
        found if found > KNOWN => Err(PostgresError::Newer { schema: schema.to_owned(), found, known: KNOWN }),
        _ => Ok(()),
    }
}

/// The version found, after everything that it lacked was added.
async fn bring_up(connection: &mut Object, schema: &str) -> Result<i32, Fault> {
    // In the normal case nothing is locked, and no right to make tables is needed.
    let found = version(&*connection, schema).await?;
    if found >= KNOWN {
        return Ok(found);
    }
    let transaction = connection.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    let patience = format!("SET LOCAL statement_timeout = {}", PATIENCE.as_millis());
    transaction.batch_execute(&patience).await?;
    transaction.query_one("SELECT pg_advisory_xact_lock($1)::text", &[&lock_of(schema)]).await?;
    let found = version(&transaction, schema).await?;
    if found >= KNOWN {
        return Ok(found);
    }
    if found == 0 {
        let tables = "CREATE SCHEMA IF NOT EXISTS {schema};
             CREATE TABLE IF NOT EXISTS {schema}.migrations (
                 version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
             );";
        transaction.batch_execute(&within(schema, tables)).await?;
    }
    let record = within(schema, "INSERT INTO {schema}.migrations (version) VALUES ($1)");
    for (version, sql) in (1..).zip(VERSIONS).filter(|(version, _)| *version > found) {
        transaction.batch_execute(&within(schema, sql)).await?;
        transaction.execute(&record, &[&version]).await?;
    }
    transaction.commit().await?;
    Ok(KNOWN)
}

/// The version of the tables; 0 if there are none.
async fn version(client: &impl GenericClient, schema: &str) -> Result<i32, Fault> {
    // Not `to_regclass`, which may still remember from before the lock that there is no such table.
    let there = "SELECT EXISTS (
        SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relname = 'migrations'
    )";
    if !client.query_one(there, &[&schema]).await?.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let newest = within(schema, "SELECT coalesce(max(version), 0) FROM {schema}.migrations");
    Ok(client.query_one(&newest, &[]).await?.try_get(0)?)
}

/// A number for the lock of a schema: FNV-1a, the same in every version.
fn lock_of(schema: &str) -> i64 {
    let text = "graph-engine-postgres:".bytes().chain(schema.bytes());
    let hash =
        text.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash as i64
}
