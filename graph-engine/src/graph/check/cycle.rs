//! Circles that nothing can leave.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::{ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::name::{Name, quoted};
use crate::state::State;
use crate::task::NodeInfo;

impl Plan {
    /// A circle of static edges is left only by a command; without one it runs for ever.
    pub(super) fn check_cycles<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        let mut always = DiGraphMap::<usize, ()>::new();
        for arc in &self.arcs {
            let leaves = self.info(builder, arc.from).is_some_and(NodeInfo::has_moves);
            if matches!(arc.kind, ArcKind::Static | ArcKind::Join(_)) && !leaves {
                always.add_edge(arc.from, arc.to, ());
            }
        }
        for component in tarjan_scc(&always) {
            let circle = component.len() > 1 || component.first().is_some_and(|at| always.contains_edge(*at, *at));
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
