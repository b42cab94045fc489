//! What goes wrong in a batch, and what the caller is told of it.

use graph_engine::StoreError;
use graph_engine::longterm::LongTermError;

use crate::fault::Fault;

/// Why a batch failed.
#[derive(Debug)]
pub(super) enum Trouble {
    Fault(Fault),
    /// One item is to blame.
    Item(LongTermError),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl From<LongTermError> for Trouble {
    fn from(error: LongTermError) -> Self {
        Self::Item(error)
    }
}

/// What the caller is told of a fault.
pub(super) fn told(fault: Fault) -> LongTermError {
    match fault.told("") {
        StoreError::Full { cause } => LongTermError::full(cause),
        StoreError::Unavailable { cause } => LongTermError::unavailable(cause),
        other => LongTermError::unavailable(other),
    }
}
