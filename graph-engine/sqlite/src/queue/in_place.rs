//! When a commit may be made on the thread that asks for it.
//!
//! A commit that doesn't wait for the disk takes some microseconds, as long as handing it to another thread and hearing
//! of it again. So a thread that commits alone does it in place, if nothing in it can wait:
//!
//! - not for the disk: only with [`Synchronous::Off`] and [`Synchronous::Normal`], where the disk is told when the log is
//!   folded into the file, and by the first commit after that. Both are done by the queue: a commit in place never folds,
//!   and now and then two commits in turn take the way through the queue, the first of which may fold. Whoever sets
//!   [`SqliteOptions::flushes_in_place`] waits for the disk in place too, except to fold.
//! - not for another process: if the file is locked the queue waits for it.
//! - not for long: only small commits.
//!
//! Whoever isn't alone is better off in the queue, where commits share a transaction. Alone is a place whose changes
//! were the last ones; and the next place, if the one before it was alone for a while: conversations then follow each
//! other, while those that run at once come in turn.

use std::time::Duration;

use graph_engine::{Commit, Place};
use rusqlite::Connection;

use crate::options::{SqliteOptions, Synchronous};

/// How many bytes a commit in place may have.
const MOST: usize = 32 * 1_024;

/// From how many pages on the log is folded into the file: what SQLite itself would take.
const FOLD: usize = 1_000;

/// The same where every commit waits for the disk. A commit in a part of the log that was there before takes a third less
/// than one that makes it longer, so it is kept short; what folding waits for is little beside that.
const FOLD_FLUSHED: usize = 250;

const PAGE: usize = 4_096;

/// How many pages a place touches that is new: tables, and their indices.
const NEW: usize = 8;

/// After how many changes of one place in turn the next place needs no look at whether it is alone.
const WHILE: u32 = 16;

/// Who is alone, and how the connection is set.
pub(super) struct InPlace {
    allowed: bool,
    patience: Duration,
    /// Whose changes the last ones were.
    last: Option<Place>,
    /// How many of its changes came in turn.
    run: u32,
    /// How many of them in turn went through the queue: the second one doesn't fold, so nothing is due after it.
    queued: u8,
    pages: usize,
    /// From how many pages on the queue folds.
    fold: usize,
    /// From how many pages on the connection folds, once it was told; 0 for never.
    folds: Option<usize>,
    waits: bool,
}

impl InPlace {
    pub(super) fn new(options: &SqliteOptions) -> Self {
        let no_flush = matches!(options.synchronous, Synchronous::Off | Synchronous::Normal);
        let allowed = no_flush || options.flushes_in_place;
        let patience = options.busy_timeout;
        let fold = if no_flush { FOLD } else { FOLD_FLUSHED };
        Self { allowed, patience, last: None, run: 0, queued: 0, pages: 0, fold, folds: None, waits: true }
    }

    /// Whether commits may be made in place at all.
    pub(super) fn allowed(&self) -> bool {
        self.allowed
    }

    /// Whether a commit in place waits for the disk.
    pub(super) fn flushes(&self) -> bool {
        self.allowed && self.fold == FOLD_FLUSHED
    }

    /// Whether this one may; the connection is ready for it then.
    pub(super) fn begin(&mut self, connection: &Connection, place: &Place, commit: &Commit) -> bool {
        let follows = self.last.as_ref() == Some(place);
        if self.queued < 2 || commit.bytes.len() > MOST || !(follows || self.run >= WHILE) {
            return false;
        }
        // A record, and what a full page or a new place brings with it.
        let touched = 2 + commit.bytes.len() / PAGE * 2 + if follows { 0 } else { NEW };
        let Some(left) = self.pages.checked_sub(touched) else {
            self.queued = 0;
            return false;
        };
        self.pages = left;
        self.came(Some(place));
        self.set(connection, 0, false).is_ok()
    }

    /// Changes go through the queue: of one place, or of several.
    pub(super) fn queue(&mut self, connection: &Connection, place: Option<&Place>) -> rusqlite::Result<()> {
        // After one that may not fold the next one may, or a log to which much goes this way would never be folded.
        self.queued = if self.came(place) && self.queued < 2 { self.queued + 1 } else { 1 };
        let second = self.allowed && self.queued == 2;
        if second {
            self.pages = self.fold / 2;
        }
        self.set(connection, if second { 0 } else { self.fold }, true)
    }

    /// A change of one place, or of several at once, came; whether it is that of the last one.
    fn came(&mut self, place: Option<&Place>) -> bool {
        let follows = place.is_some() && self.last.as_ref() == place;
        if follows {
            self.run = self.run.saturating_add(1);
        } else {
            (self.last, self.run) = (place.cloned(), u32::from(place.is_some()));
        }
        follows
    }

    /// A question is asked in place; the connection is ready for it then.
    pub(super) fn ask(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.wait(connection, false)
    }

    fn set(&mut self, connection: &Connection, folds: usize, waits: bool) -> rusqlite::Result<()> {
        if self.folds != Some(folds) {
            connection.pragma_update(None, "wal_autocheckpoint", folds as i64)?;
            self.folds = Some(folds);
        }
        self.wait(connection, waits)
    }

    fn wait(&mut self, connection: &Connection, waits: bool) -> rusqlite::Result<()> {
        if waits != self.waits {
            connection.busy_timeout(if waits { self.patience } else { Duration::ZERO })?;
            self.waits = waits;
        }
        Ok(())
    }
}
