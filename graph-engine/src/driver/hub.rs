//! Hands events to readers in one order, and lets each say what happens when it is slow.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_util::future::{Either, select};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, OwnedPermit};

use super::event::{Event, EventKind, Mode};
use super::relay::{ChildEvent, ChildOrigin, Relay};
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

    pub(crate) fn has_children(&self) -> bool {
        self.children
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

/// Who reads, and what of all events.
struct Reader {
    options: StreamOptions,
    /// The modes, a bit each.
    modes: u8,
}

impl Reader {
    fn asks(&self, mode: Mode) -> bool {
        self.modes & bit(mode) != 0
    }

    fn wants<S>(&self, kind: &EventKind<S>) -> bool {
        const NODES: u8 = bit(Mode::Nodes) | bit(Mode::Updates) | bit(Mode::State);
        match kind.mode() {
            None => true,
            Some(Mode::Nodes) => self.modes & NODES != 0,
            Some(mode) => self.asks(mode),
        }
    }

    fn names(&self, node: &Name) -> bool {
        self.options.nodes.as_ref().is_none_or(|nodes| nodes.contains(node))
    }

    /// Whether it does without the event rather than wait for room.
    fn drops<S>(&self, kind: &EventKind<S>) -> bool {
        self.options.slow == Slow::DropTokens && matches!(kind, EventKind::Token(_))
    }

    /// Takes out of the event what only other readers asked for.
    fn trim<S>(&self, event: &mut Event<S>) {
        match &mut event.kind {
            EventKind::NodeFinished { update, .. } if !self.asks(Mode::Updates) => *update = None,
            EventKind::StepFinished { state, .. } if !self.asks(Mode::State) => *state = None,
            _ => {}
        }
    }
}

/// A reader at the desk from which events are handed out.
struct Seat<S> {
    reader: Arc<Reader>,
    /// Gone once the reader was cut off.
    queue: Option<mpsc::Sender<Event<S>>>,
}

/// What is held while numbers are given out and events are put into queues that have room: never over an await.
struct Desk<S> {
    /// Nobody ever leaves a seat, so that its place names it.
    seats: Vec<Seat<S>>,
    seq: u64,
    /// Whether the last event was sent.
    ended: bool,
}

/// All readers of one turn.
pub(crate) struct Hub<S> {
    turn: Name,
    namespace: Name,
    nodes: Arc<[Name]>,
    clock: Arc<dyn Clock>,
    cancel: Cancel,
    desk: Mutex<Desk<S>>,
    /// Where everything goes instead, in a child graph.
    relay: Option<(Weak<dyn Relay>, Name)>,
    /// The modes that some reader asks for, a bit each.
    modes: AtomicU8,
}

/// An event on its way. It was handed out already, unless a reader must be waited for.
#[must_use]
pub(crate) struct Sending<'a>(Option<Waiting<'a>>);

pub(crate) type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Future for Sending<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Ready(()), |waiting| waiting.as_mut().poll(cx))
    }
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

/// Where an event was told: in this graph, or in a child of it.
enum Source {
    Own(Origin),
    Child(ChildOrigin),
}

/// An event that waits for the room of some reader.
pub(super) struct Held<S> {
    source: Source,
    kind: EventKind<S>,
}

/// What is left of an event that was handed out: it is to be waited for.
pub(super) enum Rest<S> {
    Held(Held<S>),
    /// By the readers of the turn around a child graph.
    Relayed(Waiting<'static>),
}

impl<S: State> Hub<S> {
    pub(crate) fn new(turn: Name, namespace: Name, nodes: Arc<[Name]>, clock: Arc<dyn Clock>, cancel: Cancel) -> Self {
        let desk = Mutex::new(Desk { seats: Vec::new(), seq: 0, ended: false });
        Self { turn, namespace, nodes, clock, cancel, desk, relay: None, modes: AtomicU8::new(0) }
    }

    /// A hub of a child graph that runs in a node of the outermost one: the readers are those of the whole turn.
    pub(crate) fn relayed(self, relay: Weak<dyn Relay>, outer: Name) -> Self {
        Self { relay: Some((relay, outer)), ..self }
    }

    fn relay(&self) -> Option<Arc<dyn Relay>> {
        self.relay.as_ref()?.0.upgrade()
    }

