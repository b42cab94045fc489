//! What all tasks of one turn share: one allocation a turn, one reference count a task.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NodeIx;
use super::blocking::{GivenUp, Offload};
use super::cancel::Cancel;
use super::journal::Journals;
use super::resources::Resources;
use super::turn_id::TurnId;
use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::task_id::TaskId;

/// The state as one super-step sees it, and the turn it belongs to, behind one reference count.
#[derive(Clone)]
pub(crate) struct Shared<S> {
    pub(crate) state: S,
    pub(crate) turn: Arc<TurnContext>,
}

/// A place for the one reference to a snapshot that machine and task pass to each other: counting a second one would cost
/// as much as the rest of a super-step of one task.
#[derive(Clone)]
pub(crate) struct Held<S>(Option<Arc<Shared<S>>>);

impl<S> Held<S> {
    pub(crate) fn new(shared: Arc<Shared<S>>) -> Self {
        Self(Some(shared))
    }

    /// Gives the reference away for good.
    pub(crate) fn give(&mut self) -> Arc<Shared<S>> {
        // Nobody asks twice.
        self.0.take().expect("a snapshot is given away once")
    }

    /// Lets go of the reference, unless it was given away.
    pub(crate) fn drop_now(&mut self) {
        self.0 = None;
    }

    /// Takes the reference out of another place.
    pub(crate) fn take_from(&mut self, other: &mut Self) {
        self.0 = other.0.take();
    }
}

impl<S> Deref for Held<S> {
    type Target = Arc<Shared<S>>;

    fn deref(&self) -> &Arc<Shared<S>> {
        // The machine has it back before it does anything, and a task is only shown to its node while it has it.
        self.0.as_ref().expect("a snapshot that was lent is given back before it is looked at")
    }
}

impl<S> DerefMut for Held<S> {
    fn deref_mut(&mut self) -> &mut Arc<Shared<S>> {
        self.0.as_mut().expect("a snapshot that was lent is given back before it is looked at")
    }
}

/// What the tasks of a turn are given beside the state.
pub(crate) struct TurnContext {
    pub(crate) thread: Name,
    pub(crate) turn: TurnId,
    /// What tasks descend from when there are no checkpoints, if not from the turn: the call of a child graph.
    pub(crate) lineage: Option<Name>,
    /// Namespace of a child graph; empty at the top.
    pub(crate) namespace: Name,
    /// Names of all nodes by index.
    pub(crate) nodes: Arc<[Name]>,
    pub(crate) resources: Resources,
    pub(crate) cancel: Cancel,
    /// Where blocking work runs; tokio's own threads by default.
    pub(crate) offload: Option<Arc<dyn Offload>>,
    /// Blocking work that nobody waits for any more.
    pub(crate) given_up: GivenUp,
    /// Where events go, known once somebody may read them. Weak, because a snapshot that outlives the turn must not keep
    /// the readers' streams open.
    pub(crate) sink: OnceLock<Weak<dyn Sink>>,
    /// Whether what tasks ask and remember can be kept.
    pub(crate) durable: bool,
    /// What tasks asked, were answered and remembered.
    pub(crate) journals: Journals,
    /// Where results within tasks are kept, if that must be before they are used. Weak, because a snapshot that outlives
    /// the turn must not keep the thread from its next one.
    pub(crate) keeper: OnceLock<Weak<dyn Keeper>>,
    /// What child graphs share with the turn around them, made for the first of them.
    pub(crate) host: OnceLock<Arc<dyn Host>>,
    /// Who makes it.
    pub(crate) maker: Option<Arc<dyn MakesHost>>,
    /// Super-steps of this turn's own graph. Only its machine writes it.
    pub(crate) made: AtomicU64,
    /// Only there in a child graph.
    pub(crate) nested: Option<Nested>,
    /// The newest checkpoints of child graphs that keep their state over calls, by namespace, as of the last merge.
    pub(crate) kept_children: KeptChildren,
}

/// Most turns have none, which costs one look at a flag.
#[derive(Default)]
pub(crate) struct KeptChildren {
    any: AtomicBool,
    children: Mutex<BTreeMap<Name, CheckpointId>>,
}

impl KeptChildren {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Name, CheckpointId>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn all(&self) -> BTreeMap<Name, CheckpointId> {
        if self.is_empty() { BTreeMap::new() } else { self.lock().clone() }
    }

    pub(crate) fn get(&self, namespace: &str) -> Option<CheckpointId> {
        if self.is_empty() { None } else { self.lock().get(namespace).copied() }
    }

    pub(crate) fn insert(&self, namespace: Name, at: CheckpointId) {
        let mut kept = self.lock();
        kept.insert(namespace, at);
        self.any.store(true, Ordering::Release);
    }

    /// Takes these in place of those that there are.
    pub(crate) fn set(&self, children: BTreeMap<Name, CheckpointId>) {
        if children.is_empty() && self.is_empty() {
            return;
        }
        let mut kept = self.lock();
        self.any.store(!children.is_empty(), Ordering::Release);
        *kept = children;
    }
}

/// Makes what child graphs share with a turn: most turns have no child graphs and need nothing of it.
pub(crate) trait MakesHost: Send + Sync {
    fn host(&self, turn: &TurnContext) -> Arc<dyn Host>;
}

