//! The store: changes go through the queue, questions to readers, and what is short to whoever can answer it at once.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, Keep, Mark, Name, Place, SavedResult, Segment,
    StoreError, Stored, ThreadFilter, ThreadInfo,
};
use rusqlite::{Connection, OpenFlags};

use crate::error::{Failed, sql};
use crate::options::SqliteOptions;
use crate::queue::{Queue, SqliteStats};
use crate::read::Most;
use crate::readers::Readers;
use crate::write::{Change, Writer};
use crate::{read, schema};

/// Checkpoints in a SQLite file. Cloning it gives another handle to the same connections.
///
/// One connection writes. What is asked of it while a transaction runs goes into the next one, so many threads share one
/// wait for the disk; each caller is answered when its change is in the file. Others read at the same time. A call that
/// is dropped is carried out all the same, whole; repeating it is harmless.
///
/// Several processes may open one file: of two writers of one thread exactly one wins, the other gets
/// [`StoreError::Conflict`]. The file has to be on a disk of this machine, not on a network drive.
///
/// ```
/// use graph_engine::{Graph, START, State};
/// use graph_engine_sqlite::SqliteStore;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     cities: Vec<String>,
/// }
///
/// async fn explore() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("threads.sqlite");
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let runner = graph.runner().store(SqliteStore::open(&path).unwrap());
/// runner.thread("guest-7").run(Trip::update().cities(["Oslo"])).await.unwrap();
/// drop(runner);
///
/// // Later, in another process perhaps:
/// let runner = graph.runner().store(SqliteStore::open(&path).unwrap());
/// let end = runner.thread("guest-7").run(Trip::update().cities(["Bergen"])).await.unwrap();
/// assert_eq!(end.state.cities, ["Oslo", "Bergen"]);
/// # });
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    file: Arc<str>,
    /// A number that no other store of this process has, for its marks.
    opened: u64,
    queue: Arc<Queue>,
    /// None for a store in memory: its only connection is the one that writes.
    readers: Option<Arc<Readers>>,
}

impl SqliteOptions {
    /// Opens a file, or makes it; its folder has to be there. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the file can't be opened, is read-only, belongs to another program or was written
    /// by a newer version; [`StoreError::Corrupt`] if it is damaged or no database.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::at(Some(path.as_ref()), self)
    }

    /// A store in memory: everything of this one but the file.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no memory for it.
    pub fn in_memory(self) -> Result<SqliteStore, StoreError> {
        SqliteStore::at(None, self)
    }
}

impl SqliteStore {
    /// The file that [`open_default`](Self::open_default) opens, in the working folder.
    pub const DEFAULT_FILE: &str = "graph-engine.sqlite";

    /// Opens a file, or makes it; its folder has to be there. Blocks for as long as that takes.
    ///
    /// # Errors
    /// Those of [`SqliteOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        SqliteOptions::new().open(path)
    }

    /// Opens [`DEFAULT_FILE`](Self::DEFAULT_FILE) in the working folder: each project has its own threads, and they
    /// are where one looks for them.
    ///
    /// # Errors
    /// Those of [`SqliteOptions::open`].
    pub fn open_default() -> Result<Self, StoreError> {
        Self::open(Self::DEFAULT_FILE)
    }

    /// A store in memory, for tests. It has everything but the file.
    ///
    /// # Errors
    /// Those of [`SqliteOptions::in_memory`].
    ///
    /// ```
    /// use graph_engine::CheckpointStore;
    /// use graph_engine_sqlite::SqliteStore;
    ///
    /// assert!(!SqliteStore::in_memory().unwrap().outlives_process());
    /// ```
    pub fn in_memory() -> Result<Self, StoreError> {
        SqliteOptions::new().in_memory()
    }

    fn at(path: Option<&Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let file = path.map_or_else(|| ":memory:".into(), Path::to_string_lossy);
        // Without SQLITE_OPEN_URI: a name is a name, whatever it begins with.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = match path {
            Some(path) => Connection::open_with_flags(path, flags),
            None => Connection::open_in_memory(),
        };
        let mut connection = opened.map_err(|error| sql(error, &format!("(all of `{file}`)")))?;
        schema::prepare(&mut connection, &options, &file)?;
        let queue = Queue::new(Writer::new(connection, options.format), &options);
        let file = file.into();
        let readers = path.map(|path| Readers::new(path.to_owned(), options));
        static OPENED: AtomicU64 = AtomicU64::new(0);
        Ok(Self { file, opened: OPENED.fetch_add(1, Ordering::Relaxed), queue, readers })
    }

    /// What was done since it was opened, for tests and metrics.
    #[must_use]
    pub fn stats(&self) -> SqliteStats {
        self.queue.stats()
    }

    /// Answers a question on the thread that asks, if that holds up nobody.
    async fn at_once<T>(
        &self,
        may: impl FnOnce(&Readers) -> bool + Send,
        question: impl FnOnce(&Connection) -> Result<Option<T>, Failed> + Send,
    ) -> Option<T> {
        let readers = self.readers.as_ref().filter(|readers| may(readers))?;
        // Others have their turn too.
        tokio::task::consume_budget().await;
        readers.at_once(question)
    }

    async fn ask<T: Send + 'static>(
        &self,
        thread: &str,
        question: impl FnOnce(&Connection) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.readers {
            Some(readers) => readers.ask(thread, question).await,
            None => {
                let answer = self.queue.ask(move |writer| question(&writer.connection)).await?;
                answer.map_err(|failed| failed.of(thread))
            }
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("file", &self.file).field("stats", &self.stats()).finish()
    }
}

