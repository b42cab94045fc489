//! Connections that only read, each used by one caller at a time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use graph_engine::{Place, StoreError};
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::error::{Failed, sql};
use crate::options::SqliteOptions;
use crate::warm::Warm;
use crate::{read, schema};

pub(crate) struct Readers {
    path: PathBuf,
    options: SqliteOptions,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
    pub(crate) warm: Warm,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, options: SqliteOptions) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(options.readers));
        Arc::new(Self { path, options, idle: Mutex::default(), places, warm: Warm::default() })
    }

    /// Asks a connection, in a blocking task: whoever awaits it holds up nobody, and may go away.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        thread: &str,
        question: impl FnOnce(&Connection) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (readers, thread) = (self.clone(), thread.to_owned());
        let place = self.places.clone().acquire_owned().await.map_err(StoreError::unavailable)?;
        let runtime = Handle::try_current()
            .map_err(|_| StoreError::unavailable("a store is called outside of a tokio runtime; call it inside one"))?;
        let asked = runtime.spawn_blocking(move || {
            let _place = place;
            let connection = readers.take().map_err(|error| sql(error, &thread))?;
            let answer = read::in_one_moment(&connection, question);
            if connection.is_autocommit() {
                let mut idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
                // Whoever asks at once takes one without a place, and another one may have been opened meanwhile.
                if idle.len() < readers.options.readers {
                    idle.push(connection);
                }
            }
            answer.map_err(|failed| failed.of(&thread))
        });
        asked.await.unwrap_or_else(|error| Err(StoreError::unavailable(error)))
    }

    /// Whether nothing of a place is there, as far as that can be told at once: the first look of a new thread needs no
    /// task of its own.
    pub(crate) fn is_new(&self, place: &Place) -> bool {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = idle().pop() else { return false };
        // One statement is one moment, and nobody waits for a lock here.
        let looked = connection.busy_timeout(Duration::ZERO).and_then(|()| read::space(&connection, place));
        if connection.busy_timeout(self.options.busy_timeout).is_ok() {
            idle().push(connection);
        }
        matches!(looked, Ok(None))
    }

    /// Asks on the thread that calls, for what most likely lies in memory and is short ([`Warm`]). `None` if
    /// there is no answer at once.
    pub(crate) fn at_once<T>(&self, question: impl FnOnce(&Connection) -> Result<Option<T>, Failed>) -> Option<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = idle().pop()?;
        // Nobody waits for a lock here.
        let answer = match connection.busy_timeout(Duration::ZERO) {
            Ok(()) => read::in_one_moment(&connection, question),
            Err(error) => Err(error.into()),
        };
        if connection.busy_timeout(self.options.busy_timeout).is_ok() && connection.is_autocommit() {
            idle().push(connection);
        }
        answer.ok().flatten()
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.open(), Ok)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        schema::settings(&connection, &self.options)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}
