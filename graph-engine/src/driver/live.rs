//! A turn that runs, as others see it: whoever comes later may still read its events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::event::Mode;
use super::hub::{Hub, StreamOptions, Waiting};
use super::relay::{ChildEvent, Relay};
use super::seams::Clock;
use crate::driver::event::Event;
use crate::name::Name;
use crate::state::State;
use crate::task::{Cancel, Emitted, Sink};
use crate::task_id::TaskId;
use tokio::sync::mpsc;

/// A turn that runs. Its hub is made when somebody first wants to read; until then events cost one look at a flag.
pub(crate) struct Live<S> {
    turn: Name,
    nodes: Arc<[Name]>,
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    hub: OnceLock<Hub<S>>,
    /// Numbers events of attempts that began before there was a hub, each from 1.
    late: Mutex<BTreeMap<(TaskId, u32), u32>>,
    /// What was odd about readers.
    warnings: Mutex<Vec<String>>,
    /// The readers of the turn around a child graph, and where it stands in it.
    child: Option<Child>,
}

struct Child {
    relay: Weak<dyn Relay>,
    outer: Name,
    namespace: Name,
}

impl<S: State> Live<S> {
    pub(crate) fn new(turn: Name, nodes: Arc<[Name]>, clock: Arc<dyn Clock>, cancel: Cancel) -> Self {
        let (late, warnings) = (Mutex::default(), Mutex::default());
        Self { turn, nodes, clock, cancel, hub: OnceLock::new(), late, warnings, child: None }
    }

    /// What a child graph tells goes to the readers of the turn around it.
    pub(crate) fn relayed(self, relay: Weak<dyn Relay>, outer: Name, namespace: Name) -> Self {
        Self { child: Some(Child { relay, outer, namespace }), ..self }
    }

    /// What was odd about readers since the last call.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The hub, if somebody reads or has read.
    #[inline]
    pub(crate) fn hub(&self) -> Option<&Hub<S>> {
        match (self.hub.get(), &self.child) {
            (None, Some(child))
                if self.cancel.is_read() && child.relay.upgrade().is_some_and(|relay| relay.is_open()) =>
            {
                Some(self.hub.get_or_init(|| {
                    let (turn, nodes) = (self.turn.clone(), self.nodes.clone());
                    let hub = Hub::new(turn, child.namespace.clone(), nodes, self.clock.clone(), self.cancel.clone());
                    hub.relayed(child.relay.clone(), child.outer.clone())
                }))
            }
            (hub, _) => hub,
        }
    }

    /// The hub, if somebody wants to know what becomes of nodes and super-steps. Most readers of a turn only hear of a child
    /// graph what its nodes emit.
    #[inline]
    pub(crate) fn followed(&self) -> Option<&Hub<S>> {
        if self.child.is_some() && !self.cancel.is_followed() {
            return None;
        }
        self.hub()
    }

    /// Adds a reader; `false` if the turn is over.
    pub(crate) fn add(&self, options: StreamOptions, queue: mpsc::Sender<Event<S>>) -> bool {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for node in options.unknown_nodes(&self.nodes) {
            let warning = format!("a reader asks for events of node `{node}`, but the graph has none of that name");
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        drop(warnings);
        let hub = self.hub.get_or_init(|| {
            let (turn, nodes) = (self.turn.clone(), self.nodes.clone());
            Hub::new(turn, Name::default(), nodes, self.clock.clone(), self.cancel.clone())
        });
        self.cancel.note_reader(options.has_children());
        hub.add(options, queue)
    }
}

impl<S: State> Relay for Live<S> {
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
        Some(Box::pin(async move {
            if let Some(hub) = self.hub() {
                hub.wait(rest).await;
            }
        }))
    }
}

impl<S: State> Sink for Live<S> {
    fn is_open(&self) -> bool {
        self.hub().is_some()
    }

    fn is_read(&self) -> bool {
        self.hub().is_some_and(Hub::is_read)
    }

    fn late_index(&self, task: TaskId, attempt: u32) -> u32 {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let next = late.entry((task, attempt)).or_insert(1);
        std::mem::replace(next, next.saturating_add(1))
    }

    fn emit(&self, event: Emitted) -> Option<Waiting<'_>> {
        self.hub()?.emit(event).0
    }
}
