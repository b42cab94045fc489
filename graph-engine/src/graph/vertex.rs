//! A vertex of a compiled graph. What every super-step looks at lies together, the rest behind pointers.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::builder::RouterMoves;
use crate::error::NodeError;
use crate::name::Name;
use crate::node::{Node, Policy};
use crate::state::{FieldSet, State};
use crate::task::{Goto, NodeInfo, NodeIx, TargetSpec};

pub(crate) type RouterFn<S> = Box<dyn Fn(&S) -> Result<Goto, NodeError> + Send + Sync>;

/// Declared targets with the nodes they lead to; `None` is the end.
pub(crate) type Hops = Box<[(&'static str, Option<NodeIx>)]>;

/// How a node, or the beginning of a turn, is left when no command says otherwise.
pub(crate) enum Exit<S> {
    Edges(Edges),
    Router { choose: RouterFn<S>, targets: Hops, moves: Box<RouterMoves> },
}

/// Where static edges lead, in the order of their declaration; `None` is the end. Most nodes have one edge, which then
/// lies in the vertex.
pub(crate) enum Edges {
    One([Option<NodeIx>; 1]),
    Many(Box<[Option<NodeIx>]>),
}

impl Deref for Edges {
    type Target = [Option<NodeIx>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl FromIterator<Option<NodeIx>> for Edges {
    fn from_iter<I: IntoIterator<Item = Option<NodeIx>>>(targets: I) -> Self {
        let mut targets = targets.into_iter();
        match (targets.next(), targets.next()) {
            (Some(one), None) => Self::One([one]),
            (first, second) => Self::Many(first.into_iter().chain(second).chain(targets).collect()),
        }
    }
}

// Cache lines of two neighbours are not shared, so that a super-step reads as few as it can.
#[repr(align(64))]
pub(crate) struct VertexSpec<S: State> {
    pub(crate) node: Arc<dyn Node<S>>,
    pub(crate) info: Told,
    pub(crate) policy: Policies<S>,
    /// The node that takes over when a task has failed for good.
    pub(crate) on_error: Option<NodeIx>,
    pub(crate) deferred: bool,
    /// The innermost cluster.
    pub(crate) cluster: Option<usize>,
    pub(crate) exit: Exit<S>,
    /// The targets that its commands declare.
    pub(crate) targets: Hops,
    /// Joins this node is a source of, with its bit in each.
    pub(crate) joins: Box<[(usize, usize)]>,
}

/// What a node says of itself: in front what is asked in every super-step.
pub(crate) struct Told {
    pub(crate) alone: bool,
    pub(crate) writes: Option<FieldSet>,
    all: Box<NodeInfo>,
}

impl Told {
    pub(super) fn new(all: Box<NodeInfo>) -> Self {
        Self { alone: all.alone, writes: all.writes, all }
    }
}

impl Deref for Told {
    type Target = NodeInfo;

    fn deref(&self) -> &NodeInfo {
        &self.all
    }
}

/// The policies of a node: in front what is asked in every super-step.
pub(crate) struct Policies<S: State> {
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    all: Box<Policy<S>>,
}

impl<S: State> Policies<S> {
    pub(super) fn new(all: Box<Policy<S>>) -> Self {
        Self { timeout: all.timeout, idle_timeout: all.idle_timeout, all }
    }
}

impl<S: State> Deref for Policies<S> {
    type Target = Policy<S>;

    fn deref(&self) -> &Policy<S> {
        &self.all
    }
}

impl<S: State> VertexSpec<S> {
    /// Whether a command may name this target.
    pub(crate) fn declares(&self, name: &str) -> bool {
        let declared = |target: &TargetSpec| std::ptr::eq(target.name, name) || target.name == name;
        let mut named = self.info.named_targets.iter().chain(self.info.named_sends.iter().map(|(name, _)| name));
        self.info.dynamic || self.info.targets.iter().any(declared) || named.any(|target| target == name)
    }

    /// All targets that commands may name.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        let sends = self.info.named_sends.iter().map(|(name, _)| name);
        let named = self.info.named_targets.iter().chain(sends).map(Name::as_str);
        self.info.targets.iter().map(|target| target.name).chain(named)
    }
}

pub(crate) struct JoinSpec {
    pub(crate) sources: Vec<NodeIx>,
    pub(crate) to: NodeIx,
}
