//! What goes wrong in a call, and what the engine is told of it. Nothing here ever names the URL or the password.

use std::time::Duration;

use graph_engine::StoreError;
use tokio_postgres::error::SqlState;

/// Why a call failed, before anybody knows which thread it was for.
#[derive(Debug)]
pub(crate) enum Fault {
    /// PostgreSQL or the connection to it said so.
    Database(tokio_postgres::Error),
    /// No connection within the time for it.
    NoConnection(String),
    /// No answer within the time for it.
    NoAnswer(Duration),
    /// Another writer was faster.
    Conflict(String),
    /// What is stored can't be understood.
    Corrupt(String),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl Fault {
    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Database(error) => error.code(),
            _ => None,
        }
    }

    /// The server undid the transaction because of others: repeating it is right, whatever it was.
    pub(crate) fn is_contention(&self) -> bool {
        self.state().is_some_and(|state| {
            *state == SqlState::T_R_SERIALIZATION_FAILURE || *state == SqlState::T_R_DEADLOCK_DETECTED
        })
    }

    /// The connection is gone, and nobody knows what became of the call.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Database(error) => match error.code() {
                Some(state) => {
                    state.code().starts_with("08")
                        || [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW]
                            .contains(state)
                }
                // What the server didn't refuse itself is a matter of the connection, but for values that don't fit
                // their columns.
                None => error.is_closed() || std::error::Error::source(error).is_some_and(|e| e.is::<std::io::Error>()),
            },
            Self::NoAnswer(_) => true,
            _ => false,
        }
    }

    pub(crate) fn is_unique_violation(&self) -> bool {
        self.state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// What the engine is told.
    pub(crate) fn told(self, thread: &str) -> StoreError {
        let text = self.text();
        match self {
            Self::Conflict(why) => StoreError::conflict(thread, why),
            Self::Corrupt(why) => StoreError::corrupt(thread, why),
            Self::NoConnection(_) | Self::NoAnswer(_) => StoreError::unavailable(text),
            Self::Database(error) => match error.code() {
                Some(state) if *state == SqlState::DISK_FULL || *state == SqlState::OUT_OF_MEMORY => {
                    StoreError::full(text)
                }
                Some(state) if *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED => {
                    StoreError::corrupt(thread, text)
                }
                _ => StoreError::unavailable(text),
            },
        }
    }

    /// The fault in words. Details of the server's message are left out: they may quote values.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Database(error) => match error.as_db_error() {
                Some(said) => format!("PostgreSQL said {} ({})", said.message(), said.code().code()),
                None => match std::error::Error::source(error) {
                    Some(source) => format!("the connection to PostgreSQL failed: {error} ({source})"),
                    None => format!("the connection to PostgreSQL failed: {error}"),
                },
            },
            Self::NoAnswer(after) => format!("PostgreSQL gave no answer within {} ms", after.as_millis()),
            Self::NoConnection(why) | Self::Conflict(why) | Self::Corrupt(why) => why.clone(),
        }
    }
}
