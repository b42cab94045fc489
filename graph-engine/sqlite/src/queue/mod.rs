//! The queue in front of the connection that writes: what waits while a transaction runs goes into the next one.
//!
//! There is at most one leader. It is a blocking task of the caller's runtime, made when a change comes and nobody
//! leads, and it ends when nothing waits. So no thread of its own is kept, and a paused clock stands still while it works.

mod in_place;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use graph_engine::{Commit, Place, StoreError};
use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use self::in_place::InPlace;
use crate::error::Failed;
use crate::options::SqliteOptions;
use crate::read;
use crate::write::{Change, Writer};

/// How many changes go into one transaction at most, so that nobody waits for too many others.
const GROUP: usize = 1_024;

/// What was done since a store was opened.
///
/// ```
/// use graph_engine_sqlite::SqliteStore;
///
/// let stats = SqliteStore::in_memory().unwrap().stats();
/// assert_eq!((stats.changes, stats.transactions, stats.largest_group), (0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteStats {
    /// Changes that were asked for and answered: commits, saved results, pruning, copies, deletions.
    pub changes: u64,
    /// Transactions that reached the file. Each waits for the disk at most once.
    pub transactions: u64,
    /// The most changes that one transaction held.
    pub largest_group: u64,
}

type Work = Box<dyn FnOnce(&Writer) + Send>;

/// What a change came to: what is counted or found, as a number.
type Made = Result<u64, StoreError>;

type Answer = oneshot::Sender<Made>;

enum Job {
    Change(Change, Answer),
    /// A question for the connection that writes, when there is no other.
    Ask(Work),
}

#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    led: bool,
}

/// The connection that writes, and who may use it without the queue.
struct Desk {
    writer: Writer,
    in_place: InPlace,
}

pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    /// The leader holds it, or whoever commits in place while nobody leads.
    desk: Mutex<Desk>,
    stats: Mutex<SqliteStats>,
    in_place: bool,
    /// Commits in place wait for the disk.
    flushes: bool,
}

/// Nothing that is guarded here is left half changed by a panic: a transaction is rolled back by the next one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> StoreError {
    StoreError::unavailable("the runtime that wrote for this store has ended")
}

impl Queue {
    pub(crate) fn new(writer: Writer, options: &SqliteOptions) -> Arc<Self> {
        let desk = Desk { writer, in_place: InPlace::new(options) };
        let (in_place, flushes) = (desk.in_place.allowed(), desk.in_place.flushes());
        Arc::new(Self { waiting: Mutex::default(), desk: Mutex::new(desk), stats: Mutex::default(), in_place, flushes })
    }

    pub(crate) fn stats(&self) -> SqliteStats {
        *lock(&self.stats)
    }

    /// Makes a commit, in place if that holds up nobody.
    pub(crate) async fn commit(self: &Arc<Self>, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        if self.in_place {
            // Others have their turn too, and after each wait for the disk.
            if self.flushes {
                tokio::task::yield_now().await;
            } else {
                tokio::task::consume_budget().await;
            }
            if let Some(made) = self.at_once(place, commit) {
                return made;
            }
        }
        self.change(Change::Commit(place.clone(), commit.clone())).await.map(drop)
    }

    /// The connection that writes, if nobody uses it or is about to.
    fn free_desk(&self) -> Option<MutexGuard<'_, Desk>> {
        let waiting = lock(&self.waiting);
        if waiting.led {
            return None;
        }
        match self.desk.try_lock() {
            Ok(desk) => Some(desk),
            Err(TryLockError::Poisoned(desk)) => Some(desk.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Asks the connection that writes where it is asked: it has what it wrote a moment ago, which a reader would have to
    /// read anew. `None` if it is in use, `Some(None)` if it has no answer at once.
    pub(crate) fn ask_at_once<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<Option<T>, Failed>,
    ) -> Option<Option<T>> {
        let mut desk = self.free_desk()?;
        let Desk { writer, in_place } = &mut *desk;
        in_place.ask(&writer.connection).ok()?;
        Some(read::in_one_moment(&writer.connection, question).ok().flatten())
    }

    /// What a commit came to; `None` if the queue has to make it.
    fn at_once(&self, place: &Place, commit: &Commit) -> Option<Result<(), StoreError>> {
        let mut desk = self.free_desk()?;
        let Desk { writer, in_place } = &mut *desk;
        if !in_place.begin(&writer.connection, place, commit) {
            return None;
        }
        // Whatever goes wrong the queue does again, and says what it was.
        writer.begin().ok()?;
        let made = match writer.commit(place, commit) {
            Err(Failed::Sql(_)) => Err(()),
            refused_or_made => writer.end().map_err(drop).map(|()| refused_or_made),
        };
        let Ok(made) = made else {
            writer.rollback();
            return None;
        };
        drop(desk);
        let mut stats = lock(&self.stats);
        stats.changes += 1;
        if made.is_ok() {
            stats.transactions += 1;
            stats.largest_group = stats.largest_group.max(1);
        }
        Some(made.map_err(|failed| failed.of(&place.thread)))
    }

    /// Makes a change. If the caller goes away it is made all the same.
    pub(crate) async fn change(self: &Arc<Self>, change: Change) -> Result<u64, StoreError> {
        let (done, answer) = oneshot::channel();
        self.push(Job::Change(change, done))?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Asks the connection that writes.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Writer) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        let work = move |writer: &Writer| drop(done.send(question(writer)));
        self.push(Job::Ask(Box::new(work)))?;
        answer.await.map_err(|_| closed())
    }

