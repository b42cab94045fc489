//! The declared shape of a graph, made of its plan: what diagrams are drawn from.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::builder::Builder;
use super::check::{Arc, ArcKind, Plan};
use crate::name::Name;
use crate::state::State;
use crate::task::{END, START};
use crate::topology::{Cluster, Edge, EdgeKind, Topology, exit_label};

pub(super) fn topology<S: State>(builder: &Builder<S>, plan: &mut Plan) -> Topology {
    let mut topology = Topology {
        name: builder.name.clone(),
        nodes: std::mem::take(&mut plan.vertices),
        edges: Drawing::new(plan).edges(),
        clusters: clusters(builder),
        exits: Vec::new(),
    };
    if !builder.exits.is_empty() {
        let exits =
            plan.arcs.iter().filter_map(|arc| Some(Edge::new(name(plan, arc.from), plan.outside(arc)?, EdgeKind::Go)));
        topology.exits = exits.collect();
        topology.exits.sort();
        topology.exits.dedup();
    }
    topology
}

fn name(plan: &Plan, vertex: u32) -> Name {
    plan.names().get(vertex as usize).cloned().unwrap_or_else(|| START.into())
}

fn clusters<S: State>(builder: &Builder<S>) -> Vec<Cluster> {
    let mut members: Vec<Vec<&Name>> = vec![Vec::new(); builder.clusters.len()];
    for draft in &builder.nodes {
        if let Some(cluster) = draft.cluster {
            members[cluster].push(&draft.name);
        }
    }
    let clusters = builder.clusters.iter().zip(members).map(|(draft, members)| {
        let mut cluster = Cluster::new(&draft.name, &draft.entry, members);
        cluster.parent = draft.parent.map(|parent| builder.clusters[parent].name.clone());
        cluster
    });
    let mut clusters: Vec<Cluster> = clusters.collect();
    clusters.sort_by(|a, b| a.name.cmp(&b.name));
    clusters
}

/// The arcs as edges in their fixed order, which follows from the order of the nodes: no names are compared.
struct Drawing<'a> {
    plan: &'a Plan,
    start: Name,
    end: Name,
    /// How many nodes stand before the end by their names.
    before_end: usize,
}

impl<'a> Drawing<'a> {
    fn new(plan: &'a Plan) -> Self {
        let before_end = plan.names().partition_point(|name| **name < *END);
        Self { plan, start: START.into(), end: END.into(), before_end }
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(self.plan.arcs.len());
        let before_start = self.plan.names().partition_point(|name| **name < *START);
        (0..before_start).for_each(|at| self.leaving(at, &self.plan.names()[at], &mut edges));
        self.leaving(self.plan.start(), &self.start, &mut edges);
        (before_start..self.plan.names().len()).for_each(|at| self.leaving(at, &self.plan.names()[at], &mut edges));
        edges
    }

    /// The edges from one vertex, each once.
    fn leaving(&self, vertex: usize, from: &Name, edges: &mut Vec<Edge>) {
        match self.plan.from(vertex) {
            [] => {}
            [arc] => edges.push(self.edge(arc, from)),
            arcs => {
                let mut arcs: Vec<&Arc> = arcs.iter().collect();
                arcs.sort_by(|a, b| self.order(a, b));
                arcs.dedup_by(|a, b| self.order(a, b).is_eq());
                edges.extend(arcs.into_iter().map(|arc| self.edge(arc, from)));
            }
        }
    }

    fn order(&self, a: &Arc, b: &Arc) -> Ordering {
        let key = |arc: &Arc| (self.rank(arc), edge_kind(arc.kind));
        key(a).cmp(&key(b)).then_with(|| self.label(a).cmp(&self.label(b)))
    }

    /// The place of a target among all names: the end stands between two nodes.
    fn rank(&self, arc: &Arc) -> usize {
        let to = arc.to as usize;
        if to == self.plan.end() { 2 * self.before_end } else { 2 * to + 1 }
    }

    fn edge(&self, arc: &Arc, from: &Name) -> Edge {
        let to = self.plan.names().get(arc.to as usize).unwrap_or(&self.end).clone();
        let label = self.label(arc).map(Cow::into_owned);
        Edge { from: from.clone(), to, kind: edge_kind(arc.kind), label }
    }

    fn label(&self, arc: &Arc) -> Option<Cow<'static, str>> {
        match (arc.kind, self.plan.outside(arc)) {
            (_, Some(outside)) => Some(exit_label(outside).into()),
            (ArcKind::Static | ArcKind::Join(_), None) => None,
            (ArcKind::Go, None) => Some("go".into()),
            (ArcKind::Send, None) => Some("fan out".into()),
            (ArcKind::Stay, None) => Some("stay".into()),
            (ArcKind::Direct, None) => Some("direct".into()),
            (ArcKind::Finish, None) => Some("finish".into()),
            (ArcKind::Error, None) => Some("error".into()),
        }
    }
}

fn edge_kind(kind: ArcKind) -> EdgeKind {
    match kind {
        ArcKind::Static => EdgeKind::Static,
        ArcKind::Join(_) => EdgeKind::Join,
        ArcKind::Go => EdgeKind::Go,
        ArcKind::Send => EdgeKind::FanOut,
        ArcKind::Stay => EdgeKind::Stay,
        ArcKind::Direct => EdgeKind::Direct,
        ArcKind::Finish => EdgeKind::Finish,
        ArcKind::Error => EdgeKind::Error,
    }
}