    fn desk(&self) -> MutexGuard<'_, Desk<S>> {
        // What is poisoned was between two events.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a reader; `false` if the last event was sent.
    pub(crate) fn add(&self, options: StreamOptions, queue: mpsc::Sender<Event<S>>) -> bool {
        // Held until the reader is in: the last event is either not sent yet, and reaches it, or was.
        let mut desk = self.desk();
        if desk.ended {
            return false;
        }
        let modes = options.modes.iter().fold(0, |all, mode| all | bit(*mode));
        self.modes.fetch_or(modes, Ordering::AcqRel);
        desk.seats.push(Seat { reader: Arc::new(Reader { options, modes }), queue: Some(queue) });
        true
    }

    /// Whether some reader asks for a mode that costs something to serve.
    pub(crate) fn asks(&self, mode: Mode) -> bool {
        self.modes.load(Ordering::Acquire) & bit(mode) != 0 || self.relay().is_some_and(|relay| relay.asks(mode))
    }

    /// Whether somebody still reads.
    pub(crate) fn is_read(&self) -> bool {
        let reads = |seat: &Seat<S>| seat.queue.as_ref().is_some_and(|queue| !queue.is_closed());
        self.desk().seats.iter().any(reads) || self.relay().is_some_and(|relay| relay.is_read())
    }

    pub(super) fn emit(&self, event: Emitted) -> Option<Rest<S>> {
        let origin = Origin::task(event.task, event.node, event.attempt, event.index);
        let kind = match event.kind {
            EmittedKind::Custom(value) => EventKind::Custom(value),
            EmittedKind::Token(text) => EventKind::Token(text),
        };
        self.give(origin, kind)
    }

    /// Hands out an event, at once if every reader that wants it has room.
    pub(crate) fn send(&self, origin: Origin, kind: EventKind<S>) -> Sending<'_> {
        Sending(match self.give(origin, kind) {
            None => None,
            Some(Rest::Held(rest)) => Some(Box::pin(self.wait(rest))),
            Some(Rest::Relayed(waiting)) => Some(waiting),
        })
    }

    /// Hands out an event to every reader that has room.
    fn give(&self, origin: Origin, kind: EventKind<S>) -> Option<Rest<S>> {
        let Some((relay, outer)) = &self.relay else {
            let source = Source::Own(origin);
            return self.hand_out(&source, kind).map(|kind| Rest::Held(Held { source, kind }));
        };
        let relay = relay.upgrade()?;
        let Origin { step, task, attempt, index } = origin;
        let node = task.map(|(_, node)| self.nodes[node.at()].clone());
        let (outer, namespace, task) = (outer.clone(), self.namespace.clone(), task.map(|(id, _)| id));
        let origin = ChildOrigin { outer, namespace, step, task, node, attempt, index };
        relay.relay(ChildEvent { origin, kind: kind.stateless() }).map(Rest::Relayed)
    }

    /// Hands an event of a child graph to those who ask for it; what comes back is to be [waited](Self::wait) for.
    pub(super) fn relay_in(&self, event: ChildEvent) -> Option<Held<S>> {
        let (source, kind) = (Source::Child(event.origin), event.kind.stateless());
        self.hand_out(&source, kind).map(|kind| Held { source, kind })
    }

    fn wants(&self, reader: &Reader, source: &Source, kind: &EventKind<S>) -> bool {
        match source {
            Source::Own(origin) => {
                let node = || origin.task.map(|(_, node)| &self.nodes[node.at()]);
                reader.wants(kind) && (reader.options.nodes.is_none() || node().is_none_or(|node| reader.names(node)))
            }
            Source::Child(origin) => {
                let emitted = matches!(kind, EventKind::Custom(_) | EventKind::Token(_) | EventKind::AttemptDiscarded);
                let named =
                    || reader.names(&origin.outer) || origin.node.as_ref().is_some_and(|node| reader.names(node));
                (emitted || reader.options.children) && reader.wants(kind) && named()
            }
        }
    }

