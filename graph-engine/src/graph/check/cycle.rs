//! Circles that nothing can leave.

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::{ArcKind, Plan, index};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::name::{Name, quoted};
use crate::state::State;
use crate::task::NodeInfo;

impl Plan {
    /// A circle of static edges is left only by a command; without one it runs for ever.
    pub(super) fn check_cycles<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        let always = self.arcs.iter().filter(|arc| {
            let leaves = self.info(builder, arc.from).is_some_and(NodeInfo::has_moves);
            matches!(arc.kind, ArcKind::Static | ArcKind::Join(_)) && !leaves
        });
        let always: BTreeSet<(u32, u32)> = always.map(|arc| (index(arc.from), index(arc.to))).collect();
        let graph = DiGraph::<(), ()>::from_edges(&always);
        // Kosaraju's search has its own stack: a long chain must not use up that of the thread.
        for component in kosaraju_scc(&graph) {
            let component: Vec<usize> = component.into_iter().map(|at| at.index()).collect();
            let circle = component.len() > 1 || component.iter().any(|at| always.contains(&(index(*at), index(*at))));
            if circle {
                let mut nodes: Vec<Name> = component.iter().map(|at| self.shown(*at)).collect();
                nodes.sort();
                let names = quoted(nodes.iter().map(AsRef::as_ref));
                let message = format!("edges that are always taken lead round in a circle: {names}");
                let help = "replace one of the edges by a route that can leave the circle";
                found.push(Diagnostic::new(Lint::UnconditionalCycle, nodes, message).help(help));
            }
        }
    }
}