#[async_trait::async_trait]
impl CheckpointStore for SqliteStore {
    fn outlives_process(&self) -> bool {
        self.readers.is_some()
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        self.queue.commit(place, commit).await
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        self.queue.change(Change::Save(place.clone(), head, results.to_vec())).await.map(drop)
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        if self.readers.as_ref().is_some_and(|readers| readers.is_new(place)) {
            return Ok(None);
        }
        let (of, opened) = (place.clone(), self.opened);
        let head = |connection: &Connection| read::load(connection, place, None, opened, Most::Little);
        let stored = match self.at_once(|readers| at.is_none() && readers.warm.state(place), head).await {
            Some(stored) => Some(stored),
            None => {
                self.ask(&place.thread, move |connection| read::load(connection, &of, at, opened, Most::All)).await?
            }
        };
        if let (Some(readers), Some(stored), None) = (&self.readers, &stored, at) {
            readers.warm.loaded(place, stored);
        }
        Ok(stored)
    }

    async fn load_since(&self, place: &Place, mark: Mark) -> Result<Option<Stored>, StoreError> {
        let opened = self.opened;
        let short = |connection: &Connection| read::load_since(connection, place, mark, opened, Most::Little);
        tokio::task::consume_budget().await;
        let reader = || self.readers.as_ref().and_then(|readers| readers.at_once(short));
        let asked = self.queue.ask_at_once(short).unwrap_or_else(reader);
        if asked.is_some() {
            return Ok(asked);
        }
        let of = place.clone();
        let question = move |connection: &Connection| match read::load_since(connection, &of, mark, opened, Most::All)?
        {
            Some(since) => Ok(Some(since)),
            None => read::load(connection, &of, None, opened, Most::All),
        };
        self.ask(&place.thread, question).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        let (of, field) = (place.clone(), field.to_owned());
        self.ask(&place.thread, move |connection| read::field(connection, &of, at, &field, &range)).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        let of = place.clone();
        self.ask(&place.thread, move |connection| read::row(connection, &of, id)).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        let newest = |connection: &Connection| read::list(connection, place, filter, Most::Little).map(Some);
        if let Some(found) = self.at_once(|readers| readers.warm.list(place, filter), newest).await {
            return Ok(found);
        }
        let (of, filter) = (place.clone(), filter.clone());
        let found = self.ask(&place.thread, move |connection| read::list(connection, &of, &filter, Most::All)).await?;
        if let Some(readers) = &self.readers {
            readers.warm.listed(place);
        }
        Ok(found)
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.queue.change(Change::Prune(place.clone(), keep)).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        let of = thread.to_owned();
        self.ask(thread, move |connection| read::namespaces(connection, &of)).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        let filter = filter.clone();
        self.ask(&format!("(all of `{}`)", self.file), move |connection| read::threads(connection, &filter)).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.queue.change(Change::Clear(place.clone())).await.map(|found| found != 0)
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.queue.change(Change::Copy(from.into(), to.into())).await.map(drop)
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.queue.change(Change::Delete(thread.into())).await.map(|found| found != 0)
    }
}
