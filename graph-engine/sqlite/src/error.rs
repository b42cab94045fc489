//! What SQLite says, as the errors of a store.

use graph_engine::StoreError;
use rusqlite::{Error, ErrorCode};

/// Why a write didn't happen.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It was refused before anything was written.
    Refused(StoreError),
    /// SQLite failed, perhaps in the middle.
    Sql(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Failed {
    pub(crate) fn of(self, thread: &str) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Sql(error) => sql(error, thread),
        }
    }
}

/// The store's error for one of SQLite's, met while working on a thread.
pub(crate) fn sql(error: Error, thread: &str) -> StoreError {
    let Some(code) = error.sqlite_error_code() else {
        // A value of another type than the schema says, or none where there has to be one.
        return StoreError::corrupt(thread, format!("a row can't be read: {error}"));
    };
    match code {
        ErrorCode::DiskFull => StoreError::full(error),
        ErrorCode::TooBig => StoreError::full(format!("a value is larger than SQLite takes: {error}")),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::corrupt(
            thread,
            format!(
                "{error}; `PRAGMA integrity_check` says what is damaged, `sqlite3 FILE .recover` saves what can be read"
            ),
        ),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            StoreError::unavailable(format!("another process writes for longer than the busy timeout: {error}"))
        }
        ErrorCode::ReadOnly => StoreError::unavailable(format!(
            "the file can't be written: {error}; give this user the right to write the file and its folder"
        )),
        ErrorCode::CannotOpen => StoreError::unavailable(format!(
            "the file can't be opened: {error}; its folder has to be there and writable"
        )),
        _ => StoreError::unavailable(error),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn every_code_asks_for_what_helps() {
        let kind = |code: i32| match sql(Error::SqliteFailure(ffi::Error::new(code), None), "guest-7") {
            StoreError::Conflict { .. } => "conflict",
            StoreError::Corrupt { thread, .. } if thread == "guest-7" => "corrupt",
            StoreError::Unavailable { .. } => "unavailable",
            StoreError::Full { .. } => "full",
            other => panic!("{other}"),
        };
        for (code, expected) in [
            (ffi::SQLITE_FULL, "full"),
            (ffi::SQLITE_TOOBIG, "full"),
            (ffi::SQLITE_CORRUPT, "corrupt"),
            (ffi::SQLITE_NOTADB, "corrupt"),
            (ffi::SQLITE_BUSY, "unavailable"),
            (ffi::SQLITE_LOCKED, "unavailable"),
            (ffi::SQLITE_READONLY, "unavailable"),
            (ffi::SQLITE_IOERR, "unavailable"),
            (ffi::SQLITE_CANTOPEN, "unavailable"),
            (ffi::SQLITE_NOMEM, "unavailable"),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
        let StoreError::Corrupt { why, .. } = sql(Error::InvalidQuery, "t") else { panic!("corrupt") };
        assert!(why.starts_with("a row can't be read: "));
    }
}