    fn push(self: &Arc<Self>, job: Job) -> Result<(), StoreError> {
        let runtime = Handle::try_current()
            .map_err(|_| StoreError::unavailable("a store is called outside of a tokio runtime; call it inside one"))?;
        let mut waiting = lock(&self.waiting);
        waiting.jobs.push(job);
        if std::mem::replace(&mut waiting.led, true) {
            return Ok(());
        }
        drop(waiting);
        let leader = Leader { queue: self.clone(), resigned: false };
        runtime.spawn_blocking(move || leader.lead());
        Ok(())
    }

    /// All changes in one transaction, or each in its own if SQLite failed in the middle. What comes back is to be told.
    fn group(&self, desk: &mut Desk, changes: Vec<(Change, Answer)>) -> Vec<(Answer, Made)> {
        if changes.is_empty() {
            return Vec::new();
        }
        let Desk { writer, in_place } = desk;
        let alone = match &changes[..] {
            [(change, _)] => change.place(),
            _ => None,
        };
        // If it fails the log is folded a little later.
        let _ = in_place.queue(&writer.connection, alone);
        let made = match &changes[..] {
            [_] => Err(()),
            _ => self.together(writer, &changes),
        };
        // Nothing was kept then. Whose fault it was shows when each stands alone.
        let answers = made.unwrap_or_else(|()| changes.iter().map(|(change, _)| self.alone(writer, change)).collect());
        lock(&self.stats).changes += changes.len() as u64;
        changes.into_iter().map(|(_, done)| done).zip(answers).collect()
    }

    /// What each change came to, once all of them are in the file. A change that is refused writes nothing, so it doesn't
    /// disturb the others.
    fn together(&self, writer: &mut Writer, changes: &[(Change, Answer)]) -> Result<Vec<Made>, ()> {
        writer.begin().map_err(drop)?;
        let mut answers = Vec::with_capacity(changes.len());
        for (change, _) in changes {
            match writer.make(change) {
                Ok(count) => answers.push(Ok(count)),
                Err(Failed::Refused(error)) => answers.push(Err(error)),
                Err(Failed::Sql(_)) => {
                    writer.rollback();
                    return Err(());
                }
            }
        }
        if writer.end().is_err() {
            writer.rollback();
            return Err(());
        }
        self.count(changes.len());
        Ok(answers)
    }

    fn alone(&self, writer: &mut Writer, change: &Change) -> Made {
        let made = writer.begin().map_err(Failed::from).and_then(|()| {
            let count = writer.make(change)?;
            writer.end()?;
            Ok(count)
        });
        match made {
            Ok(count) => {
                self.count(1);
                Ok(count)
            }
            Err(failed) => {
                writer.rollback();
                Err(failed.of(change.thread()))
            }
        }
    }

    fn count(&self, group: usize) {
        let mut stats = lock(&self.stats);
        stats.transactions += 1;
        stats.largest_group = stats.largest_group.max(group as u64);
    }
}

fn tell(answers: Vec<(Answer, Made)>) {
    for (done, answer) in answers {
        // Nobody may be waiting any more.
        let _ = done.send(answer);
    }
}

/// Whoever works through the queue. If it is dropped without having done so, because its runtime ended or something
/// panicked, those who wait are told and the next one may lead.
struct Leader {
    queue: Arc<Queue>,
    resigned: bool,
}

impl Leader {
    fn lead(mut self) {
        let queue = self.queue.clone();
        loop {
            let mut desk = lock(&queue.desk);
            let jobs: Vec<Job> = {
                let mut waiting = lock(&queue.waiting);
                let end = waiting.jobs.len().min(GROUP);
                waiting.jobs.drain(..end).collect()
            };
            let mut changes = Vec::new();
            for job in jobs {
                match job {
                    Job::Change(change, done) => changes.push((change, done)),
                    Job::Ask(work) => {
                        // It comes after what was asked for before it.
                        tell(queue.group(&mut desk, std::mem::take(&mut changes)));
                        work(&desk.writer);
                    }
                }
            }
            let answers = queue.group(&mut desk, changes);
            // The writer is given back before another one may lead, and whoever hears of its change finds nobody leading
            // unless something waits: its next one may be made in place.
            drop(desk);
            if self.resign() {
                // Whoever hears of it may close the file.
                drop((queue, self));
                return tell(answers);
            }
            tell(answers);
        }
    }

    /// Gives up leading, unless something came meanwhile.
    fn resign(&mut self) -> bool {
        let mut waiting = lock(&self.queue.waiting);
        if waiting.jobs.is_empty() {
            waiting.led = false;
            self.resigned = true;
        }
        self.resigned
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.resigned {
            let mut waiting = lock(&self.queue.waiting);
            waiting.led = false;
            // Their senders go with them, so whoever waits is told. Not under the lock: that may run a waker.
            let jobs = std::mem::take(&mut waiting.jobs);
            drop(waiting);
            drop(jobs);
        }
    }
}
