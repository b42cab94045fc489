//! The store: a pool, the statements, the contract.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Name, Place, SavedResult, Segment, StoreError,
    Stored, ThreadFilter, ThreadInfo,
};
use graph_engine_rows::Format;
use tokio_postgres::{Config, NoTls};

use crate::error::PostgresError;
use crate::migrate::migrate;
use crate::options::{GRACE, PostgresOptions};
use crate::pool::{Connections, Repeat, call};
use crate::sql::Sql;
use crate::value::id_bytes;
use crate::{commit, read, remove};

/// How long a new connection may take to one address.
const CONNECT: Duration = Duration::from_secs(5);

/// How long sent data may stay unconfirmed, and a silent connection unasked.
const SILENCE: Duration = Duration::from_secs(15);

/// Checkpoints in PostgreSQL. Cloning it gives another handle to the same pool.
///
/// ```no_run
/// use graph_engine::{Graph, START, State};
/// use graph_engine_postgres::PostgresStore;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     cities: Vec<String>,
/// }
///
/// async fn explore() {}
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresStore::connect("postgres://agent:secret@127.0.0.1/agents").await?;
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile()?;
/// let thread = graph.runner().store(store).thread("guest-7");
/// thread.run(Trip::update().cities(["Oslo"])).await?;
/// // After a restart of this program or of the server:
/// assert_eq!(thread.state().await?.state.cities, ["Oslo"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    connections: Connections,
    sql: Sql,
    format: Format,
    schema: String,
}

impl PostgresStore {
    /// Connects with the default options and brings the tables up to date. Without TLS: for a server across a network,
    /// hand in a pool with a connector to [`from_pool`](Self::from_pool).
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with).
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Self::connect_with(url, PostgresOptions::default()).await
    }

    /// The same with options.
    ///
    /// # Errors
    /// [`PostgresError::Url`] and [`PostgresError::SchemaName`] for what can't be right, [`PostgresError::Newer`] if a
    /// newer version of this crate made the tables, and what the server says.
    pub async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, PostgresError> {
        let pool = pool_of(url, &options)?;
        Self::from_pool(pool, options).await
    }

    /// A store over a pool that is there already: with TLS, or shared with other parts of the program. What the options
    /// say of the pool's size and of `synchronous_commit` is the pool's business then; their time limits hold. Give the
    /// pool's connections [`PostgresOptions::settings`].
    ///
    /// ```no_run
    /// use graph_engine_postgres::deadpool_postgres::{Manager, Pool, Runtime};
    /// use graph_engine_postgres::{PostgresOptions, PostgresStore, tokio_postgres};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = PostgresOptions::default();
    /// let mut config: tokio_postgres::Config = "postgres://agent:secret@db.example/agents?sslmode=require".parse()?;
    /// config.options(options.settings());
    /// // A connector for TLS, such as that of the crate `tokio-postgres-rustls`, stands here.
    /// let connector = tokio_postgres::NoTls;
    /// let pool = Pool::builder(Manager::new(config, connector)).runtime(Runtime::Tokio1).build()?;
    /// let store = PostgresStore::from_pool(pool, options).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with).
    pub async fn from_pool(pool: Pool, options: PostgresOptions) -> Result<Self, PostgresError> {
        let schema = options.schema;
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') || schema.starts_with("pg_") {
            return Err(PostgresError::SchemaName { name: schema });
        }
        let answer = options.statement_timeout + GRACE;
        let connections = Connections { pool, acquire: options.acquire_timeout, answer };
        migrate(&connections, &schema).await?;
        Ok(Self(Arc::new(Inner { connections, sql: Sql::new(&schema), format: options.format, schema })))
    }
}

/// A pool for the server of a URL.
pub(crate) fn pool_of(url: &str, options: &PostgresOptions) -> Result<Pool, PostgresError> {
    // What the parser says may quote a part of the password.
    let mut config: Config = url.parse().map_err(|_| PostgresError::Url)?;
    // Before those of the URL, so that these count where both say something.
    let settings = format!("{} {}", options.settings(), config.get_options().unwrap_or_default());
    config.options(settings.trim_end());
    if config.get_application_name().is_none() {
        config.application_name("graph-engine");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    config.keepalives_idle(SILENCE);
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, NoTls, recycling);
    let pool = Pool::builder(manager).max_size(options.pool_size.max(1)).runtime(Runtime::Tokio1).build();
    // Only a pool with timeouts of its own and without a runtime can't be built.
    Ok(pool.map_err(|_| StoreError::unavailable("the pool can't be built"))?)
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pool knows the password.
        f.debug_struct("PostgresStore").field("schema", &self.0.schema).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl CheckpointStore for PostgresStore {
    fn outlives_process(&self) -> bool {
        true
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        let Inner { connections, sql, format, .. } = &*self.0;
        let done =
            call!(connections, Repeat::Harmless, |connection| commit::commit(connection, sql, *format, place, commit));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        let Inner { connections, sql, format, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| commit::save(
            connection, sql, *format, place, head, results
        ));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| async {
            let rows = read::state(&*connection, sql, place, at.map(id_bytes), false).await?;
            rows.map(|rows| rows.stored()).transpose()
        });
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| read::field(
            connection,
            sql,
            place,
            at,
            field,
            range.clone()
        ));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| async {
            let rows = read::state(&*connection, sql, place, Some(id_bytes(id)), true).await?;
            rows.map(|rows| rows.commit()).transpose()
        });
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| read::list(connection, sql, place, filter));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Visible, |connection| remove::prune(connection, sql, place, keep));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| read::namespaces(connection, sql, thread));
        done.map_err(|fault| fault.told(thread))
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Harmless, |connection| read::threads(connection, sql, filter));
        done.map_err(|fault| fault.told("(all)"))
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Visible, |connection| remove::remove(
            connection,
            sql,
            &place.thread,
            Some(&place.namespace)
        ));
        done.map_err(|fault| fault.told(&place.thread))
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Visible, |connection| remove::copy(connection, sql, from, to));
        done.map_err(|fault| fault.told(from))
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        let Inner { connections, sql, .. } = &*self.0;
        let done = call!(connections, Repeat::Visible, |connection| remove::remove(connection, sql, thread, None));
        done.map_err(|fault| fault.told(thread))
    }
}
