//! Nodes that nothing leads to, joins that never fire, branches that end without saying so.

use std::collections::BTreeSet;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use super::{ArcKind, Plan, index};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::name::{Name, quoted};
use crate::state::State;
use crate::task::START;

impl Plan {
    /// The vertices that some path from START leads to.
    pub(super) fn check_reach<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) -> BTreeSet<usize> {
        let everything: BTreeSet<usize> = (0..self.names.len()).collect();
        if !self.arcs.iter().any(|arc| arc.from == self.start()) {
            let declared = builder.edges.iter().map(|(from, _)| from).chain(builder.routers.iter().map(|r| &r.from));
            if declared.into_iter().any(|from| from == START) {
                // It leads to an unknown node, which is reported.
                return everything;
            }
            let help = "add an edge or a route from START";
            found.push(Diagnostic::new::<&str>(Lint::NoEntry, [], "no node begins a turn").help(help));
            return everything;
        }
        let reached = self.reached_from(self.start());
        let dynamic = |at: &usize| self.info(builder, *at).is_some_and(|info| info.dynamic);
        if reached.iter().any(dynamic) {
            // It may go anywhere at run time.
            return everything;
        }
        for at in everything.difference(&reached) {
            let name = self.shown(*at);
            let message = format!("no path from START leads to `{name}`");
            let help = "add an edge or route to it, or remove it";
            found.push(Diagnostic::new(Lint::Unreachable, [name], message).help(help));
        }
        self.check_joins(builder, &reached, found);
        let left: BTreeSet<usize> =
            self.arcs.iter().filter(|arc| arc.kind != ArcKind::Error).map(|arc| arc.from).collect();
        for at in everything.intersection(&reached) {
            if !left.contains(at) {
                let name = self.shown(*at);
                let message = format!("nothing leaves `{name}`, so its branch ends there");
                found.push(Diagnostic::new(Lint::ImplicitEnd, [name], message).help("add an edge to END to say so"));
            }
        }
        reached
    }

    fn reached_from(&self, from: usize) -> BTreeSet<usize> {
        let edges = self.arcs.iter().map(|arc| (index(arc.from), index(arc.to)));
        let mut graph = DiGraph::<(), ()>::from_edges(edges);
        while graph.node_count() <= self.end() {
            graph.add_node(());
        }
        let mut search = Dfs::new(&graph, NodeIndex::new(from));
        let mut reached = BTreeSet::new();
        while let Some(at) = search.next(&graph) {
            reached.insert(at.index());
        }
        reached
    }

    pub(super) fn check_join_sources<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        for (from, to) in &builder.joins {
            if from.is_empty() {
                let message = format!("the join to `{to}` has no source");
                found.push(Diagnostic::new(Lint::DeadJoin, [to], message).help(JOIN_HELP));
            }
            if from.iter().any(|source| source == START) {
                let message = format!("the join to `{to}` waits for START, which is no node and never finishes");
                found.push(Diagnostic::new(Lint::DeadJoin, [to], message).help(JOIN_HELP));
            }
        }
    }

    fn check_joins<S: State>(&self, builder: &Builder<S>, reached: &BTreeSet<usize>, found: &mut Vec<Diagnostic>) {
        let mut dead_sources: Vec<Vec<Name>> = vec![Vec::new(); builder.joins.len()];
        for arc in &self.arcs {
            if let ArcKind::Join(join) = arc.kind
                && !reached.contains(&arc.from)
            {
                dead_sources[join].push(self.shown(arc.from));
            }
        }
        for ((_, to), dead) in builder.joins.iter().zip(dead_sources) {
            if !dead.is_empty() {
                let names = quoted(dead.iter().map(AsRef::as_ref));
                let message = format!(
                    "the join to `{to}` never fires, because it waits for {names}, which never {}",
                    if dead.len() == 1 { "runs" } else { "run" }
                );
                found.push(Diagnostic::new(Lint::DeadJoin, dead, message).help(JOIN_HELP));
            }
        }
    }
}

const JOIN_HELP: &str = "a join needs sources that run and finish by their declared edges";
