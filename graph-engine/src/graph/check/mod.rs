//! Everything that `compile()` looks for: one file a group of lints, all over one plan of arcs.

mod branch;
mod cycle;
mod names;
mod payload;
mod reach;
mod routes;

use std::collections::BTreeMap;

use super::builder::{Builder, Draft};
use crate::diagnostic::{Diagnostic, Level};
use crate::name::Name;
use crate::state::State;
use crate::task::{END, FailedTask, NodeInfo, PayloadType, RouteSpec, START};

/// A possible step from one vertex to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArcKind {
    Static,
    Join(usize),
    Go,
    Send,
    Stay,
    Direct,
    Finish,
    Error,
}

pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: ArcKind,
    /// The node outside of the graph to which it leads; then `to` is the end.
    pub(super) outside: Option<Name>,
    payload: Option<PayloadType>,
}

/// The graph by indices: nodes in name order, then START and END. Arcs to unknown names are left out, and reported.
pub(super) struct Plan {
    names: Vec<Name>,
    index: BTreeMap<Name, usize>,
    /// For each name the place of its (first) node in the description.
    first: Vec<usize>,
    pub(super) arcs: Vec<Arc>,
    unknown: Vec<(Name, Name, &'static str)>,
    exits: Vec<Name>,
}

impl Plan {
    pub(super) fn new<S: State>(builder: &Builder<S>) -> Self {
        let mut plan = Self {
            names: Vec::new(),
            index: BTreeMap::new(),
            first: Vec::new(),
            arcs: Vec::new(),
            unknown: Vec::new(),
            exits: builder.exits.clone(),
        };
        for (at, draft) in builder.nodes.iter().enumerate() {
            if plan.names.last() != Some(&draft.name) {
                plan.index.insert(draft.name.clone(), plan.names.len());
                plan.names.push(draft.name.clone());
                plan.first.push(at);
            }
        }
        for (from, to) in &builder.edges {
            plan.arc(from, to, ArcKind::Static, None, "edge");
        }
        for (join, (from, to)) in builder.joins.iter().enumerate() {
            from.iter().for_each(|from| plan.arc(from, to, ArcKind::Join(join), None, "join"));
        }
        for router in &builder.routers {
            let (stay, moves) = (plan.stay_of(builder, &router.from), &router.moves);
            plan.named(&router.from, &moves.named.targets, &moves.named.sends, "route");
            plan.moves(&router.from, &moves.all(), stay);
        }
        for draft in &builder.nodes {
            let info = &draft.spec.info;
            for target in &info.targets {
                let kind = if target.payload.is_some() { ArcKind::Send } else { ArcKind::Go };
                plan.arc(&draft.name, target.name, kind, target.payload, "command");
            }
            plan.named(&draft.name, &info.named_targets, &info.named_sends, "command");
            if let Some(handler) = &draft.spec.policy.on_error {
                let payload = Some(PayloadType::of::<FailedTask>());
                plan.arc(&draft.name, handler, ArcKind::Error, payload, "error route");
            }
            let spec = RouteSpec::new(&[]).moves(info.stay, info.direct, info.finish);
            plan.moves(&draft.name, &spec, plan.stay_of(builder, &draft.name));
        }
        for draft in &builder.clusters {
            if !plan.index.contains_key(&draft.entry) {
                plan.unknown.push((draft.name.clone(), draft.entry.clone(), "cluster"));
            }
        }
        plan
    }

    /// Where a stay of this node leads: the entry of its innermost cluster, or itself.
    fn stay_of<S: State>(&self, builder: &Builder<S>, node: &Name) -> Name {
        let cluster = self.index.get(node).and_then(|at| builder.nodes[self.first[*at]].cluster);
        cluster.map_or_else(|| node.clone(), |at| builder.clusters[at].entry.clone())
    }

