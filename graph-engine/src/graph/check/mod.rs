//! Everything that `compile()` looks for: one file a group of lints, all over one plan of arcs.

mod branch;
mod cycle;
mod names;
mod payload;
mod reach;
mod routes;

use std::num::NonZeroU32;

use super::Nodes;
use super::builder::{Builder, Draft};
use crate::diagnostic::{Diagnostic, Level};
use crate::name::{Name, NameIndex, Place};
use crate::state::State;
use crate::task::{END, FailedTask, NodeInfo, NodeIx, PayloadType, RouteSpec, START};
use crate::topology::{Topology, Vertex};

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
    /// The place of what only few arcs have, from 1.
    rare: Option<NonZeroU32>,
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
    pub(super) index: Nodes,
    /// All nodes for diagrams; each name once.
    pub(super) vertices: Vec<Vertex>,
    /// For each name the place of its (first) node in the description.
    first: Vec<usize>,
    traits: Vec<Traits>,
    /// Some node says that something is wrong with it, or does its own retries.
    problems: bool,
    /// Some name of a node is reserved, or used twice.
    odd_names: bool,
    /// Grouped by where they begin, and within a group in the order of the description, edges first.
    pub(super) arcs: Vec<Arc>,
    /// Where the arcs of each vertex begin, and where the last ones end.
    groups: Vec<u32>,
    rare: Vec<Rare>,
    /// Edges that begin at, or lead to, an unknown name.
    lost: Vec<(Name, Name)>,
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
    /// The plan of a description whose nodes are sorted. Takes the edges, whose names are not needed any more.
    pub(super) fn new<S: State>(builder: &mut Builder<S>) -> Self {
        let edges = std::mem::take(&mut builder.edges);
        let mut plan = Self::of_nodes(builder);
        plan.arcs.reserve(edges.len() + builder.joins.len() + 2 * builder.routers.len());
        for (from, to) in edges {
            let known = plan.unknown.len();
            plan.arc(plan.source(&from), &to, ArcKind::Static, None, "edge");
            if plan.unknown.len() > known {
                plan.lost.push((from, to));
            }
        }
        for (join, (from, to)) in (0..).zip(&builder.joins) {
            from.iter().for_each(|from| plan.arc(plan.source(from), to, ArcKind::Join(join), None, "join"));
        }
        for router in &builder.routers {
            let (source, moves) = (plan.source(&router.from), &router.moves);
            plan.named(source, &moves.named.targets, &moves.named.sends, "route");
            plan.moves(builder, source, &moves.all());
        }
        for draft in builder.nodes.iter().filter(|draft| !draft.rest.is_nothing()) {
            plan.commands(builder, draft);
        }
        for draft in &builder.clusters {
            if plan.index.get(&draft.entry).is_none() {
                plan.unknown.push((draft.name.clone(), draft.entry.clone(), "cluster"));
            }
        }
        plan.group();
        plan
    }

    /// All names, and what nodes say of themselves, in one pass.
    fn of_nodes<S: State>(builder: &Builder<S>) -> Self {
        let count = builder.nodes.len();
        let (mut names, mut places) = (Vec::<Name>::with_capacity(count), NameIndex::with_room(count));
        let (mut first, mut traits) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut vertices = Vec::with_capacity(count);
        let (mut problems, mut odd_names) = (false, false);
        for (at, draft) in builder.nodes.iter().enumerate() {
            let info = &draft.rest.info;
            problems |= info.no_retry.is_some() || !info.problems.is_empty();
            // Of two nodes of one name, which is reported, the first counts.
            if names.last() == Some(&draft.name) {
                odd_names = true;
                continue;
            }
            odd_names |= is_reserved(&draft.name);
            names.push(draft.name.clone());
            places.insert(names.len() - 1, |at| &*names[at]);
            first.push(at);
            let (moves, dynamic, payload) = (info.has_moves(), info.dynamic, info.payload.is_some());
            traits.push(Traits { moves, dynamic, payload });
            let child = info.child.as_ref().and_then(|child| child.downcast_ref::<Topology>());
            let (name, kind, deferred) = (draft.name.clone(), info.kind, draft.deferred);
            vertices.push(Vertex { name, kind, deferred, dynamic, child: child.cloned().map(Box::new) });
        }
        let index = Nodes { names: names.into(), places };
        let exits = builder.exits.clone();
        let (arcs, groups, rare, lost, unknown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { index, vertices, first, traits, problems, odd_names, arcs, groups, rare, lost, unknown, exits }
    }

    /// The arcs of what a node may command.
    fn commands<S: State>(&mut self, builder: &Builder<S>, draft: &Draft<S>) {
        let (info, policy) = (&draft.rest.info, &draft.rest.policy);
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

    /// The names of all nodes, in their order.
    pub(super) fn names(&self) -> &[Name] {
        &self.index.names
    }

    /// Sorts the arcs by where they begin, in the order of the description otherwise.
    fn group(&mut self) {
        let mut ends = vec![0; self.names().len() + 3];
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
        self.rare(arc)?.outside.as_ref()
    }

    fn payload(&self, arc: &Arc) -> Option<PayloadType> {
        self.rare(arc)?.payload
    }

    fn rare(&self, arc: &Arc) -> Option<&Rare> {
        self.rare.get(arc.rare?.get() as usize - 1)
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
        (vertex < self.names().len()).then(|| NodeIx::from_index(vertex))
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
                if outside || payload.is_some() {
                    self.rare.push(Rare { outside: outside.then(|| to.into()), payload });
                }
                let rare = NonZeroU32::new(u32::from_index(self.rare.len()));
                let rare = rare.filter(|_| outside || payload.is_some());
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
        self.draft(builder, vertex).map(|draft| &draft.rest.info)
    }

    fn draft<'b, S: State>(&self, builder: &'b Builder<S>, vertex: usize) -> Option<&'b Draft<S>> {
        self.first.get(vertex).map(|at| &builder.nodes[*at])
    }

    pub(super) fn start(&self) -> usize {
        self.names().len()
    }

    pub(super) fn end(&self) -> usize {
        self.names().len() + 1
    }

    fn name(&self, vertex: usize) -> Name {
        match self.names().get(vertex) {
            Some(name) => name.clone(),
            None if vertex == self.start() => START.into(),
            None => END.into(),
        }
    }

    /// The name for people: START and END have one that no node can have.
    fn shown(&self, vertex: usize) -> Name {
        match self.names().get(vertex) {
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

/// Whether a name is kept for the engine.
fn is_reserved(name: &str) -> bool {
    name.is_empty() || name.starts_with("__")
}