    /// The event with its number and time.
    #[inline]
    fn event(&self, source: &Source, kind: EventKind<S>, seq: u64) -> Event<S> {
        let (turn, time) = (self.turn.clone(), self.clock.now());
        match source {
            Source::Own(Origin { step, task, attempt, index }) => Event {
                turn,
                namespace: self.namespace.clone(),
                seq,
                step: *step,
                task: task.map(|(id, _)| id),
                node: task.map(|(_, node)| self.nodes[node.at()].clone()),
                attempt: *attempt,
                index: *index,
                time,
                kind,
            },
            Source::Child(ChildOrigin { outer: _, namespace, step, task, node, attempt, index }) => Event {
                turn,
                namespace: namespace.clone(),
                seq,
                step: *step,
                task: *task,
                node: node.clone(),
                attempt: *attempt,
                index: *index,
                time,
                kind,
            },
        }
    }

    /// Gives the event its number and time if every reader that wants it has room, so that numbers have no holes.
    /// Otherwise nobody gets it yet, and it is given back.
    fn hand_out(&self, source: &Source, kind: EventKind<S>) -> Option<EventKind<S>> {
        let mut desk = self.desk();
        let Desk { seats, seq, ended } = &mut *desk;
        // Work that a node left behind may still emit; nothing comes after the end.
        if *ended {
            return None;
        }
        // One reader is the frequent case and needs no list.
        let (mut last, mut others) = (None, Vec::new());
        for Seat { reader, queue } in seats.iter().filter(|seat| self.wants(&seat.reader, source, &kind)) {
            match queue.as_ref().map(mpsc::Sender::try_reserve) {
                Some(Ok(permit)) => others.extend(last.replace((reader, permit))),
                Some(Err(TrySendError::Full(()))) if !reader.drops(&kind) => return Some(kind),
                Some(Err(TrySendError::Full(()) | TrySendError::Closed(()))) | None => {}
            }
        }
        let (reader, permit) = last?;
        *ended = matches!(kind, EventKind::Ended { .. });
        let mut event = self.event(source, kind, *seq);
        *seq += 1;
        for (reader, permit) in others {
            let mut event = event.clone();
            reader.trim(&mut event);
            permit.send(event);
        }
        reader.trim(&mut event);
        permit.send(event);
        None
    }

    /// The same once there is room in the queues of those who want it now, each by its own rule.
    pub(super) async fn wait(&self, held: Held<S>) {
        let Held { source, kind } = held;
        let asking: Vec<_> = {
            let desk = self.desk();
            let wanting = desk.seats.iter().enumerate().filter(|(_, seat)| self.wants(&seat.reader, &source, &kind));
            wanting.filter_map(|(at, seat)| Some((at, seat.reader.clone(), seat.queue.clone()?))).collect()
        };
        let mut places = Vec::with_capacity(asking.len());
        for (at, reader, queue) in asking {
            if let Some(permit) = self.room(at, &reader, queue, &kind).await {
                places.push((reader, permit));
            }
        }
        let Some((last, permit)) = places.pop() else { return };
        let mut desk = self.desk();
        if desk.ended {
            return;
        }
        desk.ended = matches!(kind, EventKind::Ended { .. });
        let mut event = self.event(&source, kind, desk.seq);
        desk.seq += 1;
        for (reader, permit) in places {
            let mut event = event.clone();
            reader.trim(&mut event);
            permit.send(event);
        }
        last.trim(&mut event);
        permit.send(event);
    }

    async fn room(
        &self,
        seat: usize,
        reader: &Reader,
        queue: mpsc::Sender<Event<S>>,
        kind: &EventKind<S>,
    ) -> Option<OwnedPermit<Event<S>>> {
        let queue = match queue.try_reserve_owned() {
            Ok(permit) => return Some(permit),
            Err(TrySendError::Closed(_)) => return None,
            Err(TrySendError::Full(queue)) => queue,
        };
        match reader.options.slow {
            _ if reader.drops(kind) => return None,
            Slow::Block | Slow::DropTokens => {
                let room = pin!(queue.reserve_owned());
                let cancelled = pin!(self.cancel.token().cancelled());
                // A cancelled turn waits for nobody.
                if let Either::Left((room, _)) = select(room, cancelled).await {
                    return room.ok();
                }
            }
            Slow::Disconnect => {}
        }
        self.desk().seats[seat].queue = None;
        None
    }
}

const fn bit(mode: Mode) -> u8 {
    1 << mode as u8
}
