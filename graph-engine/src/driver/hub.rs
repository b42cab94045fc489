//! Hands events to readers in one order, and lets each say what happens when it is slow.

use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use futures_util::future::{Either, select};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, OwnedPermit};

use super::event::{Event, EventKind, Mode};
use super::relay::{ChildEvent, Relay};
use super::seams::Clock;
use crate::name::Name;
use crate::state::State;
use crate::task::{Cancel, Emitted, EmittedKind, NodeIx};
use crate::task_id::TaskId;

/// What a reader gets, and what happens when it falls behind.
///
/// ```
/// use graph_engine::{Mode, Slow, StreamOptions};
///
/// let options = StreamOptions::default().modes([Mode::Nodes]).buffer(16).slow(Slow::Disconnect);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct StreamOptions {
    modes: Vec<Mode>,
    nodes: Option<Vec<Name>>,
    slow: Slow,
    buffer: usize,
    children: bool,
}

/// What happens when a reader's buffer is full.
///
/// ```
/// use graph_engine::Slow;
///
/// assert_eq!(Slow::default(), Slow::Block);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slow {
    /// The turn waits for the reader; once it is cancelled it cuts the reader off instead.
    #[default]
    Block,
    /// Tokens are dropped; for everything else the turn waits.
    DropTokens,
    /// The reader is cut off; its stream ends without `Ended`.
    Disconnect,
}

impl Default for StreamOptions {
    fn default() -> Self {
        let modes = vec![Mode::Nodes, Mode::Custom, Mode::Tokens, Mode::Checkpoints];
        Self { modes, nodes: None, slow: Slow::default(), buffer: 256, children: false }
    }
}

impl StreamOptions {
    /// Only these groups of events (default: all but written values and whole states).
    pub fn modes(mut self, modes: impl IntoIterator<Item = Mode>) -> Self {
        self.modes = modes.into_iter().collect();
        self
    }

    /// Only what happens in these nodes, beside what happens in none (default: all). A name that the graph doesn't have
    /// is a warning in the report.
    pub fn nodes<N: Into<Name>>(mut self, nodes: impl IntoIterator<Item = N>) -> Self {
        self.nodes = Some(nodes.into_iter().map(Into::into).collect());
        self
    }

    /// Whether all that the modes ask for comes from child graphs too (default: only values and tokens that their nodes
    /// emit). Events of a child carry its namespace; a whole state of it is never among them, because it may be of
    /// another type.
    pub fn children(mut self, all: bool) -> Self {
        self.children = all;
        self
    }

    /// The nodes that are asked for and not among these.
    pub(crate) fn unknown_nodes(&self, known: &[Name]) -> Vec<Name> {
        self.nodes.iter().flatten().filter(|node| !known.contains(node)).cloned().collect()
    }

    /// What happens when the reader is slow.
    pub fn slow(mut self, slow: Slow) -> Self {
        self.slow = slow;
        self
    }

    pub(crate) fn channel<S>(&self) -> (mpsc::Sender<Event<S>>, mpsc::Receiver<Event<S>>) {
        mpsc::channel(self.buffer)
    }

    /// How many events wait for the reader (default 256, at least 1, at most 1,048,576).
    pub fn buffer(mut self, events: usize) -> Self {
        self.buffer = events.clamp(1, MAX_BUFFER);
        self
    }
}

/// What tokio's channels can hold at least.
const MAX_BUFFER: usize = 1 << 20;

struct Reader<S> {
    options: StreamOptions,
    /// Gone once the reader was cut off.
    queue: Mutex<Option<mpsc::Sender<Event<S>>>>,
}

impl<S: State> Reader<S> {
    fn asks(&self, mode: Mode) -> bool {
        self.options.modes.contains(&mode)
    }

    fn wants(&self, kind: &EventKind<S>, node: Option<&Name>) -> bool {
        if let (Some(node), Some(nodes)) = (node, &self.options.nodes)
            && !nodes.contains(node)
        {
            return false;
        }
        match kind.mode() {
            None => true,
            Some(Mode::Nodes) => self.asks(Mode::Nodes) || self.asks(Mode::Updates) || self.asks(Mode::State),
            Some(mode) => self.asks(mode),
        }
    }

