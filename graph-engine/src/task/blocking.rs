//! Work that blocks its thread: where it runs, and what becomes of it when nobody waits for it any more.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;

use super::Task;
use crate::name::Name;
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

/// Blocking work that was given up while it still ran.
#[derive(Default)]
pub(crate) struct GivenUp(Mutex<Vec<(StuckTask, Arc<AtomicBool>)>>);

impl GivenUp {
    /// What still runs.
    pub(crate) fn stuck(&self) -> Vec<StuckTask> {
        // Nothing can panic while it is held.
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stuck: Vec<StuckTask> =
            all.iter().filter(|(_, over)| !over.load(Ordering::Acquire)).map(|(task, _)| task.clone()).collect();
        stuck.sort();
        stuck
    }

    fn add(&self, task: StuckTask, over: Arc<AtomicBool>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((task, over));
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
