//! Makes the tables of the long-term store. They have versions of their own.

use std::time::Duration;

use deadpool_postgres::Object;

use crate::error::PostgresError;
use crate::fault::Fault;
use crate::pool::{Connections, Repeat, call};
use crate::sql::within;

/// What each version of the tables adds to the one before. Never change one that was released.
const VERSIONS: &[&str] = &[include_str!("schema_1.sql")];

const KNOWN: i32 = VERSIONS.len() as i32;

/// How long a program waits for another one that is making the tables.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn migrate(connections: &Connections, schema: &str) -> Result<(), PostgresError> {
    let slow = Connections { pool: connections.pool.clone(), acquire: connections.acquire, answer: PATIENCE };
    let found = call!(&slow, Repeat::Harmless, |connection| bring_up(connection, schema));
    match found.map_err(|fault: Fault| fault.told(""))? {
        found if found > KNOWN => Err(PostgresError::Newer { schema: schema.to_owned(), found, known: KNOWN }),
        _ => Ok(()),
    }
}

async fn bring_up(connection: &mut Object, schema: &str) -> Result<i32, Fault> {
    let there = "SELECT EXISTS (
        SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relname = 'memory_migrations'
    )";
    let newest = within(schema, "SELECT coalesce(max(version), 0) FROM {schema}.memory_migrations");
    // In the normal case nothing is locked, and no right to make tables is needed.
    if connection.query_one(there, &[&schema]).await?.try_get::<_, bool>(0)? {
        let found: i32 = connection.query_one(&newest, &[]).await?.try_get(0)?;
        if found >= KNOWN {
            return Ok(found);
        }
    }
    let transaction = connection.transaction().await?;
    let patience = format!("SET LOCAL statement_timeout = {}", PATIENCE.as_millis());
    transaction.batch_execute(&patience).await?;
    // One lock for all schemas: making tables is rare.
    transaction.query_one("SELECT pg_advisory_xact_lock(7305804402570125927)::text", &[]).await?;
    let tables = "CREATE SCHEMA IF NOT EXISTS {schema};
         CREATE TABLE IF NOT EXISTS {schema}.memory_migrations (
             version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
         );";
    transaction.batch_execute(&within(schema, tables)).await?;
    let found: i32 = transaction.query_one(&newest, &[]).await?.try_get(0)?;
    if found >= KNOWN {
        return Ok(found);
    }
    let record = within(schema, "INSERT INTO {schema}.memory_migrations (version) VALUES ($1)");
    for (version, sql) in (1..).zip(VERSIONS).filter(|(version, _)| *version > found) {
        transaction.batch_execute(&within(schema, sql)).await?;
        transaction.execute(&record, &[&version]).await?;
    }
    transaction.commit().await?;
    Ok(KNOWN)
}