    /// Whether it takes an event of a child graph that runs in a node of this graph.
    fn wants_of_child(&self, kind: &EventKind<S>, outer: &Name, node: Option<&Name>) -> bool {
        let emitted = matches!(kind, EventKind::Custom(_) | EventKind::Token(_) | EventKind::AttemptDiscarded);
        let named = |name: &Name| self.options.nodes.as_ref().is_none_or(|nodes| nodes.contains(name));
        (emitted || self.options.children) && self.wants(kind, None) && (named(outer) || node.is_some_and(named))
    }

    /// The event without what only other readers asked for.
    fn own(&self, mut event: Event<S>) -> Event<S> {
        match &mut event.kind {
            EventKind::NodeFinished { update, .. } if !self.asks(Mode::Updates) => *update = None,
            EventKind::StepFinished { state, .. } if !self.asks(Mode::State) => *state = None,
            _ => {}
        }
        event
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Event<S>>>> {
        // Nothing can panic while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn room(&self, kind: &EventKind<S>, cancel: &Cancel) -> Option<OwnedPermit<Event<S>>> {
        let queue = self.queue().clone()?;
        let queue = match queue.try_reserve_owned() {
            Ok(permit) => return Some(permit),
            Err(TrySendError::Closed(_)) => return None,
            Err(TrySendError::Full(queue)) => queue,
        };
        match self.options.slow {
            Slow::DropTokens if matches!(kind, EventKind::Token(_)) => return None,
            Slow::Block | Slow::DropTokens => {
                let room = pin!(queue.reserve_owned());
                let cancelled = pin!(cancel.token().cancelled());
                // A cancelled turn waits for nobody.
                if let Either::Left((room, _)) = select(room, cancelled).await {
                    return room.ok();
                }
            }
            Slow::Disconnect => {}
        }
        *self.queue() = None;
        None
    }

    /// Whether somebody still reads.
    fn is_read(&self) -> bool {
        self.queue().as_ref().is_some_and(|queue| !queue.is_closed())
    }
}

type Readers<S> = Arc<[Arc<Reader<S>>]>;

/// All readers of one turn.
pub(crate) struct Hub<S> {
    turn: Name,
    namespace: Name,
    nodes: Arc<[Name]>,
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    /// Replaced when a reader is added; never held over an await.
    readers: Mutex<Readers<S>>,
    /// Where everything goes instead, in a child graph.
    relay: Option<(Weak<dyn Relay>, Name)>,
    /// The modes that some reader asks for, a bit each.
    modes: AtomicU8,
    seq: AtomicU64,
    /// Whether the last event was sent. Held only while numbers are given out and events are put into queues that have
    /// room: never over an await.
    ended: Mutex<bool>,
}

/// Where an event comes from.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origin {
    pub(crate) step: u64,
    pub(crate) task: Option<(TaskId, NodeIx)>,
    pub(crate) attempt: u32,
    pub(crate) index: u32,
}

impl Origin {
    pub(crate) fn step(step: u64) -> Self {
        Self { step, ..Self::default() }
    }

    pub(crate) fn task(id: TaskId, node: NodeIx, attempt: u32, index: u32) -> Self {
        Self { step: id.step, task: Some((id, node)), attempt, index }
    }
}

impl<S: State> Hub<S> {
    pub(crate) fn new(turn: Name, namespace: Name, nodes: Arc<[Name]>, clock: Arc<dyn Clock>, cancel: Cancel) -> Self {
        let (seq, ended) = (AtomicU64::new(0), Mutex::new(false));
        let (readers, modes) = (Mutex::new(Arc::from([])), AtomicU8::new(0));
        Self { turn, namespace, nodes, clock, cancel, readers, relay: None, modes, seq, ended }
    }

    /// A hub of a child graph that runs in a node of the outermost one: the readers are those of the whole turn.
    pub(crate) fn relayed(self, relay: Weak<dyn Relay>, outer: Name) -> Self {
        Self { relay: Some((relay, outer)), ..self }
    }

    fn relay(&self) -> Option<Arc<dyn Relay>> {
        self.relay.as_ref()?.0.upgrade()
    }

