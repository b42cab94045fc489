//! What goes wrong in a batch, and what the caller is told of it.

use graph_engine::StoreError;
use graph_engine::longterm::LongTermError;

use crate::error::sql;

/// Why a batch failed.
#[derive(Debug)]
pub(super) enum Trouble {
    Sql(rusqlite::Error),
    /// One item is to blame.
    Item(LongTermError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<LongTermError> for Trouble {
    fn from(error: LongTermError) -> Self {
        Self::Item(error)
    }
}

impl Trouble {
    pub(super) fn told(self) -> LongTermError {
        match self {
            Self::Item(error) => error,
            Self::Sql(error) => told(sql(error, "")),
        }
    }
}

/// The same of what the checkpoint store would say.
pub(super) fn told(error: StoreError) -> LongTermError {
    match error {
        StoreError::Full { cause } => LongTermError::full(cause),
        StoreError::Unavailable { cause } => LongTermError::unavailable(cause),
        // The file as a whole.
        StoreError::Corrupt { why, .. } => LongTermError::unavailable(format!("the file is damaged: {why}")),
        other => LongTermError::unavailable(other),
    }
}
