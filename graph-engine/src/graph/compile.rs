//! From the description to the validated graph: names become indices, findings become a `CompileError`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::builder::{Builder, RouterDraft};
use super::check::Plan;
use super::shape::topology;
use super::{ClusterSpec, Exit, Graph, Hops, Inner, JoinSpec, Nodes, VertexSpec};
use crate::compile_error::CompileError;
use crate::diagnostic::Level;
use crate::name::Name;
use crate::state::{FieldSet, Merge, State};
use crate::task::{Again, NodeIx, TargetSpec};

pub(super) fn compile<S: State>(mut builder: Builder<S>) -> Result<Graph<S>, CompileError> {
    builder.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    fill_in_defaults(&mut builder);
    let mut plan = Plan::new(&mut builder);
    let diagnostics = plan.check(&builder);
    if diagnostics.iter().any(|finding| finding.level == Level::Error) {
        return Err(CompileError { graph: builder.name, diagnostics });
    }
    let topology = topology(&builder, &mut plan);

    // From here on every name is known and used once: the checks have made sure of it.
    let mut routers: Vec<Option<RouterDraft<S>>> = Vec::new();
    if !builder.routers.is_empty() {
        routers.resize_with(plan.end(), || None);
    }
    for router in builder.routers {
        if let Some(from) = plan.vertex(&router.from) {
            routers[from] = Some(router);
        }
    }
    let mut exit = |vertex: usize| match routers.get_mut(vertex).and_then(Option::take) {
        None => Exit::Edges(plan.edges(vertex).map(|to| plan.node_at(to)).collect()),
        Some(RouterDraft { moves, choose, .. }) => {
            let targets = hops(&plan.index, moves.spec.targets);
            Exit::Router { choose, targets, moves: Box::new(moves) }
        }
    };
    let index = |name: &Name| plan.index.get(name).copied();
    let joins = builder.joins.iter().filter_map(|(from, to)| {
        let sources = from.iter().filter_map(index).collect();
        Some(JoinSpec { sources, to: index(to)? })
    });
    let joins: Vec<JoinSpec> = joins.collect();
    let mut sources: Vec<Vec<(usize, usize)>> = Vec::new();
    if !joins.is_empty() {
        sources.resize_with(plan.names().len(), Vec::new);
    }
    for (join, spec) in joins.iter().enumerate() {
        spec.sources.iter().enumerate().for_each(|(bit, source)| sources[source.at()].push((join, bit)));
    }
    let clusters = builder
        .clusters
        .into_iter()
        .filter_map(|draft| Some(ClusterSpec { entry: index(&draft.entry)?, name: draft.name, parent: draft.parent }));
    let clusters = clusters.collect();
    let (mut guarded, mut needs) = (false, Vec::new());
    let vertices = builder.nodes.into_iter().enumerate().map(|(at, draft)| {
        let mut rest = draft.rest;
        if !rest.is_nothing() {
            let rare = rest.edit();
            rare.targets = hops(&plan.index, &rare.info.targets);
            rare.on_error = rare.policy.on_error.as_ref().and_then(index);
            guarded |= rare.policy.is_guarded();
            needs.extend(rare.info.needs.iter().filter_map(|need| Some((NodeIx(at.try_into().ok()?), *need))));
        }
        if let Some(joins) = sources.get_mut(at).filter(|joins| !joins.is_empty()) {
            rest.edit().joins = std::mem::take(joins);
        }
        let again = Again { by_policy: rest.policy.retry.is_some(), by_node: !draft.node.is_child_graph() };
        VertexSpec { node: draft.node, exit: exit(at), cluster: draft.cluster, deferred: draft.deferred, again, rest }
    });
    let vertices: Vec<VertexSpec<S>> = vertices.collect();
    let start = exit(plan.start());
    Ok(Graph::from_inner(Inner {
        guarded,
        needs,
        siblings: builder.siblings,
        input: builder.input,
        exits: builder.exits,
        version: builder.version,
        name: builder.name,
        single: single_writer_fields(&builder.initial),
        transient: transient_fields(&builder.initial),
        initial: builder.initial,
        vertices,
        names: plan.index.names.clone(),
        index: plan.index,
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

fn hops(index: &Nodes, targets: &[TargetSpec]) -> Hops {
    targets.iter().map(|target| (target.name, index.get(target.name).copied())).collect()
}

/// Nodes that an error route leads to take over for others, and nobody for them unless they say so.
fn fill_in_defaults<S: State>(builder: &mut Builder<S>) {
    let Some(defaults) = &builder.defaults else { return };
    let own = builder.nodes.iter().filter_map(|draft| draft.rest.policy.on_error.clone());
    let handlers: BTreeSet<Name> = own.chain(defaults.handler().cloned()).collect();
    for draft in &mut builder.nodes {
        let (own_retries, handler) = (draft.rest.info.no_retry.is_some(), handlers.contains(&draft.name));
        defaults.fill(&mut draft.rest.edit().policy, own_retries, handler);
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