    /// Adds a reader; `false` if the last event was sent.
    pub(crate) fn add(&self, options: StreamOptions, queue: mpsc::Sender<Event<S>>) -> bool {
        // Held until the reader is in: the last event is either not sent yet, and reaches it, or was.
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if *ended {
            return false;
        }
        let modes = options.modes.iter().fold(0, |all, mode| all | bit(*mode));
        self.modes.fetch_or(modes, Ordering::AcqRel);
        let reader = Arc::new(Reader { options, queue: Mutex::new(Some(queue)) });
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        *readers = readers.iter().cloned().chain([reader]).collect();
        true
    }

    fn readers(&self) -> Readers<S> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether some reader asks for a mode that costs something to serve.
    pub(crate) fn asks(&self, mode: Mode) -> bool {
        self.modes.load(Ordering::Acquire) & bit(mode) != 0 || self.relay().is_some_and(|relay| relay.asks(mode))
    }

    /// Whether somebody still reads.
    pub(crate) fn is_read(&self) -> bool {
        self.readers().iter().any(|reader| reader.is_read()) || self.relay().is_some_and(|relay| relay.is_read())
    }

    pub(crate) async fn emit(&self, event: Emitted) {
        let origin = Origin::task(event.task, event.node, event.attempt, event.index);
        let kind = match event.kind {
            EmittedKind::Custom(value) => EventKind::Custom(value),
            EmittedKind::Token(text) => EventKind::Token(text),
        };
        self.send(origin, kind).await;
    }

    pub(crate) async fn send(&self, origin: Origin, kind: EventKind<S>) {
        let node = origin.task.map(|(_, node)| &self.nodes[node.at()]);
        if let Some((relay, outer)) = &self.relay {
            let Some(relay) = relay.upgrade() else { return };
            let (outer, namespace, node) = (outer.clone(), self.namespace.clone(), node.cloned());
            let Origin { step, task, attempt, index } = origin;
            let task = task.map(|(id, _)| id);
            let event = ChildEvent { outer, namespace, step, task, node, attempt, index, kind: kind.stateless() };
            return relay.relay(event).await;
        }
        let task = origin.task.map(|(id, _)| id);
        let (namespace, node) = (self.namespace.clone(), node.cloned());
        let (turn, attempt, index, step) = (self.turn.clone(), origin.attempt, origin.index, origin.step);
        let time = SystemTime::UNIX_EPOCH;
        let event = Event { turn, namespace, seq: 0, step, task, node, attempt, index, time, kind };
        self.deliver(event, |reader, event| reader.wants(&event.kind, event.node.as_ref())).await;
    }

    /// Hands an event of a child graph to those who ask for it.
    pub(crate) async fn relay_in(&self, event: ChildEvent) {
        let ChildEvent { outer, namespace, step, task, node, attempt, index, kind } = event;
        let (turn, time, kind) = (self.turn.clone(), SystemTime::UNIX_EPOCH, kind.stateless());
        let event = Event { turn, namespace, seq: 0, step, task, node, attempt, index, time, kind };
        self.deliver(event, |reader, event| reader.wants_of_child(&event.kind, &outer, event.node.as_ref())).await;
    }

    /// Gives the event its number and time once every reader that wants it has room.
    async fn deliver(&self, mut event: Event<S>, wants: impl Fn(&Reader<S>, &Event<S>) -> bool) {
        let readers = self.readers();
        // One reader is the frequent case and needs no list.
        let (mut last, mut others) = (None, Vec::new());
        for reader in readers.iter().filter(|reader| wants(reader, &event)) {
            if let Some(permit) = reader.room(&event.kind, &self.cancel).await {
                others.extend(last.replace((reader, permit)));
            }
        }
        let Some((last, permit)) = last else { return };
        event.time = self.clock.now();
        // A poisoned lock protects nothing but the order of numbers.
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // Work that a node left behind may still emit; nothing comes after the end.
        if *ended {
            return;
        }
        *ended = matches!(event.kind, EventKind::Ended { .. });
        event.seq = self.seq.fetch_add(1, Ordering::Relaxed);
        for (reader, permit) in others {
            permit.send(reader.own(event.clone()));
        }
        permit.send(last.own(event));
    }
}

fn bit(mode: Mode) -> u8 {
    1 << mode as u8
}
