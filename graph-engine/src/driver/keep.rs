//! All that one turn writes to its store: checkpoints, at once or beside the work, and results of single tasks.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::sync::{Mutex as Line, MutexGuard, oneshot};

use super::seams::Spawn;
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::panic::no_panic;
use crate::store::{AtOnce, CheckpointStore, Commit, Place, SavedResult};
use crate::task::Keeper;
use crate::task_id::TaskId;

/// A commit that was started, and what became of it.
type Flight = (Box<Commit>, Result<(), StoreError>);

pub(crate) struct Keep {
    me: Weak<Self>,
    store: Arc<dyn CheckpointStore>,
    place: Place,
    /// Results of single tasks are worth saving.
    saves: bool,
    spawn: Option<Arc<dyn Spawn>>,
    /// The thread is taken until everything that was started has ended.
    lease: Option<Arc<dyn Any + Send + Sync>>,
    queue: Mutex<Queue>,
    /// At most one write of a turn is under way.
    line: Line<Writes>,
    /// Stores checkpoints without waiting, from the first one on that was stored.
    at_once: OnceLock<Arc<dyn AtOnce>>,
    /// Something was written beside the work, so that it may be under way.
    beside: AtomicBool,
}

/// Results that wait to be saved, so that those that come together are saved together.
#[derive(Default)]
struct Queue {
    /// What each of those who wait wants to have saved, in the order of their numbers.
    waiting: Vec<(u64, Vec<SavedResult>)>,
    next: u64,
}

#[derive(Default)]
struct Writes {
    head: Option<CheckpointId>,
    flight: Option<oneshot::Receiver<Flight>>,
    /// Why a checkpoint was not stored, until the driver knows.
    failed: Option<StoreError>,
}

