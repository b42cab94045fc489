//! The store: one connection that writes, some that read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graph_engine::longterm::backend::{Prepared, Step};
use graph_engine::longterm::{Answer, LongTermError, LongTermSettings, LongTermStore, Op};
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::trouble::{Trouble, told};
use super::{items, schema, search};
use crate::options::SqliteOptions;

/// What agents remember across threads, in a SQLite file. Cloning it gives another handle to the same connections.
///
/// It may be the file of a [`SqliteStore`](crate::SqliteStore): each has tables and versions of its own, and they wait for
/// each other's writes for as long as the options say.
///
/// Filters and vectors are looked at in this process, item by item below the prefix of the search; search by text has an
/// index. That fits up to some 100,000 items below one prefix.
///
/// ```
/// use graph_engine::longterm::{LongTermSettings, LongTermStore, Namespace, Search};
/// use graph_engine_sqlite::{SqliteLongTerm, SqliteOptions};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("threads.sqlite");
/// let user = Namespace::new(["users", "7"])?;
/// let memories = SqliteLongTerm::open(&path, SqliteOptions::new(), LongTermSettings::new())?;
/// memories.put(&user, "wish", json!("a quiet room by the sea")).await?;
/// drop(memories);
///
/// // Later, in another process perhaps:
/// let memories = SqliteLongTerm::open(&path, SqliteOptions::new(), LongTermSettings::new())?;
/// let found = memories.search(Search::under(&user).text("quiet sea")).await?;
/// assert_eq!(found[0].key, "wish");
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteLongTerm {
    settings: LongTermSettings,
    connections: Arc<Connections>,
}

struct Connections {
    /// None in memory: the connection that writes is the only one.
    path: Option<PathBuf>,
    options: SqliteOptions,
    writer: Mutex<Connection>,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

/// Nothing that is guarded here is left half changed by a panic: a transaction is rolled back by the next one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SqliteLongTerm {
    /// Opens a file, or makes it; its folder has to be there. Blocks for as long as that takes. Of the options, the format
    /// of rows says nothing here.
    ///
    /// # Errors
    /// [`LongTermError::Unavailable`] if the file can't be opened, is read-only or damaged, belongs to another program or
    /// was written by a newer version.
    pub fn open(
        path: impl AsRef<Path>,
        options: SqliteOptions,
        settings: LongTermSettings,
    ) -> Result<Self, LongTermError> {
        Self::at(Some(path.as_ref()), options, settings)
    }

    /// A store in memory, for tests. It has everything but the file.
    ///
    /// # Errors
    /// [`LongTermError::Unavailable`] if there is no memory for it.
    ///
    /// ```
    /// use graph_engine::longterm::LongTermSettings;
    /// use graph_engine_sqlite::SqliteLongTerm;
    ///
    /// assert!(SqliteLongTerm::in_memory(LongTermSettings::new()).is_ok());
    /// ```
    pub fn in_memory(settings: LongTermSettings) -> Result<Self, LongTermError> {
        Self::at(None, SqliteOptions::new(), settings)
    }

    fn at(path: Option<&Path>, options: SqliteOptions, settings: LongTermSettings) -> Result<Self, LongTermError> {
        let file = path.map_or_else(|| ":memory:".into(), Path::to_string_lossy);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match path {
            Some(path) => Connection::open_with_flags(path, flags),
            None => Connection::open_in_memory(),
        };
        let mut connection = opened.map_err(|error| Trouble::from(error).told())?;
        crate::schema::prepare(&mut connection, &options, &file).map_err(told)?;
        if let Some(newer) = schema::migrate(&mut connection).map_err(|error| Trouble::from(error).told())? {
            return Err(LongTermError::unavailable(format!(
                "the memories in `{file}` have version {newer}, which this program doesn't know; open it with the newer \
                 program that wrote it"
            )));
        }
        let connections = Connections {
            path: path.map(Path::to_owned),
            writer: Mutex::new(connection),
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(options.readers)),
            options,
        };
        Ok(Self { settings, connections: Arc::new(connections) })
    }

    /// Works in a blocking task: whoever awaits it holds up nobody. If the caller goes away it is done all the same.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connections) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, LongTermError> {
        let runtime = Handle::try_current().map_err(|_| {
            LongTermError::unavailable("a store is called outside of a tokio runtime; call it inside one")
        })?;
        let connections = self.connections.clone();
        let done = runtime.spawn_blocking(move || work(&connections)).await;
        done.map_err(LongTermError::unavailable)?.map_err(Trouble::told)
    }
}

impl fmt::Debug for SqliteLongTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLongTerm").field("file", &self.connections.path).finish_non_exhaustive()
    }
}

impl Connections {
    fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let connection = lock(&self.writer);
        if !connection.is_autocommit() {
            // Left behind by something that panicked.
            connection.execute_batch("ROLLBACK")?;
        }
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let done = work(&connection).and_then(|value| {
            connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(value)
        });
        if done.is_err() && !connection.is_autocommit() {
            // If it fails the next one tries again.
            let _ = connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// All of it sees one moment.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let Some(path) = &self.path else { return work(&lock(&self.writer)) };
        let idle = lock(&self.idle).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open(path)?,
        };
        connection.prepare_cached("BEGIN")?.execute([])?;
        let done = work(&connection);
        connection.prepare_cached("COMMIT")?.execute([])?;
        lock(&self.idle).push(connection);
        done
    }

    fn open(&self, path: &Path) -> Result<Connection, Trouble> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        crate::schema::settings(&connection, &self.options)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

fn run(connection: &Connection, prepared: Prepared) -> Result<Vec<Answer>, Trouble> {
    let now_ms = items::number(prepared.now_ms);
    if prepared.steps.iter().any(|step| matches!(step, Step::Put(_) | Step::Delete { .. })) {
        items::sweep(connection, now_ms)?;
    }
    let step = |step: Step| {
        Ok(match step {
            Step::Put(put) => {
                items::put(connection, &put, now_ms)?;
                Answer::Put
            }
            Step::Get { namespace, key, refresh } => {
                Answer::Item(items::get(connection, &namespace, &key, refresh, now_ms)?)
            }
            Step::Delete { namespace, key } => Answer::Deleted(items::delete(connection, &namespace, &key)?),
            Step::Search(wanted) => Answer::Found(search::search(connection, &wanted, now_ms)?),
            Step::List(listing) => Answer::Namespaces(search::list(connection, &listing, now_ms)?),
        })
    };
    prepared.steps.into_iter().map(step).collect()
}

#[async_trait::async_trait]
impl LongTermStore for SqliteLongTerm {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, LongTermError> {
        let prepared = self.settings.prepare(ops).await?;
        if prepared.writes() {
            return self.blocking(move |connections| connections.write(|connection| run(connection, prepared))).await;
        }
        let place = self.connections.places.clone().acquire_owned().await.map_err(LongTermError::unavailable)?;
        self.blocking(move |connections| {
            let _place = place;
            connections.read(|connection| run(connection, prepared))
        })
        .await
    }

    async fn sweep(&self, now_ms: u64) -> Result<u64, LongTermError> {
        let now_ms = items::number(now_ms);
        self.blocking(move |connections| connections.write(|connection| items::sweep(connection, now_ms))).await
    }
}
