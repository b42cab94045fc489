//! The store: a pool, and batches as transactions.

use std::fmt;
use std::sync::Arc;

use deadpool_postgres::{Object, Pool};
use graph_engine::longterm::backend::{Prepared, Step};
use graph_engine::longterm::{Answer, LongTermError, LongTermSettings, LongTermStore, Op};
use tokio_postgres::IsolationLevel;

use super::trouble::{Trouble, told};
use super::{migrate, search, write};
use crate::error::PostgresError;
use crate::fault::Fault;
use crate::options::PostgresOptions;
use crate::pool::{Connections, Repeat, call};
use crate::store::pool_of;

/// What agents remember across threads, in PostgreSQL. Cloning it gives another handle to the same pool.
///
/// Its tables stand in the schema of the options beside those of the checkpoints, with versions of their own; one pool can
/// serve both stores ([`from_pool`](Self::from_pool)).
///
/// Filters are evaluated in the database, item by item below the prefix of the search. Search by text has an index. A
/// search by meaning reads the vectors of all items that pass the rest of it and compares them in this process: no
/// extension is needed, and it fits up to some 100,000 items below one prefix.
///
/// ```no_run
/// use graph_engine::longterm::{LongTermSettings, LongTermStore, Namespace};
/// use graph_engine_postgres::{PostgresLongTerm, PostgresOptions};
/// use serde_json::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "postgres://agent:secret@127.0.0.1/agents";
/// let memories = PostgresLongTerm::connect(url, PostgresOptions::default(), LongTermSettings::new()).await?;
/// memories.put(&Namespace::new(["users", "7"])?, "language", json!("Norwegian")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresLongTerm(Arc<Inner>);

struct Inner {
    connections: Connections,
    schema: String,
    settings: LongTermSettings,
}

impl PostgresLongTerm {
    /// Connects and brings the tables up to date. Without TLS: for a server across a network, hand in a pool with a
    /// connector to [`from_pool`](Self::from_pool).
    ///
    /// # Errors
    /// Those of [`PostgresStore::connect_with`](crate::PostgresStore::connect_with).
    pub async fn connect(
        url: &str,
        options: PostgresOptions,
        settings: LongTermSettings,
    ) -> Result<Self, PostgresError> {
        let pool = pool_of(url, &options)?;
        Self::from_pool(pool, options, settings).await
    }

    /// A store over a pool that is there already, that of the checkpoints for example.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn from_pool(
        pool: Pool,
        options: PostgresOptions,
        settings: LongTermSettings,
    ) -> Result<Self, PostgresError> {
        let schema = options.schema;
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') || schema.starts_with("pg_") {
            return Err(PostgresError::SchemaName { name: schema });
        }
        let answer = options.statement_timeout + std::time::Duration::from_secs(1);
        let connections = Connections { pool, acquire: options.acquire_timeout, answer };
        migrate::migrate(&connections, &schema).await?;
        Ok(Self(Arc::new(Inner { connections, schema, settings })))
    }
}

impl fmt::Debug for PostgresLongTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pool knows the password.
        f.debug_struct("PostgresLongTerm").field("schema", &self.0.schema).finish_non_exhaustive()
    }
}

/// Carries a batch out; what is wrong with an item is a result of its own, so that only faults are repeated.
async fn run(
    connection: &mut Object,
    schema: &str,
    prepared: &Prepared,
) -> Result<Result<Vec<Answer>, LongTermError>, Fault> {
    match steps(connection, schema, prepared).await {
        Ok(answers) => Ok(Ok(answers)),
        Err(Trouble::Item(error)) => Ok(Err(error)),
        Err(Trouble::Fault(fault)) => Err(fault),
    }
}

async fn steps(connection: &mut Object, schema: &str, prepared: &Prepared) -> Result<Vec<Answer>, Trouble> {
    let writes = prepared.writes();
    // Readers see one moment; writers wait for each other's rows instead of failing.
    let isolation = if writes { IsolationLevel::ReadCommitted } else { IsolationLevel::RepeatableRead };
    let transaction = connection.build_transaction().isolation_level(isolation).read_only(!writes).start().await?;
    let now_ms = search::time(prepared.now_ms);
    let changes = prepared.steps.iter().any(|step| matches!(step, Step::Put(_) | Step::Delete { .. }));
    if changes {
        write::sweep(&transaction, schema, now_ms).await?;
    }
    let mut answers = Vec::with_capacity(prepared.steps.len());
    for step in &prepared.steps {
        answers.push(match step {
            Step::Put(put) => {
                write::put(&transaction, schema, put, now_ms).await?;
                Answer::Put
            }
            Step::Get { namespace, key, refresh } => {
                Answer::Item(write::get(&transaction, schema, (namespace, key), *refresh, now_ms).await?)
            }
            Step::Delete { namespace, key } => {
                Answer::Deleted(write::delete(&transaction, schema, namespace, key, now_ms).await?)
            }
            Step::Search(wanted) => Answer::Found(search::search(&transaction, schema, wanted, now_ms).await?),
            Step::List(listing) => Answer::Namespaces(search::list(&transaction, schema, listing, now_ms).await?),
        });
    }
    transaction.commit().await?;
    Ok(answers)
}

#[async_trait::async_trait]
impl LongTermStore for PostgresLongTerm {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, LongTermError> {
        let Inner { connections, schema, settings } = &*self.0;
        let prepared = settings.prepare(ops).await?;
        if prepared.steps.is_empty() {
            return Ok(Vec::new());
        }
        // A second delete would say that there was nothing.
        let deletes = prepared.steps.iter().any(|step| matches!(step, Step::Delete { .. }));
        let repeat = if deletes { Repeat::Visible } else { Repeat::Harmless };
        let done = call!(connections, repeat, |connection| run(connection, schema, &prepared));
        done.map_err(told)?
    }

    async fn sweep(&self, now_ms: u64) -> Result<u64, LongTermError> {
        let Inner { connections, schema, .. } = &*self.0;
        let now_ms = search::time(now_ms);
        let mut all = 0;
        loop {
            let swept = call!(connections, Repeat::Visible, |connection| async {
                let transaction = connection.transaction().await?;
                match write::sweep(&transaction, schema, now_ms).await {
                    Ok(swept) => transaction.commit().await.map(|()| swept).map_err(Fault::from),
                    Err(Trouble::Fault(fault)) => Err(fault),
                    Err(Trouble::Item(error)) => Err(Fault::Corrupt(error.to_string())),
                }
            });
            match swept.map_err(told)? {
                0 => return Ok(all),
                swept => all += swept,
            }
        }
    }
}
