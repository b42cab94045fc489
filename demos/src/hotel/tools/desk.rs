//! The catalogue as the tools reach it.

use crate::hotel::catalogue::{Catalogue, Hotel};
use graph_engine::BoxError;
use graph_nodes::coalesce::{CoalesceError, Coalescer, CoalescerMetrics};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the first look-up of a record waits for others.
const WINDOW: Duration = Duration::from_millis(2);

/// The catalogue behind a lock, for all guests. Questions to it take well under
/// a millisecond and block; the lock is held for one question and never over an
/// await.
///
/// Single records are looked up together: those that one guest's calls ask for
/// at the same time are one question. Guests never share one.
pub struct Desk {
    shelf: Arc<Shelf>,
    records: Coalescer<String, Hotel>,
}

struct Shelf {
    catalogue: Mutex<Catalogue>,
    questions: AtomicUsize,
}

impl Desk {
    /// Opens the desk.
    #[must_use]
    pub fn new(catalogue: Catalogue) -> Self {
        let shelf = Arc::new(Shelf { catalogue: Mutex::new(catalogue), questions: AtomicUsize::new(0) });
        let loader = shelf.clone();
        let records = Coalescer::builder().window(WINDOW).build(move |_guest, names: Vec<String>| {
            let found = loader.ask(|catalogue| catalogue.by_names(&names));
            async move {
                let pairs = names.into_iter().zip(found?);
                let found = pairs.filter_map(|(name, hotel)| Some((name, hotel?)));
                Ok::<HashMap<String, Hotel>, BoxError>(found.collect())
            }
        });
        Self { shelf, records }
    }

    /// Asks one question.
    pub fn ask<T>(&self, question: impl FnOnce(&Catalogue) -> T) -> T {
        self.shelf.ask(question)
    }

    /// The record of a hotel, looked up together with those that the same guest's
    /// other calls ask for now.
    ///
    /// # Errors
    ///
    /// [`CoalesceError`] if the guest's name is blank or the catalogue fails.
    pub async fn record(&self, guest: &str, name: &str) -> Result<Option<Hotel>, CoalesceError> {
        self.records.tenant(guest).get(name.to_owned()).await
    }

    /// How many questions the catalogue was asked.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.shelf.questions.load(Ordering::Relaxed)
    }

    /// What was counted of single records.
    #[must_use]
    pub fn records(&self) -> CoalescerMetrics {
        self.records.metrics()
    }
}

impl Shelf {
    fn ask<T>(&self, question: impl FnOnce(&Catalogue) -> T) -> T {
        self.questions.fetch_add(1, Ordering::Relaxed);
        // Questions only read, so a panic in one leaves nothing half done.
        question(&self.catalogue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("questions", &self.questions()).finish_non_exhaustive()
    }
}