    fn moves(&mut self, from: &str, spec: &RouteSpec, stay: Name) {
        for target in spec.targets {
            let kind = if target.payload.is_some() { ArcKind::Send } else { ArcKind::Go };
            self.arc(from, target.name, kind, target.payload, "route");
        }
        // A stay of START is reported with its router.
        if spec.stay && from != START {
            self.arc(from, &stay, ArcKind::Stay, None, "route");
        }
        if spec.direct {
            self.arc(from, END, ArcKind::Direct, None, "route");
        }
        if spec.finish {
            self.arc(from, END, ArcKind::Finish, None, "route");
        }
    }

    fn named(&mut self, from: &str, targets: &[Name], sends: &[(Name, PayloadType)], what: &'static str) {
        targets.iter().for_each(|target| self.arc(from, target, ArcKind::Go, None, what));
        sends.iter().for_each(|(target, payload)| self.arc(from, target, ArcKind::Send, Some(*payload), what));
    }

    fn arc(&mut self, from: &str, to: &str, kind: ArcKind, payload: Option<PayloadType>, what: &'static str) {
        let source = if from == START { Some(self.start()) } else { self.index.get(from).copied() };
        let to_name: Name = to.into();
        // What an edge or a join waits for can't be outside.
        let outside = !matches!(kind, ArcKind::Static | ArcKind::Join(_)) && self.exits.iter().any(|exit| exit == to);
        let target = if to == END || outside { Some(self.end()) } else { self.index.get(to).copied() };
        match (source, target) {
            (Some(from), Some(to)) => {
                self.arcs.push(Arc { from, to, kind, outside: outside.then(|| to_name.clone()), payload })
            }
            _ => {
                if source.is_none() {
                    self.unknown.push((from.into(), from.into(), what));
                }
                if target.is_none() {
                    self.unknown.push((from.into(), to.into(), what));
                }
            }
        }
    }

    /// What a node says of itself; START and END say nothing.
    fn info<'b, S: State>(&self, builder: &'b Builder<S>, vertex: usize) -> Option<&'b NodeInfo> {
        self.draft(builder, vertex).map(|draft| &draft.spec.info)
    }

    fn draft<'b, S: State>(&self, builder: &'b Builder<S>, vertex: usize) -> Option<&'b Draft<S>> {
        self.first.get(vertex).map(|at| &builder.nodes[*at])
    }

    fn start(&self) -> usize {
        self.names.len()
    }

    fn end(&self) -> usize {
        self.names.len() + 1
    }

    /// The name for people: START and END have one that no node can have.
    fn shown(&self, vertex: usize) -> Name {
        match self.names.get(vertex) {
            Some(name) => name.clone(),
            None if vertex == self.start() => "START".into(),
            None => "END".into(),
        }
    }

    pub(super) fn name(&self, vertex: usize) -> Name {
        match self.names.get(vertex) {
            Some(name) => name.clone(),
            None if vertex == self.start() => START.into(),
            None => END.into(),
        }
    }

    /// Every finding that is not ignored, errors first, each group by lint and nodes.
    pub(super) fn check<S: State>(&self, builder: &Builder<S>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.check_names(builder, &mut found);
        self.check_routes(builder, &mut found);
        self.check_error_routes(&mut found);
        self.check_join_sources(builder, &mut found);
        let reachable = self.check_reach(builder, &mut found);
        self.check_cycles(builder, &mut found);
        self.check_payloads(builder, &mut found);
        self.check_branches(builder, &reachable, &mut found);
        for finding in &mut found {
            if let Some(level) = builder.levels.get(&finding.lint)
                && !finding.lint.is_fixed()
            {
                finding.level = *level;
            }
        }
        found.retain(|finding| finding.level != Level::Ignore);
        found.sort_by(|a, b| {
            let key = |d: &Diagnostic| (std::cmp::Reverse(d.level), d.lint);
            key(a).cmp(&key(b)).then_with(|| a.nodes.cmp(&b.nodes)).then_with(|| a.message.cmp(&b.message))
        });
        found.dedup();
        found
    }
}

/// A vertex as petgraph counts it.
fn index(vertex: usize) -> u32 {
    // A graph with 2^32 nodes doesn't fit in memory.
    u32::try_from(vertex).unwrap_or(u32::MAX)
}
