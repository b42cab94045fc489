//! What a store can be told.

use std::time::Duration;

use graph_engine_rows::Format;

/// How much longer than the server's own limit a call waits for an answer.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// What an acknowledged commit promises, as PostgreSQL's `synchronous_commit`. None of them can tear a checkpoint: what
/// is lost are whole commits, the newest ones, and the thread goes on from the one before.
///
/// ```
/// use graph_engine_postgres::SynchronousCommit;
///
/// assert_eq!(SynchronousCommit::default(), SynchronousCommit::On);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SynchronousCommit {
    /// An acknowledged commit may be lost when the server crashes within the next moments (three times its
    /// `wal_writer_delay`, 0.6 s by default). A crash of this program loses nothing. The fastest.
    Off,
    /// It survives a crash of the server's machine, and may be lost if a standby takes over.
    Local,
    /// It survives a crash of the server's machine; with synchronous standbys, they have received it as well and lose
    /// it only if their machines crash too.
    RemoteWrite,
    /// It survives a crash of the server's machine; with synchronous standbys, the crash of theirs too.
    #[default]
    On,
    /// As [`On`](Self::On), and synchronous standbys already show it to readers.
    RemoteApply,
}

impl SynchronousCommit {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Local => "local",
            Self::RemoteWrite => "remote_write",
            Self::On => "on",
            Self::RemoteApply => "remote_apply",
        }
    }
}

/// How a [`PostgresStore`](crate::PostgresStore) works.
///
/// ```
/// use std::time::Duration;
/// use graph_engine_postgres::PostgresOptions;
///
/// let options = PostgresOptions::default().pool_size(4).schema("agents").statement_timeout(Duration::from_secs(3));
/// assert_eq!((options.pool_size, &*options.schema), (4, "agents"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// Connections at most (16). Each call uses one while it runs.
    pub pool_size: usize,
    /// The schema that holds the tables (`graph_engine`); it is made if it is not there.
    pub schema: String,
    /// How new rows are written ([`Format::Json`]); rows of both formats can always be read.
    pub format: Format,
    /// What an acknowledged commit promises ([`SynchronousCommit::On`]).
    pub synchronous_commit: SynchronousCommit,
    /// How long a call waits for a connection, free or new (5 s).
    pub acquire_timeout: Duration,
    /// How long the server may work on one statement, its waits for locks included (10 s). A call that hears nothing for
    /// a second more gives its connection up.
    pub statement_timeout: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            pool_size: 16,
            schema: "graph_engine".to_owned(),
            format: Format::default(),
            synchronous_commit: SynchronousCommit::default(),
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
        }
    }
}

impl PostgresOptions {
    /// Connections at most; 0 counts as 1.
    #[must_use]
    pub fn pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections.max(1);
        self
    }

    /// The schema that holds the tables.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// How new rows are written.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// What an acknowledged commit promises.
    #[must_use]
    pub fn synchronous_commit(mut self, promise: SynchronousCommit) -> Self {
        self.synchronous_commit = promise;
        self
    }

    /// How long a call waits for a connection.
    #[must_use]
    pub fn acquire_timeout(mut self, time: Duration) -> Self {
        self.acquire_timeout = time;
        self
    }

    /// How long the server may work on one statement.
    #[must_use]
    pub fn statement_timeout(mut self, time: Duration) -> Self {
        self.statement_timeout = time;
        self
    }

    /// What connections are started with, as the text of PostgreSQL's start-up parameter `options`. For pools of your
    /// own; a store that connects itself uses it. Beside the limits and the promise it says that plans are made once and
    /// by indexes: a plan that was made while a table was empty would otherwise be kept when it is large.
    ///
    /// ```
    /// use graph_engine_postgres::PostgresOptions;
    ///
    /// assert!(PostgresOptions::default().settings().starts_with("-c statement_timeout=10000 -c"));
    /// ```
    #[must_use]
    pub fn settings(&self) -> String {
        format!(
            "-c statement_timeout={} -c idle_in_transaction_session_timeout={} -c synchronous_commit={} \
             -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off \
             -c enable_sort=off -c jit=off",
            self.statement_timeout.as_millis().max(1),
            (self.statement_timeout + GRACE).as_millis(),
            self.synchronous_commit.as_str(),
        )
    }
}
