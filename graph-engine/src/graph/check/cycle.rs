//! Circles that nothing can leave.

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::{Arc, ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::name::{Name, Place, quoted};

impl Plan {
    /// A circle of static edges is left only by a command; without one it runs for ever.
    pub(super) fn check_cycles(&self, found: &mut Vec<Diagnostic>) {
        if !self.has_circle() {
            return;
        }
        let always: BTreeSet<(u32, u32)> = self.always().map(|arc| (arc.from, arc.to)).collect();
        let graph = DiGraph::<(), ()>::from_edges(&always);
        // Kosaraju's search has its own stack: a long chain must not use up that of the thread.
        for component in kosaraju_scc(&graph) {
            let component: Vec<usize> = component.into_iter().map(|at| at.index()).collect();
            let circle = component.len() > 1
                || component.iter().any(|at| always.contains(&(u32::from_index(*at), u32::from_index(*at))));
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

    /// The arcs that are always taken: their node can't leave them by a command.
    fn always(&self) -> impl Iterator<Item = &Arc> {
        let stays = |arc: &&Arc| !self.traits.get(arc.from as usize).is_some_and(|traits| traits.moves);
        self.arcs.iter().filter(|arc| matches!(arc.kind, ArcKind::Static | ArcKind::Join(_))).filter(stays)
    }

    /// Whether these arcs lead round somewhere: vertices to which none leads are taken away until none is left.
    fn has_circle(&self) -> bool {
        let mut leading = vec![0_u32; self.end() + 1];
        self.always().for_each(|arc| leading[arc.to as usize] += 1);
        let mut open: Vec<usize> = (0..leading.len()).filter(|at| leading[*at] == 0).collect();
        let mut left = leading.len();
        while let Some(at) = open.pop() {
            left -= 1;
            if self.traits.get(at).is_some_and(|traits| traits.moves) {
                continue;
            }
            for arc in self.from(at).iter().filter(|arc| matches!(arc.kind, ArcKind::Static | ArcKind::Join(_))) {
                let to = arc.to as usize;
                leading[to] -= 1;
                if leading[to] == 0 {
                    open.push(to);
                }
            }
        }
        left > 0
    }
}
