//! What a node says of itself when the graph compiles.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Need, PayloadType, RouteSpec, TargetSpec};
use crate::name::Name;
use crate::state::FieldSet;

/// What a node is, for diagrams.
///
/// ```
/// use graph_engine::NodeKind;
///
/// assert_eq!(NodeKind::default(), NodeKind::Plain);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    /// Anything else.
    #[default]
    Plain,
    /// Asks a model.
    Agent,
    /// Runs tools.
    Tools,
    /// Accepts or rejects a response.
    Gate,
    /// Asks a person.
    Human,
}

/// What a node needs and declares.
///
/// ```
/// use graph_engine::{NodeInfo, NodeKind, TargetSpec};
///
/// let info = NodeInfo::new(NodeKind::Agent).target(TargetSpec::new("gate"));
/// assert_eq!(info.targets[0].name, "gate");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NodeInfo {
    /// How diagrams draw it.
    pub kind: NodeKind,
    /// Where its commands may lead.
    pub targets: Vec<TargetSpec>,
    /// Names of targets that are only known at run time but fixed when the graph compiles.
    pub named_targets: Vec<Name>,
    /// The same for targets whose tasks each get a payload of this type.
    pub named_sends: Vec<(Name, PayloadType)>,
    /// It may stay.
    pub stay: bool,
    /// It may reply directly.
    pub direct: bool,
    /// It may finish the thread.
    pub finish: bool,
    /// It may go to targets that it doesn't declare.
    pub dynamic: bool,
    /// The type of payload it asks for.
    pub payload: Option<PayloadType>,
    /// The resources it asks for.
    pub needs: Vec<Need>,
    /// The only fields it writes, if it says so.
    pub writes: Option<FieldSet>,
    /// What was wrong when it was made, such as a tool that there is not: each is a finding of `compile()`.
    pub problems: Vec<String>,
    /// It does its own retries, so that a retry policy on it would count twice.
    pub no_retry: Option<&'static str>,
    /// Tasks of it fail when several run in one super-step: they would share what only one may use.
    pub(crate) alone: bool,
    /// The shape of the child graph that it runs.
    pub(crate) child: Option<Arc<dyn Any + Send + Sync>>,
}

impl NodeInfo {
    /// A node of this kind that declares nothing.
    #[must_use]
    pub fn new(kind: NodeKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// What a node says that has nothing to say.
    pub(crate) const PLAIN: Self = Self {
        kind: NodeKind::Plain,
        targets: Vec::new(),
        named_targets: Vec::new(),
        named_sends: Vec::new(),
        stay: false,
        direct: false,
        finish: false,
        dynamic: false,
        payload: None,
        needs: Vec::new(),
        writes: None,
        problems: Vec::new(),
        no_retry: None,
        alone: false,
        child: None,
    };

    /// Whether it has nothing to say.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { kind, payload, needs, writes, problems, no_retry, alone, child, .. } = self;
        *kind == NodeKind::Plain
            && !self.has_moves()
            && payload.is_none()
            && needs.is_empty()
            && writes.is_none()
            && problems.is_empty()
            && no_retry.is_none()
            && !alone
            && child.is_none()
    }

    /// Adds a possible target.
    #[must_use]
    pub fn target(mut self, target: TargetSpec) -> Self {
        self.targets.push(target);
        self
    }

    /// Adds all moves of a route type.
    pub fn add_route(&mut self, route: &RouteSpec) {
        self.targets.extend_from_slice(route.targets);
        self.stay |= route.stay;
        self.direct |= route.direct;
        self.finish |= route.finish;
        self.dynamic |= route.dynamic;
    }

    /// Adds what another description needs and declares, each thing once.
    pub(crate) fn add(&mut self, other: Self) {
        fn all<T: PartialEq>(here: &mut Vec<T>, more: Vec<T>) {
            for item in more {
                if !here.contains(&item) {
                    here.push(item);
                }
            }
        }
        all(&mut self.targets, other.targets);
        all(&mut self.named_targets, other.named_targets);
        all(&mut self.named_sends, other.named_sends);
        all(&mut self.needs, other.needs);
        all(&mut self.problems, other.problems);
        self.stay |= other.stay;
        self.direct |= other.direct;
        self.finish |= other.finish;
        self.dynamic |= other.dynamic;
        self.payload = self.payload.or(other.payload);
        self.no_retry = self.no_retry.or(other.no_retry);
        self.alone |= other.alone;
        self.child = self.child.take().or(other.child);
    }

    /// Whether its commands can leave the declared edges.
    #[must_use]
    pub fn has_moves(&self) -> bool {
        self.dynamic
            || self.stay
            || self.direct
            || self.finish
            || !self.targets.is_empty()
            || !self.named_targets.is_empty()
            || !self.named_sends.is_empty()
    }
}