impl Keep {
    pub(crate) fn new(
        store: Arc<dyn CheckpointStore>,
        place: Place,
        saves: bool,
        spawn: Option<Arc<dyn Spawn>>,
        lease: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Arc<Self> {
        let saves = saves && store.outlives_process();
        let (queue, line) = (Mutex::default(), Line::default());
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            store,
            place,
            saves,
            spawn,
            lease,
            queue,
            line,
            at_once: OnceLock::new(),
            beside: AtomicBool::new(false),
        })
    }

    /// Whether results of single tasks are worth saving.
    pub(crate) fn saves(&self) -> bool {
        self.saves
    }

    /// The checkpoint from which the turn goes on: results of tasks are saved after it.
    pub(crate) async fn set_head(&self, head: Option<CheckpointId>) {
        if self.saves {
            self.line().await.head = head;
        }
    }

    /// Something of the place is stored already, so checkpoints may be stored without waiting from the first one on.
    pub(crate) fn expect_known(&self) {
        if !self.saves
            && let Some(at_once) = self.store.at_once(&self.place)
        {
            // Whoever else was first has the same.
            let _ = self.at_once.set(at_once);
        }
    }

    /// Makes a checkpoint if that takes no waiting: nothing can be under way, no result is to be saved after it, and the
    /// store can.
    pub(crate) fn commit_at_once(&self, commit: &Commit) -> Option<Result<(), StoreError>> {
        let at_once = self.at_once.get().filter(|_| !self.beside.load(Ordering::Acquire))?;
        at_once.commit(commit)
    }

    /// Makes a checkpoint, after the one under way, which it gives back.
    pub(crate) async fn commit(&self, commit: &Commit) -> Result<Option<Box<Commit>>, StoreError> {
        let mut line = self.line().await;
        let landed = self.land(&mut line).await?;
        self.store.commit(&self.place, commit).await?;
        self.moved(&mut line, commit.id);
        if self.at_once.get().is_none() {
            self.expect_known();
        }
        Ok(landed)
    }

    /// The line, which is mostly free.
    async fn line(&self) -> MutexGuard<'_, Writes> {
        match self.line.try_lock() {
            Ok(line) => line,
            Err(_) => Box::pin(self.line.lock()).await,
        }
    }

    /// Results of tasks before this checkpoint are part of it, or count for nothing any more.
    fn moved(&self, line: &mut Writes, head: CheckpointId) {
        line.head = Some(head);
        if self.saves {
            self.queue().waiting.clear();
        }
    }

    /// Begins to make a checkpoint beside the work, or makes it if nothing can run beside.
    pub(crate) async fn commit_beside(&self, commit: Box<Commit>) -> Result<Option<Box<Commit>>, StoreError> {
        self.beside.store(true, Ordering::Release);
        let mut line = self.line().await;
        let landed = self.land(&mut line).await?;
        if !self.can_spawn() {
            self.store.commit(&self.place, &commit).await?;
            self.moved(&mut line, commit.id);
            return Ok(Some(commit));
        }
        let (done, flight) = oneshot::channel();
        let (store, place, lease) = (self.store.clone(), self.place.clone(), self.lease.clone());
        self.moved(&mut line, commit.id);
        line.flight = Some(flight);
        let work = async move {
            // A store is the user's: its panic is an error of the turn, as it is when the store is awaited in place.
            let stored = no_panic(store.commit(&place, &commit)).await;
            let stored = stored.unwrap_or_else(|what| Err(StoreError::unavailable(format!("it panicked: {what}"))));
            // Nobody may be left to hear of it.
            let _ = done.send((commit, stored));
            drop(lease);
        };
        self.spawn(work);
        Ok(landed)
    }

    /// What became of the checkpoint under way, if it is over; `None` while it isn't.
    pub(crate) async fn landed(&self) -> Option<Result<Option<Box<Commit>>, StoreError>> {
        let mut line = self.line().await;
        if let Some(error) = line.failed.take() {
            return Some(Err(error));
        }
        let Some(flight) = &mut line.flight else { return Some(Ok(None)) };
        let over = match flight.try_recv() {
            Ok((commit, stored)) => stored.map(|()| Some(commit)),
            Err(oneshot::error::TryRecvError::Empty) => return None,
            Err(oneshot::error::TryRecvError::Closed) => Err(lost()),
        };
        line.flight = None;
        Some(over)
    }

    /// Waits for the checkpoint under way, and gives it back.
    pub(crate) async fn finish(&self) -> Result<Option<Box<Commit>>, StoreError> {
        if !self.beside.load(Ordering::Acquire) {
            return Ok(None);
        }
        // Boxed, because a turn waits for it once and is the smaller for it all the time.
        Box::pin(async { self.land(&mut *self.line().await).await }).await
    }

    /// Waits for the checkpoint under way.
    async fn land(&self, line: &mut Writes) -> Result<Option<Box<Commit>>, StoreError> {
        if let Some(error) = line.failed.take() {
            return Err(error);
        }
        let Some(flight) = &mut line.flight else { return Ok(None) };
        let over = match flight.await {
            Ok((commit, stored)) => stored.map(|()| Some(commit)),
            Err(_) => Err(lost()),
        };
        line.flight = None;
        over
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves results of tasks of the unfinished super-step; those that wait at the same time go together.
    ///
    /// Where that is possible it is done beside the caller: a node may stop polling the future in which it remembers
    /// something, and must not keep others from the store meanwhile.
    pub(crate) async fn save(&self, results: impl IntoIterator<Item = SavedResult>) -> Result<(), StoreError> {
        let mine = {
            let mut queue = self.queue();
            queue.next += 1;
            let mine = queue.next;
            queue.waiting.push((mine, results.into_iter().collect()));
            mine
        };
        let Some(keep) = self.me.upgrade().filter(|keep| keep.can_spawn()) else {
            return self.flush(mine).await;
        };
        let (done, waiting) = oneshot::channel();
        let work = async move {
            let saved = no_panic(keep.flush(mine)).await;
            let saved = saved.unwrap_or_else(|what| Err(StoreError::unavailable(format!("it panicked: {what}"))));
            // Nobody may be left to hear of it.
            let _ = done.send(saved);
        };
        self.spawn(work);
        waiting.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Saves what waits, unless somebody has done so meanwhile.
    async fn flush(&self, mine: u64) -> Result<(), StoreError> {
        let mut line = self.line.lock().await;
        // They stay in the queue until they are stored: whoever is dropped here leaves them to the next one.
        let (batch, last, alone) = {
            let queue = self.queue();
            if queue.waiting.iter().all(|(number, _)| *number != mine) {
                return Ok(());
            }
            let batch: Vec<_> = queue.waiting.iter().flat_map(|(_, results)| results).cloned().collect();
            (batch, queue.next, queue.waiting.len() == 1)
        };
        let saved = self.save_now(&mut line, &batch).await;
        if saved.is_ok() {
            self.queue().waiting.retain(|(number, _)| *number > last);
            return Ok(());
        }
        // What one of them wants may be what the store refuses, and is no reason to refuse the others.
        let own = {
            let mut queue = self.queue();
            let at = queue.waiting.iter().position(|(number, _)| *number == mine);
            at.map_or_else(Vec::new, |at| queue.waiting.remove(at).1)
        };
        if alone || line.failed.is_some() || matches!(saved, Err(StoreError::Conflict { .. })) {
            return saved;
        }
        self.save_now(&mut line, &own).await
    }

    async fn save_now(&self, line: &mut Writes, results: &[SavedResult]) -> Result<(), StoreError> {
        if let Err(error) = self.land(line).await {
            // The driver must learn of it, whatever becomes of the node that waits here.
            let told = StoreError::unavailable(format!("the checkpoint before was not stored: {error}"));
            line.failed = Some(error);
            return Err(told);
        }
        match line.head {
            Some(head) => self.store.save(&self.place, head, results).await,
            None => Err(StoreError::conflict(&*self.place.thread, "nothing of the thread is stored yet")),
        }
    }

    /// Why results could not be saved: because of the checkpoint that they belong to, if that is so.
    pub(crate) async fn cause(&self, error: StoreError) -> StoreError {
        self.line.lock().await.failed.take().unwrap_or(error)
    }

    fn can_spawn(&self) -> bool {
        self.spawn.is_some() || Handle::try_current().is_ok()
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        match &self.spawn {
            Some(spawn) => spawn.spawn(Box::pin(work)),
            None => drop(tokio::spawn(work)),
        }
    }
}

impl Keeper for Keep {
    fn keep(
        &self,
        task: TaskId,
        key: Name,
        json: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>> {
        Box::pin(async move { self.save([SavedResult { task, key, bytes: json }]).await })
    }
}

fn lost() -> StoreError {
    StoreError::unavailable("the task that stored the checkpoint was dropped")
}
