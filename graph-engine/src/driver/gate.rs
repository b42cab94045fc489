//! Limits of tasks at once: places of each node and of the turn, given in task order.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::task::NodeIx;
use crate::task_id::TaskId;

/// The places of one turn. A task gets those of its node and of the turn together or none, so that nobody holds one
/// while it waits for the other; of those that could go, the first in task order does, whoever asks first.
pub(super) struct Gate(Mutex<Places>);

#[derive(Default)]
struct Places {
    /// Free places of each node, and of the turn; `None` is any number.
    nodes: Vec<Option<usize>>,
    turn: Option<usize>,
    /// Tasks without a place: of each limited node, and of all others together.
    queues: BTreeMap<Option<NodeIx>, BTreeSet<TaskId>>,
    /// All tasks that have not begun.
    tasks: BTreeMap<TaskId, Waiting>,
}

struct Waiting {
    queue: Option<NodeIx>,
    has_place: bool,
    waker: Option<Waker>,
}

/// The place of one task. Given back when it is dropped.
pub(super) struct Place {
    gate: Arc<Gate>,
    queue: Option<NodeIx>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.gate.places();
        places.give_back(self.queue);
        self.gate.admit(places);
    }
}

impl Gate {
    pub(super) fn new(nodes: Vec<Option<usize>>, turn: Option<usize>) -> Self {
        Self(Mutex::new(Places { nodes, turn, ..Places::default() }))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Nothing can panic while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues all tasks of a batch before any of them runs, because spawned tasks begin in any order.
    pub(super) fn enter(&self, tasks: impl Iterator<Item = (TaskId, NodeIx)>) {
        let mut places = self.places();
        for (id, node) in tasks {
            let queue = places.nodes[node.at()].map(|_| node);
            if queue.is_some() || places.turn.is_some() {
                places.queues.entry(queue).or_default().insert(id);
                places.tasks.insert(id, Waiting { queue, has_place: false, waker: None });
            }
        }
        self.admit(places);
    }

    /// Waits for the place of a task; `None` if it needs none.
    pub(super) async fn wait(self: &Arc<Self>, id: TaskId) -> Option<Place> {
        let queue = poll_fn(|cx| {
            let mut places = self.places();
            match places.tasks.get_mut(&id) {
                None => Poll::Ready(None),
                Some(waiting) if !waiting.has_place => {
                    waiting.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                Some(_) => Poll::Ready(places.tasks.remove(&id).map(|waiting| waiting.queue)),
            }
        });
        Some(Place { queue: queue.await?, gate: self.clone() })
    }

    /// A task needs no place after all.
    pub(super) fn leave(&self, id: TaskId) {
        let mut places = self.places();
        let Some(waiting) = places.tasks.remove(&id) else { return };
        if waiting.has_place {
            places.give_back(waiting.queue);
        } else if let Some(queue) = places.queues.get_mut(&waiting.queue) {
            queue.remove(&id);
        }
        self.admit(places);
    }

    /// Gives free places to those that wait, and wakes them.
    fn admit(&self, mut places: MutexGuard<'_, Places>) {
        let mut woken = Vec::new();
        while let Some((id, queue)) = places.next() {
            places.take(queue);
            if let Some(tasks) = places.queues.get_mut(&queue) {
                tasks.remove(&id);
            }
            if let Some(waiting) = places.tasks.get_mut(&id) {
                waiting.has_place = true;
                woken.extend(waiting.waker.take());
            }
        }
        drop(places);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Places {
    /// The first task in task order for which there is a place.
    fn next(&self) -> Option<(TaskId, Option<NodeIx>)> {
        if self.turn == Some(0) {
            return None;
        }
        let open = |queue: &Option<NodeIx>| queue.is_none_or(|node| self.nodes[node.at()] != Some(0));
        let firsts = self.queues.iter().filter(|(queue, _)| open(queue));
        firsts.filter_map(|(queue, tasks)| Some((*tasks.first()?, *queue))).min()
    }

    fn take(&mut self, queue: Option<NodeIx>) {
        for free in self.of(queue) {
            *free = free.saturating_sub(1);
        }
    }

    fn give_back(&mut self, queue: Option<NodeIx>) {
        for free in self.of(queue) {
            *free += 1;
        }
    }

    /// The free places that a task of this queue takes part in.
    fn of(&mut self, queue: Option<NodeIx>) -> impl Iterator<Item = &mut usize> {
        let node = queue.and_then(|node| self.nodes[node.at()].as_mut());
        node.into_iter().chain(self.turn.as_mut())
    }
}
