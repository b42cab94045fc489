//! How a file is opened and how much it promises.

use std::time::Duration;

use graph_engine_rows::Format;

/// What an acknowledged commit survives. The file is in WAL mode, so none of these lets the death of the process alone
/// lose or damage anything.
///
/// ```
/// use graph_engine_sqlite::Synchronous;
///
/// assert_eq!(Synchronous::default(), Synchronous::Full);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// Never waits for the disk. Survives the death of the process; a power loss or a crash of the operating system may
    /// lose the last commits and may damage the file. For tests, and for what can be made again.
    Off,
    /// Waits for the disk only when the log is folded into the file. Survives the death of the process; a power loss may
    /// lose the last commits, never damages the file and never keeps a later commit without the earlier ones.
    Normal,
    /// Waits for the disk once a group of commits. Survives the death of the process and a power loss.
    #[default]
    Full,
    /// As `Full`, and also waits for the folder when the log is removed. In WAL mode it adds next to nothing.
    Extra,
}

impl Synchronous {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
            Self::Extra => "EXTRA",
        }
    }
}

/// How to open a [`SqliteStore`](crate::SqliteStore).
///
/// ```
/// use std::time::Duration;
/// use graph_engine_sqlite::{Format, SqliteOptions, Synchronous};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("threads.sqlite");
/// let store = SqliteOptions::new()
///     .synchronous(Synchronous::Normal)
///     .format(Format::MessagePack)
///     .busy_timeout(Duration::from_secs(2))
///     .open(&path)
///     .unwrap();
/// assert_eq!(store.stats().transactions, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    pub(crate) synchronous: Synchronous,
    pub(crate) format: Format,
    pub(crate) busy_timeout: Duration,
    pub(crate) readers: usize,
    pub(crate) max_pages: Option<u32>,
    pub(crate) flushes_in_place: bool,
}

impl Default for SqliteOptions {
    /// `Full`, JSON, 5 seconds, 4 readers, no limit, no flush in place.
    fn default() -> Self {
        Self {
            synchronous: Synchronous::Full,
            format: Format::Json,
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            max_pages: None,
            flushes_in_place: false,
        }
    }
}

impl SqliteOptions {
    /// `Full`, JSON, 5 seconds, 4 readers, no limit, no flush in place.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What an acknowledged commit survives.
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How new rows are written. Rows that are there already can be read whichever it is.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// How long a call waits while another process writes. After that it is [`StoreError::Unavailable`](graph_engine::StoreError::Unavailable).
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many calls may read at once on threads for blocking work, at least 1. Each has a connection of its own.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// How many pages of 4,096 bytes the file may have. A commit beyond is [`StoreError::Full`](graph_engine::StoreError::Full).
    #[must_use]
    pub fn max_pages(mut self, pages: u32) -> Self {
        self.max_pages = Some(pages);
        self
    }

    /// Whether a thread that commits alone waits for the disk where it is, instead of handing its commit to another thread
    /// of the operating system and being woken by it. That saves some tens of microseconds a commit, a good part of what a
    /// fast disk takes.
    ///
    /// Everything else on the calling thread stands still during each wait, and has its turn after it. So it is for a
    /// process that has one conversation at a time, or a runtime with one thread for each. Without it only commits that
    /// need not wait for the disk are made in place.
    ///
    /// ```
    /// use graph_engine_sqlite::{SqliteOptions, Synchronous};
    ///
    /// let options = SqliteOptions::new().synchronous(Synchronous::Full).flushes_in_place(true);
    /// # assert_ne!(options, SqliteOptions::new());
    /// ```
    #[must_use]
    pub fn flushes_in_place(mut self, in_place: bool) -> Self {
        self.flushes_in_place = in_place;
        self
    }
}
