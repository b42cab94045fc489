//! Which threads have a turn in this process: one at a time.

use std::fmt;
use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::driver::Bench;
use crate::name::{Name, NameHash};
use crate::run_error::RunError;
use crate::state::State;

/// What becomes of a turn whose thread has another one in this process. In another process it loses by a conflict.
///
/// ```
/// use graph_engine::WhenBusy;
///
/// assert_eq!(WhenBusy::default(), WhenBusy::Refuse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenBusy {
    /// It fails with [`RunError::Busy`].
    #[default]
    Refuse,
    /// It waits until all that came before it are over, and runs on what they left.
    Queue,
}

/// The threads that have a turn, and the turn, unless something else holds the thread. Clones share them.
pub(super) struct Leases<S: State>(Arc<Maps<S>>);

struct Maps<S: State> {
    busy: DashMap<Name, Option<Arc<Bench<S>>>, NameHash>,
    /// Where turns wait for each other, first come, first served.
    queues: DashMap<Name, Arc<Mutex<()>>, NameHash>,
}

/// The right to run a turn of a thread; given back when it is dropped.
pub(crate) struct Lease<S: State> {
    leases: Leases<S>,
    thread: Name,
    turn: Option<OwnedMutexGuard<()>>,
}

impl<S: State> Clone for Leases<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State> Default for Leases<S> {
    fn default() -> Self {
        Self(Arc::new(Maps { busy: DashMap::default(), queues: DashMap::default() }))
    }
}

impl<S: State> Leases<S> {
    pub(super) fn bench(&self, thread: &Name) -> Option<Arc<Bench<S>>> {
        self.0.busy.get(thread).and_then(|bench| bench.value().clone())
    }

    pub(super) async fn take(
        &self,
        thread: &Name,
        bench: Option<Arc<Bench<S>>>,
        when_busy: WhenBusy,
    ) -> Result<Lease<S>, RunError> {
        let turn = match when_busy {
            WhenBusy::Refuse => None,
            WhenBusy::Queue => {
                let queue = self.0.queues.entry(thread.clone()).or_default().clone();
                Some(queue.lock_owned().await)
            }
        };
        // Made first, so that the place in the queue is given back if the thread is held by something that doesn't queue.
        let lease = Lease { leases: self.clone(), thread: thread.clone(), turn };
        match self.0.busy.entry(thread.clone()) {
            dashmap::Entry::Occupied(_) => {
                lease.give_up();
                Err(RunError::Busy { thread: thread.clone() })
            }
            dashmap::Entry::Vacant(vacant) => {
                vacant.insert(bench);
                Ok(lease)
            }
        }
    }
}

impl<S: State> Lease<S> {
    /// Gives back the place in the queue, and nothing else.
    fn give_up(mut self) {
        self.leave_queue();
        self.thread = Name::default();
        self.leases = Leases::default();
    }

    fn leave_queue(&mut self) {
        if self.turn.take().is_some() {
            // The map and this look are the only owners of a queue in which nobody waits.
            self.leases.0.queues.remove_if(&self.thread, |_, queue| Arc::strong_count(queue) == 1);
        }
    }
}

impl<S: State> Drop for Lease<S> {
    fn drop(&mut self) {
        self.leases.0.busy.remove(&self.thread);
        self.leave_queue();
    }
}

impl<S: State> fmt::Debug for Lease<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("thread", &self.thread).finish_non_exhaustive()
    }
}
