//! A vertex of a compiled graph, and how it is left.

use std::ops::Deref;
use std::sync::Arc;

use super::builder::RouterMoves;
use crate::error::NodeError;
use crate::name::Name;
use crate::node::{Node, Policy};
use crate::state::State;
use crate::task::{Again, Goto, NodeInfo, NodeIx, TargetSpec};

pub(crate) type RouterFn<S> = Box<dyn Fn(&S) -> Result<Goto, NodeError> + Send + Sync>;

/// Declared targets with the nodes they lead to; `None` is the end.
pub(crate) type Hops = Vec<(&'static str, Option<NodeIx>)>;

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

/// A node in its graph. What every super-step looks at lies in it, the rest behind one pointer.
pub(crate) struct VertexSpec<S: State> {
    pub(crate) node: Arc<dyn Node<S>>,
    pub(crate) exit: Exit<S>,
    /// The innermost cluster.
    pub(crate) cluster: Option<usize>,
    pub(crate) deferred: bool,
    /// Whether a task of it may call the node again within a turn.
    pub(crate) again: Again,
    pub(crate) rest: Rest<S>,
}

impl<S: State> Deref for VertexSpec<S> {
    type Target = Rare<S>;

    fn deref(&self) -> &Rare<S> {
        &self.rest
    }
}

/// What few nodes have or say of themselves.
pub(crate) struct Rare<S: State> {
    pub(crate) info: NodeInfo,
    pub(crate) policy: Policy<S>,
    /// The node that takes over when a task has failed for good.
    pub(crate) on_error: Option<NodeIx>,
    /// The targets that its commands declare.
    pub(crate) targets: Hops,
    /// Joins this node is a source of, with its bit in each.
    pub(crate) joins: Vec<(usize, usize)>,
}

impl<S: State> Rare<S> {
    const NOTHING: Self =
        Self { info: NodeInfo::PLAIN, policy: Policy::NONE, on_error: None, targets: Vec::new(), joins: Vec::new() };

    /// All nodes without anything of it share this one, which therefore is always at hand.
    const SHARED: &'static Self = &Self::NOTHING;
}

/// What a node has of all that, if it has something.
pub(crate) struct Rest<S: State>(Option<Box<Rare<S>>>);

impl<S: State> Rest<S> {
    pub(super) fn new(info: NodeInfo, policy: Policy<S>) -> Self {
        let has_nothing = info.is_plain() && policy.is_none();
        Self((!has_nothing).then(|| Box::new(Rare { info, policy, ..Rare::NOTHING })))
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn edit(&mut self) -> &mut Rare<S> {
        self.0.get_or_insert_with(|| Box::new(Rare::NOTHING))
    }
}

impl<S: State> Deref for Rest<S> {
    type Target = Rare<S>;

    fn deref(&self) -> &Rare<S> {
        self.0.as_deref().unwrap_or(Rare::SHARED)
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
