//! Everything that `compile()` looks for: one file a group of lints, all over one plan of arcs.

mod branch;
mod cycle;
mod names;
mod payload;
mod reach;
mod routes;

use std::sync::Arc as Shared;

use super::Nodes;
use super::builder::{Builder, Draft};
use crate::diagnostic::{Diagnostic, Level};
use crate::name::{Name, Place};
use crate::state::State;
use crate::task::{END, FailedTask, NodeInfo, NodeIx, PayloadType, RouteSpec, START};

/// A possible step from one vertex to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArcKind {
    Static,
    /// By the join of this number.
    Join(u32),
    Go,
    Send,
    Stay,
    Direct,
    Finish,
    Error,
}

#[derive(Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: ArcKind,
    /// The place of what only few arcs have.
    rare: Option<u32>,
}

struct Rare {
    /// The node outside of the graph to which it leads; then `to` is the end.
    outside: Option<Name>,
    payload: Option<PayloadType>,
}

/// What the checks ask of every node, read once.
#[derive(Clone, Copy)]
struct Traits {
    /// Its commands may leave the declared edges.
    moves: bool,
    dynamic: bool,
    /// It asks for a payload.
    payload: bool,
}

/// The graph by indices: nodes in name order, then START and END. Arcs to unknown names are left out, and reported.
pub(super) struct Plan {
    pub(super) names: Shared<[Name]>,
    pub(super) index: Nodes,
    /// For each name the place of its (first) node in the description.
    first: Vec<usize>,
    traits: Vec<Traits>,
    /// Some node says that something is wrong with it, or does its own retries.
    problems: bool,
    /// Grouped by where they begin, and within a group in the order of the description, edges first.
    pub(super) arcs: Vec<Arc>,
    /// Where the arcs of each vertex begin, and where the last ones end.
    groups: Vec<u32>,
    rare: Vec<Rare>,
    unknown: Vec<(Name, Name, &'static str)>,
    exits: Vec<Name>,
}

/// Where an arc begins: a vertex, if there is one of that name.
#[derive(Clone, Copy)]
struct Source<'a> {
    vertex: Option<u32>,
    name: &'a Name,
}

impl Plan {
    pub(super) fn new<S: State>(builder: &Builder<S>) -> Self {
        let (mut names, mut first) = (Vec::with_capacity(builder.nodes.len()), Vec::with_capacity(builder.nodes.len()));
        for (at, draft) in builder.nodes.iter().enumerate() {
            if names.last() != Some(&draft.name) {
                names.push(draft.name.clone());
                first.push(at);
            }
        }
        let names: Shared<[Name]> = names.into();
        let mut plan = Self {
            index: Nodes::new(names.clone()),
            traits: Vec::with_capacity(names.len()),
            problems: false,
            names,
            first,
            arcs: Vec::with_capacity(builder.edges.len() + builder.joins.len() + 2 * builder.routers.len()),
            groups: Vec::new(),
            rare: Vec::new(),
            unknown: Vec::new(),
            exits: builder.exits.clone(),
        };
        for (from, to) in &builder.edges {
            plan.arc(plan.source(from), to, ArcKind::Static, None, "edge");
        }
        for (join, (from, to)) in (0..).zip(&builder.joins) {
            from.iter().for_each(|from| plan.arc(plan.source(from), to, ArcKind::Join(join), None, "join"));
        }
        for router in &builder.routers {
            let (source, moves) = (plan.source(&router.from), &router.moves);
            plan.named(source, &moves.named.targets, &moves.named.sends, "route");
            plan.moves(builder, source, &moves.all());
        }
        let mut vertex = 0;
        for (at, draft) in builder.nodes.iter().enumerate() {
            if plan.first.get(vertex + 1) == Some(&at) {
                vertex += 1;
            }
            plan.node(builder, draft, vertex);
        }
        for draft in &builder.clusters {
            if plan.index.get(&draft.entry).is_none() {
                plan.unknown.push((draft.name.clone(), draft.entry.clone(), "cluster"));
            }
        }
        plan.group();
        plan
    }

    /// What a node says of itself.
    fn node<S: State>(&mut self, builder: &Builder<S>, draft: &Draft<S>, vertex: usize) {
        let (info, policy) = (&*draft.spec.info, &*draft.spec.policy);
        // Of two nodes of one name, which is reported, the first counts.
        if self.traits.len() == vertex {
            let (moves, dynamic, payload) = (info.has_moves(), info.dynamic, info.payload.is_some());
            self.traits.push(Traits { moves, dynamic, payload });
        }
        self.problems |= info.no_retry.is_some() || !info.problems.is_empty();
        if !info.has_moves() && policy.on_error.is_none() {
            return;
        }
        let source = self.source(&draft.name);
        for target in &info.targets {
            let kind = if target.payload.is_some() { ArcKind::Send } else { ArcKind::Go };
            self.arc(source, target.name, kind, target.payload, "command");
        }
        self.named(source, &info.named_targets, &info.named_sends, "command");
        if let Some(handler) = &policy.on_error {
            self.arc(source, handler, ArcKind::Error, Some(PayloadType::of::<FailedTask>()), "error route");
        }
        self.moves(builder, source, &RouteSpec::new(&[]).moves(info.stay, info.direct, info.finish));
    }

