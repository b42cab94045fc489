//! A turn that runs, as others see it: whoever comes later may still read its events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use tokio::sync::mpsc;

use super::event::{Event, Mode};
use super::execute::Bench;
use super::hub::{Held, Hub, Rest, StreamOptions, Waiting};
use super::relay::{ChildEvent, Relay};
use crate::name::Name;
use crate::state::State;
use crate::task::{Emitted, Sink};
use crate::task_id::TaskId;

/// The readers of a turn. Their hub is made when somebody first wants to read; until then events cost one look at a flag,
/// and nothing here is allocated.
pub(crate) struct Live<S> {
    hub: OnceLock<Hub<S>>,
    /// Numbers events of attempts that began before there was a hub, each from 1.
    late: OnceLock<Mutex<BTreeMap<(TaskId, u32), u32>>>,
    /// What was odd about readers.
    warnings: Mutex<Vec<String>>,
    /// The readers of the turn around a child graph, and the node of the outermost graph in which it runs.
    child: Option<(Weak<dyn Relay>, Name)>,
}

impl<S> Default for Live<S> {
    fn default() -> Self {
        Self { hub: OnceLock::new(), late: OnceLock::new(), warnings: Mutex::default(), child: None }
    }
}

impl<S> Live<S> {
    /// What a child graph tells goes to the readers of the turn around it.
    pub(crate) fn relayed(relay: Weak<dyn Relay>, outer: Name) -> Self {
        Self { child: Some((relay, outer)), ..Self::default() }
    }

    /// Nobody has ever read.
    pub(super) fn is_unused(&self) -> bool {
        self.hub.get().is_none() && self.late.get().is_none() && self.child.is_none()
    }

    /// What was odd about readers since the last call.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        // Only who adds a reader has anything to warn of.
        if self.hub.get().is_none() {
            return Vec::new();
        }
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn late_index(&self, task: TaskId, attempt: u32) -> u32 {
        let late = self.late.get_or_init(Mutex::default);
        let mut late = late.lock().unwrap_or_else(PoisonError::into_inner);
        let next = late.entry((task, attempt)).or_insert(1);
        std::mem::replace(next, next.saturating_add(1))
    }
}

impl<S: State> Bench<S> {
    /// The hub, if somebody reads or has read.
    #[inline]
    pub(crate) fn hub(&self) -> Option<&Hub<S>> {
        match (self.live.hub.get(), &self.live.child) {
            (None, Some((relay, outer)))
                if self.turn.cancel.is_read() && relay.upgrade().is_some_and(|relay| relay.is_open()) =>
            {
                Some(self.live.hub.get_or_init(|| self.make_hub().relayed(relay.clone(), outer.clone())))
            }
            (hub, _) => hub,
        }
    }

    /// The hub, if somebody wants to know what becomes of nodes and super-steps. Most readers of a turn only hear of a child
    /// graph what its nodes emit.
    #[inline]
    pub(crate) fn followed(&self) -> Option<&Hub<S>> {
        if self.live.child.is_some() && !self.turn.cancel.is_followed() {
            return None;
        }
        self.hub()
    }

    #[cold]
    fn make_hub(&self) -> Hub<S> {
        let turn = &self.turn;
        let clock = self.seams.0.clock.clone();
        Hub::new(turn.turn_id().clone(), turn.namespace.clone(), turn.nodes.clone(), clock, turn.cancel.clone())
    }

    /// Where nodes find the readers from now on.
    pub(crate) fn open_sink(self: &Arc<Self>) {
        self.turn.sink.get_or_init(|| {
            let sink: Arc<dyn Sink> = self.clone();
            Arc::downgrade(&sink)
        });
    }

    /// Adds a reader; `false` if the turn is over.
    pub(crate) fn add_reader(self: &Arc<Self>, options: StreamOptions, queue: mpsc::Sender<Event<S>>) -> bool {
        let mut warnings = self.live.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for node in options.unknown_nodes(&self.turn.nodes) {
            let warning = format!("a reader asks for events of node `{node}`, but the graph has none of that name");
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        drop(warnings);
        let hub = self.live.hub.get_or_init(|| self.make_hub());
        self.open_sink();
        self.turn.cancel.note_reader(options.has_children());
        hub.add(options, queue)
    }
}

impl<S: State> Bench<S> {
    fn room_for(self: Arc<Self>, rest: Held<S>) -> Waiting<'static> {
        Box::pin(async move {
            if let Some(hub) = self.hub() {
                hub.wait(rest).await;
            }
        })
    }
}

impl<S: State> Relay for Bench<S> {
    fn is_open(&self) -> bool {
        self.hub().is_some()
    }

    fn is_read(&self) -> bool {
        self.hub().is_some_and(Hub::is_read)
    }

    fn asks(&self, mode: Mode) -> bool {
        self.hub().is_some_and(|hub| hub.asks(mode))
    }

    fn relay(self: Arc<Self>, event: ChildEvent) -> Option<Waiting<'static>> {
        let rest = self.hub()?.relay_in(event)?;
        Some(self.room_for(rest))
    }
}

impl<S: State> Sink for Bench<S> {
    fn is_open(&self) -> bool {
        self.hub().is_some()
    }

    fn is_read(&self) -> bool {
        self.hub().is_some_and(Hub::is_read)
    }

    fn late_index(&self, task: TaskId, attempt: u32) -> u32 {
        self.live.late_index(task, attempt)
    }

    fn emit(self: Arc<Self>, event: Emitted) -> Option<Waiting<'static>> {
        match self.hub()?.emit(event)? {
            Rest::Held(rest) => Some(self.room_for(rest)),
            Rest::Relayed(waiting) => Some(waiting),
        }
    }
}
