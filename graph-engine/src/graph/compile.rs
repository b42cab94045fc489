//! From the description to the validated graph: names become indices, findings become a `CompileError`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::builder::{Builder, RouterMoves};
use super::check::{ArcKind, Plan};
use super::{ClusterSpec, Graph, Inner};
use crate::compile_error::CompileError;
use crate::diagnostic::Level;
use crate::error::NodeError;
use crate::name::Name;
use crate::node::{Node, Policy};
use crate::state::{FieldSet, Merge, State};
use crate::task::{Goto, NodeInfo, NodeIx, START, TargetSpec};
use crate::topology::{Cluster, Edge, EdgeKind, Topology, Vertex, exit_label};

pub(crate) type RouterFn<S> = Box<dyn Fn(&S) -> Result<Goto, NodeError> + Send + Sync>;

/// Declared targets with the nodes they lead to; `None` is the end.
pub(crate) type Hops = Vec<(&'static str, Option<NodeIx>)>;

/// How a node, or the beginning of a turn, is left when no command says otherwise. `None` as a target is the end.
pub(crate) enum Exit<S> {
    Edges(Vec<Option<NodeIx>>),
    Router { choose: RouterFn<S>, targets: Hops, moves: Box<RouterMoves> },
}

pub(crate) struct VertexSpec<S: State> {
    pub(crate) node: Arc<dyn Node<S>>,
    pub(crate) info: NodeInfo,
    pub(crate) policy: Policy<S>,
    /// The node that takes over when a task has failed for good.
    pub(crate) on_error: Option<NodeIx>,
    pub(crate) deferred: bool,
    /// The innermost cluster.
    pub(crate) cluster: Option<usize>,
    pub(crate) exit: Exit<S>,
    /// The targets that its commands declare.
    pub(crate) targets: Hops,
    /// Joins this node is a source of, with its bit in each.
    pub(crate) joins: Vec<(usize, usize)>,
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

pub(super) fn compile<S: State>(mut builder: Builder<S>) -> Result<Graph<S>, CompileError> {
    builder.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    fill_in_defaults(&mut builder);
    let plan = Plan::new(&builder);
    let diagnostics = plan.check(&builder);
    if diagnostics.iter().any(|finding| finding.level == Level::Error) {
        return Err(CompileError { graph: builder.name, diagnostics });
    }
    let topology = topology(&builder, &plan);
    drop(plan);

    // From here on every name is known and used once: the checks have made sure of it.
    let names: Arc<[Name]> = builder.nodes.iter().map(|draft| draft.name.clone()).collect();
    let index: BTreeMap<Name, NodeIx> = names.iter().cloned().zip((0..).map(NodeIx)).collect();
    let hops = |targets: &[TargetSpec]| -> Hops {
        targets.iter().map(|target| (target.name, index.get(target.name).copied())).collect()
    };
    let routers = builder.routers.into_iter().map(|router| {
        let (targets, moves) = (hops(router.moves.spec.targets), Box::new(router.moves));
        (router.from, Exit::Router { choose: router.choose, targets, moves })
    });
    let mut exits: BTreeMap<Name, Exit<S>> = routers.collect();
    for (from, to) in builder.edges {
        if let Exit::Edges(edges) = exits.entry(from).or_insert_with(|| Exit::Edges(Vec::new())) {
            edges.push(index.get(&to).copied());
        }
    }
    let joins: Vec<JoinSpec> = builder
        .joins
        .iter()
        .filter_map(|(from, to)| {
            let sources = from.iter().filter_map(|name| index.get(name).copied()).collect();
            Some(JoinSpec { sources, to: *index.get(to)? })
        })
        .collect();
    let clusters = builder
        .clusters
        .into_iter()
        .filter_map(|draft| {
            Some(ClusterSpec { entry: *index.get(&draft.entry)?, name: draft.name, parent: draft.parent })
        })
        .collect();
    let mut sources: Vec<Vec<(usize, usize)>> = vec![Vec::new(); names.len()];
    for (join, spec) in joins.iter().enumerate() {
        spec.sources.iter().enumerate().for_each(|(bit, source)| sources[source.at()].push((join, bit)));
    }
    let start = exits.remove(START).unwrap_or_else(|| Exit::Edges(Vec::new()));
    let vertices = builder
        .nodes
        .into_iter()
        .zip(sources)
        .map(|(draft, joins)| VertexSpec {
            exit: exits.remove(&draft.name).unwrap_or_else(|| Exit::Edges(Vec::new())),
            joins,
            targets: hops(&draft.spec.info.targets),
            node: draft.spec.node,
            info: draft.spec.info,
            on_error: draft.spec.policy.on_error.as_ref().and_then(|handler| index.get(handler).copied()),
            policy: draft.spec.policy,
            deferred: draft.spec.deferred,
            cluster: draft.cluster,
        })
        .collect::<Vec<VertexSpec<S>>>();
    Ok(Graph::from_inner(Inner {
        guarded: vertices.iter().any(|vertex| vertex.policy.is_guarded()),
        siblings: builder.siblings,
        input: builder.input,
        exits: builder.exits,
        version: builder.version,
        name: builder.name,
        single: single_writer_fields(&builder.initial),
        transient: transient_fields(&builder.initial),
        initial: builder.initial,
        vertices,
        names,
        index,
        start,
        joins,
        clusters,
        topology,
        warnings: diagnostics,
        levels: builder.levels,
        made_of: builder.made_of,
        json_names: OnceLock::new(),
    }))
}

/// Nodes that an error route leads to take over for others, and nobody for them unless they say so.
fn fill_in_defaults<S: State>(builder: &mut Builder<S>) {
    let own = builder.nodes.iter().filter_map(|draft| draft.spec.policy.on_error.clone());
    let handlers: BTreeSet<Name> = own.chain(builder.defaults.handler().cloned()).collect();
    for draft in &mut builder.nodes {
        let (own_retries, handler) = (draft.spec.info.no_retry.is_some(), handlers.contains(&draft.name));
        builder.defaults.fill(&mut draft.spec.policy, own_retries, handler);
    }
}

/// The fields that one task a super-step may write.
pub(super) fn single_writer_fields<S: State>(state: &S) -> FieldSet {
    let single = state.fields().iter().enumerate().filter(|(_, field)| field.merge == Merge::One);
    single.fold(FieldSet::EMPTY, |set, (index, _)| set | FieldSet::of(index))
}

/// The fields that live for one turn.
pub(super) fn transient_fields<S: State>(state: &S) -> FieldSet {
    let transient = state.fields().iter().enumerate().filter(|(_, field)| field.transient);
    transient.fold(FieldSet::EMPTY, |set, (index, _)| set | FieldSet::of(index))
}

fn topology<S: State>(builder: &Builder<S>, plan: &Plan) -> Topology {
    let vertices = builder.nodes.iter().map(|draft| {
        let mut vertex = Vertex::new(&draft.name, draft.spec.info.kind);
        vertex.deferred = draft.spec.deferred;
        vertex.dynamic = draft.spec.info.dynamic;
        let child = draft.spec.info.child.as_ref().and_then(|child| child.downcast_ref::<Topology>());
        vertex.child = child.cloned().map(Box::new);
        vertex
    });
    let edges = plan.arcs.iter().map(|arc| {
        let (kind, label) = match arc.kind {
            ArcKind::Static => (EdgeKind::Static, None),
            ArcKind::Join(_) => (EdgeKind::Join, None),
            ArcKind::Go => (EdgeKind::Go, Some("go")),
            ArcKind::Send => (EdgeKind::FanOut, Some("fan out")),
            ArcKind::Stay => (EdgeKind::Stay, Some("stay")),
            ArcKind::Direct => (EdgeKind::Direct, Some("direct")),
            ArcKind::Finish => (EdgeKind::Finish, Some("finish")),
            ArcKind::Error => (EdgeKind::Error, Some("error")),
        };
        let edge = Edge::new(plan.name(arc.from), plan.name(arc.to), kind);
        match (label, &arc.outside) {
            (_, Some(outside)) => edge.labelled(exit_label(outside)),
            (Some(label), None) => edge.labelled(label),
            (None, None) => edge,
        }
    });
    let clusters = builder.clusters.iter().enumerate().map(|(at, draft)| {
        let members = builder.nodes.iter().filter(|node| node.cluster == Some(at)).map(|node| &node.name);
        let mut cluster = Cluster::new(&draft.name, &draft.entry, members);
        cluster.parent = draft.parent.map(|parent| builder.clusters[parent].name.clone());
        cluster
    });
    let mut topology = Topology::new(&builder.name, vertices.collect(), edges.collect(), clusters.collect());
    let exits =
        plan.arcs.iter().filter_map(|arc| Some(Edge::new(plan.name(arc.from), arc.outside.clone()?, EdgeKind::Go)));
    topology.exits = exits.collect();
    topology.exits.sort();
    topology.exits.dedup();
    topology
}