    /// Sorts the arcs by where they begin, in the order of the description otherwise.
    fn group(&mut self) {
        let mut ends = vec![0; self.names.len() + 3];
        self.arcs.iter().for_each(|arc| ends[arc.from as usize + 1] += 1);
        for vertex in 1..ends.len() {
            ends[vertex] += ends[vertex - 1];
        }
        let mut grouped = self.arcs.clone();
        let mut next = ends.clone();
        for arc in &self.arcs {
            let place = &mut next[arc.from as usize];
            grouped[*place as usize] = *arc;
            *place += 1;
        }
        (self.arcs, self.groups) = (grouped, ends);
    }

    /// The arcs that begin at a vertex.
    pub(super) fn from(&self, vertex: usize) -> &[Arc] {
        &self.arcs[self.groups[vertex] as usize..self.groups[vertex + 1] as usize]
    }

    /// Where static edges lead from a vertex, END included.
    pub(super) fn edges(&self, vertex: usize) -> impl Iterator<Item = usize> {
        self.from(vertex).iter().filter(|arc| arc.kind == ArcKind::Static).map(|arc| arc.to as usize)
    }

    pub(super) fn outside(&self, arc: &Arc) -> Option<&Name> {
        self.rare[arc.rare? as usize].outside.as_ref()
    }

    fn payload(&self, arc: &Arc) -> Option<PayloadType> {
        self.rare[arc.rare? as usize].payload
    }

    fn source<'a>(&self, name: &'a Name) -> Source<'a> {
        Source { vertex: self.vertex(name).map(u32::from_index), name }
    }

    /// The vertex from which a name leads on.
    pub(super) fn vertex(&self, name: &Name) -> Option<usize> {
        if name == START { Some(self.start()) } else { self.index.get(name).map(|node| node.at()) }
    }

    /// The node at a vertex; START and END are none.
    pub(super) fn node_at(&self, vertex: usize) -> Option<NodeIx> {
        (vertex < self.names.len()).then(|| NodeIx::from_index(vertex))
    }

    /// Where a stay of this node leads: the entry of its innermost cluster, or itself.
    fn stay_of<'b, S: State>(&self, builder: &'b Builder<S>, node: Source<'b>) -> &'b Name {
        let draft = node.vertex.and_then(|vertex| self.draft(builder, vertex as usize));
        draft.and_then(|draft| draft.cluster).map_or(node.name, |at| &builder.clusters[at].entry)
    }

    fn moves<S: State>(&mut self, builder: &Builder<S>, from: Source<'_>, spec: &RouteSpec) {
        for target in spec.targets {
            let kind = if target.payload.is_some() { ArcKind::Send } else { ArcKind::Go };
            self.arc(from, target.name, kind, target.payload, "route");
        }
        // A stay of START is reported with its router.
        if spec.stay && from.name != START {
            self.arc(from, self.stay_of(builder, from), ArcKind::Stay, None, "route");
        }
        if spec.direct {
            self.arc(from, END, ArcKind::Direct, None, "route");
        }
        if spec.finish {
            self.arc(from, END, ArcKind::Finish, None, "route");
        }
    }

    fn named(&mut self, from: Source<'_>, targets: &[Name], sends: &[(Name, PayloadType)], what: &'static str) {
        targets.iter().for_each(|target| self.arc(from, target, ArcKind::Go, None, what));
        sends.iter().for_each(|(target, payload)| self.arc(from, target, ArcKind::Send, Some(*payload), what));
    }

    fn arc(&mut self, from: Source<'_>, to: &str, kind: ArcKind, payload: Option<PayloadType>, what: &'static str) {
        // What an edge or a join waits for can't be outside.
        let outside = !matches!(kind, ArcKind::Static | ArcKind::Join(_)) && self.exits.iter().any(|exit| exit == to);
        let target = if to == END || outside { Some(self.end()) } else { self.index.get(to).map(|node| node.at()) };
        match (from.vertex, target.map(u32::from_index)) {
            (Some(from), Some(to_vertex)) => {
                let rare = (outside || payload.is_some()).then(|| {
                    self.rare.push(Rare { outside: outside.then(|| to.into()), payload });
                    u32::from_index(self.rare.len() - 1)
                });
                self.arcs.push(Arc { from, to: to_vertex, kind, rare });
            }
            (source, target) => {
                if source.is_none() {
                    self.unknown.push((from.name.clone(), from.name.clone(), what));
                }
                if target.is_none() {
                    self.unknown.push((from.name.clone(), to.into(), what));
                }
            }
        }
    }

    /// What a node says of itself; START and END say nothing.
    fn info<'b, S: State>(&self, builder: &'b Builder<S>, vertex: usize) -> Option<&'b NodeInfo> {
        self.draft(builder, vertex).map(|draft| &*draft.spec.info)
    }

    fn draft<'b, S: State>(&self, builder: &'b Builder<S>, vertex: usize) -> Option<&'b Draft<S>> {
        self.first.get(vertex).map(|at| &builder.nodes[*at])
    }

    pub(super) fn start(&self) -> usize {
        self.names.len()
    }

    pub(super) fn end(&self) -> usize {
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

    /// Every finding that is not ignored, errors first, each group by lint and nodes.
    pub(super) fn check<S: State>(&self, builder: &Builder<S>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.check_names(builder, &mut found);
        self.check_routes(builder, &mut found);
        self.check_error_routes(&mut found);
        self.check_join_sources(builder, &mut found);
        let reachable = self.check_reach(builder, &mut found);
        self.check_cycles(&mut found);
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