/// What child graphs share with the turn around them. Nodes never see it.
pub(crate) trait Host: Send + Sync {
    /// Super-steps that the whole turn may make, those of child graphs included.
    fn limit(&self) -> u64;

    /// How many of them are left.
    fn left(&self) -> u64;

    /// The turn's own graph has made so many super-steps by now. There is only one that says so, so that nobody waits.
    fn made(&self, steps: u64);

    /// A child graph has made one more.
    fn add(&self);

    /// The host itself, for those on higher floors.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Where a child graph stands in the turn around it.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    /// How many graphs are around it.
    pub(crate) depth: u32,
    /// The node of the outermost graph in which it runs.
    pub(crate) node: Name,
    /// The nodes on the way to it, without what differs between calls.
    pub(crate) path: Name,
    /// Some task around it may run again within the turn.
    pub(crate) again: bool,
}

/// Keeps single results of tasks while their super-step is unfinished.
pub(crate) trait Keeper: Send + Sync {
    /// Resolves once the result is stored.
    fn keep(
        &self,
        task: TaskId,
        key: Name,
        json: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>>;
}

impl TurnContext {
    pub(crate) fn turn_id(&self) -> &Name {
        self.turn.name()
    }

    pub(crate) fn sink(&self) -> Option<Arc<dyn Sink>> {
        self.sink.get()?.upgrade()
    }

    /// What child graphs share with the turn, if this belongs to one.
    pub(crate) fn host(&self) -> Option<&Arc<dyn Host>> {
        match (self.host.get(), &self.maker) {
            (None, Some(maker)) => Some(self.host.get_or_init(|| maker.host(self))),
            (host, _) => host,
        }
    }

    /// The turn's own graph has made so many super-steps by now. Only its machine says so, so that nobody waits.
    pub(crate) fn note_made(&self, steps: u64) {
        self.made.store(steps, Ordering::Release);
        if let Some(host) = self.host.get() {
            host.made(steps);
        }
    }

    pub(crate) fn node_name(&self, node: NodeIx) -> &Name {
        &self.nodes[node.at()]
    }
}

impl TurnContext {
    /// The context of a turn that nobody gives anything.
    pub(crate) fn new(thread: Name, turn: Name, nodes: Arc<[Name]>) -> Self {
        Self::of(thread, turn.into(), nodes, Cancel::default())
    }

    /// The same with its cancellation.
    pub(crate) fn of(thread: Name, turn: TurnId, nodes: Arc<[Name]>, cancel: Cancel) -> Self {
        Self {
            thread,
            lineage: None,
            turn,
            namespace: Name::default(),
            nodes,
            resources: Resources::default(),
            cancel,
            offload: None,
            given_up: GivenUp::default(),
            sink: OnceLock::new(),
            durable: false,
            journals: Journals::default(),
            keeper: OnceLock::new(),
            host: OnceLock::new(),
            maker: None,
            made: AtomicU64::new(0),
            nested: None,
            kept_children: KeptChildren::default(),
        }
    }
}

impl TurnContext {
    /// Forgets a plain turn that is over; false if it was no plain one.
    pub(crate) fn rest(&mut self) -> bool {
        // Each field by its name, so that none is forgotten.
        let Self {
            thread,
            turn,
            lineage,
            namespace,
            nodes: _,
            resources,
            // That of the turn, which nobody can ask any more.
            cancel: _,
            offload: _,
            given_up,
            sink,
            durable: _,
            journals,
            keeper,
            host,
            maker,
            made,
            nested,
            kept_children,
        } = self;
        let of_a_child = lineage.is_some() || nested.is_some() || !namespace.is_empty();
        if of_a_child
            || !kept_children.is_empty()
            || given_up.any()
            || journals.were_used()
            || sink.get().is_some()
            || host.get().is_some()
        {
            return false;
        }
        (*thread, *turn) = (Name::default(), TurnId::default());
        *resources = Resources::default();
        *keeper = OnceLock::new();
        // It is the runner, which keeps what rests.
        *maker = None;
        *made.get_mut() = 0;
        true
    }
}

impl fmt::Debug for TurnContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnContext")
            .field("thread", &self.thread)
            .field("turn", self.turn_id())
            .finish_non_exhaustive()
    }
}

/// What only some tasks carry; the others need no allocation for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extra {
    /// Feedback of the stays that led here, in task order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) feedback: Vec<Value>,
    /// The task's own timeout, in place of its node's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Duration>,
}

/// What a node emits while it runs.
pub(crate) struct Emitted {
    pub(crate) task: TaskId,
    pub(crate) node: NodeIx,
    pub(crate) attempt: u32,
    pub(crate) index: u32,
    pub(crate) kind: EmittedKind,
}

pub(crate) enum EmittedKind {
    Custom(Value),
    Token(String),
}

/// Where a turn's events go.
pub(crate) trait Sink: Send + Sync {
    /// Whether somebody reads or has read.
    fn is_open(&self) -> bool;

    /// Whether a reader is left.
    fn is_read(&self) -> bool;

    /// The number of the next event of an attempt that began before anybody read.
    fn late_index(&self, task: TaskId, attempt: u32) -> u32;

    /// Hands the event to every reader. What comes back is to be awaited, because one that must not miss it has no room.
    fn emit(self: Arc<Self>, event: Emitted) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>>;
}
