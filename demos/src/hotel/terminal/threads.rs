//! Where conversations are kept, and what they are called.

use super::Failure;
use crate::hotel::clean::clean_line;
use graph_engine::{CheckpointStore, MemoryStore, Name, StoreError, ThreadFilter};
use graph_engine_sqlite::SqliteStore;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file in the working folder, when none is named.
pub const DEFAULT_STORE: &str = "hotel.sqlite";

/// What the conversations of guests without a name are called, before their number.
pub(super) const GUEST: &str = "guest";

/// The word that stands for keeping nothing.
const MEMORY: &str = "memory";

/// An open store, and what to call it.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) store: Arc<dyn CheckpointStore>,
    /// The file; none for memory.
    file: Option<PathBuf>,
}

impl Kept {
    /// Keeps nothing beyond the program.
    pub(super) fn nowhere() -> Self {
        Self { store: Arc::new(MemoryStore::new()), file: None }
    }

    /// Opens what `--store` names.
    pub(super) fn open(named: Option<&Path>) -> Result<Self, Failure> {
        if named == Some(Path::new(MEMORY)) {
            return Ok(Self::nowhere());
        }
        let file = named.unwrap_or(Path::new(DEFAULT_STORE)).to_owned();
        match SqliteStore::open(&file) {
            Ok(store) => Ok(Self { store: Arc::new(store), file: Some(file) }),
            Err(source) => Err(Failure::Store { store: file.display().to_string(), source }),
        }
    }

    /// Whether it outlives the program.
    pub(super) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// The highest number among the threads of a family whose names begin so.
    async fn newest(&self, prefix: &str, family: &str) -> Result<Option<u64>, Failure> {
        let filter = ThreadFilter::default().prefix(prefix);
        let found = self.store.threads(&filter).await.map_err(|source| self.failure(source))?;
        let numbers = found.iter().map(|info| numbered(&info.thread)).filter(|(other, _)| *other == family);
        Ok(numbers.map(|(_, number)| number).max())
    }

    /// The newest thread of the guests without a name.
    pub(super) async fn last_guest(&self) -> Result<Option<Name>, Failure> {
        let newest = self.newest(&format!("{GUEST}-"), GUEST).await?;
        Ok(newest.map(|number| format!("{GUEST}-{number}").into()))
    }

    /// A name of this family that no thread has: `guest-1`, `guest-2` and so on; `guest` itself counts as the first.
    pub(super) async fn next_of(&self, family: &str) -> Result<Name, Failure> {
        let newest = self.newest(family, family).await?.unwrap_or(0);
        Ok(format!("{family}-{}", newest.saturating_add(1)).into())
    }

    /// What to say when a thread is not there.
    pub(super) async fn unknown(&self, thread: Option<&Name>) -> Failure {
        match self.store.threads(&ThreadFilter::default().limit(20)).await {
            Ok(found) => Failure::UnknownThread {
                thread: thread.cloned(),
                store: self.to_string(),
                known: found.into_iter().map(|info| info.thread).collect(),
            },
            Err(source) => self.failure(source),
        }
    }

    pub(super) fn failure(&self, source: StoreError) -> Failure {
        Failure::Store { store: self.to_string(), source }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", clean_line(&file.display().to_string())),
            None => f.write_str(MEMORY),
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The family of a thread and its number in it.
pub(super) fn numbered(thread: &str) -> (&str, u64) {
    let numbered = thread.rsplit_once('-').and_then(|(family, number)| {
        let plain = !family.is_empty() && !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
        plain.then_some((family, number.parse().ok()?))
    });
    numbered.unwrap_or((thread, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_the_end_belongs_to_the_family() {
        assert_eq!(numbered("guest-12"), ("guest", 12));
        assert_eq!(numbered("anna"), ("anna", 1));
        assert_eq!(numbered("anna-maria-3"), ("anna-maria", 3));
        for odd in ["-3", "a-", "a-03", "a--", "a-99999999999999999999", "a-+3"] {
            assert_eq!(numbered(odd), (odd, 1));
        }
    }

    #[tokio::test]
    async fn an_empty_store_has_no_guest_and_the_first_is_number_one() {
        let kept = Kept::nowhere();
        assert_eq!(kept.last_guest().await.unwrap(), None);
        assert_eq!(kept.next_of(GUEST).await.unwrap(), "guest-1");
    }
}
