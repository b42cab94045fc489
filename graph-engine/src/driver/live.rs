//! A turn that runs, as others see it: whoever comes later may still read its events.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::hub::{Hub, StreamOptions};
use super::seams::Clock;
use crate::driver::event::Event;
use crate::name::Name;
use crate::state::State;
use crate::task::{Cancel, Emitted, Sink};
use tokio::sync::mpsc;

/// A turn that runs. Its hub is made when somebody first wants to read; until then events cost one look at a flag.
pub(crate) struct Live<S> {
    turn: Name,
    nodes: Arc<[Name]>,
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    hub: OnceLock<Hub<S>>,
    /// Numbers events of attempts that began before there was a hub.
    late: AtomicU32,
}

impl<S: State> Live<S> {
    pub(crate) fn new(turn: Name, nodes: Arc<[Name]>, clock: Arc<dyn Clock>, cancel: Cancel) -> Self {
        Self { turn, nodes, clock, cancel, hub: OnceLock::new(), late: AtomicU32::new(1) }
    }

    /// The hub, if somebody reads or has read.
    pub(crate) fn hub(&self) -> Option<&Hub<S>> {
        self.hub.get()
    }

    /// Adds a reader; `false` if the turn is over.
    pub(crate) fn add(&self, options: StreamOptions, queue: mpsc::Sender<Event<S>>) -> bool {
        let hub = self.hub.get_or_init(|| {
            let (turn, nodes) = (self.turn.clone(), self.nodes.clone());
            Hub::new(turn, Name::default(), nodes, self.clock.clone(), self.cancel.clone())
        });
        hub.add(options, queue)
    }
}

impl<S: State> Sink for Live<S> {
    fn is_open(&self) -> bool {
        self.hub().is_some()
    }

    fn is_read(&self) -> bool {
        self.hub().is_some_and(Hub::is_read)
    }

    fn late_index(&self) -> u32 {
        self.late.fetch_add(1, Ordering::Relaxed)
    }

    fn emit(&self, event: Emitted) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        match self.hub() {
            Some(hub) => Box::pin(hub.emit(event)),
            None => Box::pin(std::future::ready(())),
        }
    }
}
