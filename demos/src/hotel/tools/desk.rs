//! The catalogue as the tools reach it.

use crate::hotel::catalogue::Catalogue;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The catalogue behind a lock. Questions to it take well under a millisecond
/// and block; the lock is held for one question and never over an await.
pub struct Desk {
    catalogue: Mutex<Catalogue>,
}

impl Desk {
    /// Opens the desk.
    #[must_use]
    pub fn new(catalogue: Catalogue) -> Self {
        Self { catalogue: Mutex::new(catalogue) }
    }

    /// Asks one question.
    pub fn ask<T>(&self, question: impl FnOnce(&Catalogue) -> T) -> T {
        // Questions only read, so a panic in one leaves nothing half done.
        question(&self.catalogue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}
