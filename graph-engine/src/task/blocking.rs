//! Work that blocks its thread: where it runs, and what becomes of it when nobody waits for it any more.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Task;
use crate::error::{FaultKind, NodeError};
use crate::name::Name;
use crate::panic::panic_text;
use crate::stuck_task::StuckTask;

/// Work that blocks its thread.
pub type BlockingWork = Box<dyn FnOnce() + Send>;

/// Runs work on threads that may be blocked.
pub(crate) trait Offload: Send + Sync {
    /// Starts the work beside the caller.
    fn run(&self, work: BlockingWork) -> Result<(), &'static str>;
}

/// Runs work on tokio's threads for blocking work.
pub(crate) fn on_tokio(work: BlockingWork) -> Result<(), &'static str> {
    match Handle::try_current() {
        Ok(runtime) => {
            // Its end is told by other means.
            drop(runtime.spawn_blocking(work));
            Ok(())
        }
        Err(_) => Err("blocking work needs a tokio runtime; run the turn on one, or use `Seams::spawn`"),
    }
}

/// Blocking work that was given up while it still ran. Mostly there is none, and nobody need wait to know.
#[derive(Default)]
pub(crate) struct GivenUp(OnceLock<Mutex<Vec<Stuck>>>);

/// Whose work it is, and whether it is over.
type Stuck = (StuckTask, Arc<AtomicBool>);

impl GivenUp {
    /// What still runs.
    pub(crate) fn stuck(&self) -> Vec<StuckTask> {
        let Some(all) = self.0.get() else { return Vec::new() };
        // Nothing can panic while it is held.
        let all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stuck: Vec<StuckTask> =
            all.iter().filter(|(_, over)| !over.load(Ordering::Acquire)).map(|(task, _)| task.clone()).collect();
        stuck.sort();
        stuck
    }

    /// Whether some was ever given up.
    pub(crate) fn any(&self) -> bool {
        self.0.get().is_some()
    }

    fn add(&self, task: StuckTask, over: Arc<AtomicBool>) {
        let all = self.0.get_or_init(Mutex::default);
        all.lock().unwrap_or_else(PoisonError::into_inner).push((task, over));
    }
}

impl fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stuck()).finish()
    }
}

/// Waits for blocking work. Dropped before the work is over, it notes that the work is stuck.
pub(crate) struct Watch {
    turn: Arc<super::TurnContext>,
    task: Option<StuckTask>,
    over: Arc<AtomicBool>,
}

/// Says that blocking work is over, however it ended.
pub(crate) struct Over(Arc<AtomicBool>);

impl Watch {
    pub(crate) fn new<S>(task: &Task<S>) -> (Self, Over) {
        let over = Arc::new(AtomicBool::new(false));
        let node: Name = task.node().clone();
        let stuck = StuckTask { node, task: task.id, attempt: task.attempt };
        (Self { turn: task.shared.turn.clone(), task: Some(stuck), over: over.clone() }, Over(over))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.over.load(Ordering::Acquire)
            && let Some(task) = self.task.take()
        {
            self.turn.given_up.add(task, self.over.clone());
        }
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl<S> Task<S> {
    /// Runs work that blocks its thread (a file, a driver without async, a long computation) where threads may be
    /// blocked, and waits for it without blocking this one. For a part of a node; a whole function becomes a node by
    /// [`blocking`](crate::blocking).
    ///
    /// A thread can't be stopped: when the attempt is given up, by a timeout or a cancellation, the work goes on, its
    /// result is dropped, and it is named in [`RunReport::stuck`](crate::RunReport::stuck) while it still runs.
    ///
    /// # Errors
    /// A fatal error without a tokio runtime, and if the runtime shuts down before the work began; a failure of kind
    /// [`FaultKind::Panicked`](crate::FaultKind::Panicked) if the work panicked.
    ///
    /// ```
    /// use graph_engine::{Node, NodeError, Outcome, State, Task};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     pages: usize,
    /// }
    ///
    /// struct Scan;
    ///
    /// #[graph_engine::async_trait]
    /// impl Node<Trip> for Scan {
    ///     async fn run(&self, task: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
    ///         let pages = task.blocking(|| std::fs::read_dir("scans").map_or(0, Iterator::count)).await?;
    ///         Ok(Outcome::of(Trip::update().pages(pages)))
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let outcome = graph_engine::testing::node_once(Scan).run().await.unwrap();
    /// assert_eq!(outcome.update.pages, Some(0));
    /// # });
    /// ```
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, NodeError> {
        let (watch, over) = Watch::new(self);
        let (result, waiting) = oneshot::channel();
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
                let text = format!("it panicked: {}", panic_text(&*panic));
                NodeError::new(FaultKind::Panicked, text.into())
            });
            drop(over);
            // Nobody listens any more when the attempt was given up.
            let _ = result.send(done);
        };
        self.offload(Box::new(work)).map_err(NodeError::fatal)?;
        let done = waiting.await;
        drop(watch);
        done.unwrap_or_else(|_| Err(NodeError::fatal("the runtime dropped its blocking work before it began")))
    }
}
