//! Nodes that nothing leads to, joins that never fire, branches that end without saying so.

use super::{ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::name::{Name, quoted};
use crate::state::State;
use crate::task::{END, START};

impl Plan {
    /// For each vertex whether some path from START leads to it.
    pub(super) fn check_reach<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) -> Vec<bool> {
        let everything = || vec![true; self.end() + 1];
        if self.from(self.start()).is_empty() {
            let mut declared = self.lost.iter().map(|(from, _)| from).chain(builder.routers.iter().map(|r| &r.from));
            if declared.any(|from| from == START) {
                // It leads to an unknown node, which is reported.
                return everything();
            }
            let help = "add an edge or a route from START";
            found.push(Diagnostic::new::<&str>(Lint::NoEntry, [], "no node begins a turn").help(help));
            return everything();
        }
        let reached = self.reached_from(self.start());
        if self.traits.iter().zip(&reached).any(|(traits, reached)| *reached && traits.dynamic) {
            // It may go anywhere at run time.
            return everything();
        }
        for at in (0..self.names().len()).filter(|at| !reached[*at]) {
            let name = self.shown(at);
            let message = format!("no path from START leads to `{name}`");
            let help = "add an edge or route to it, or remove it";
            found.push(Diagnostic::new(Lint::Unreachable, [name], message).help(help));
        }
        self.check_joins(builder, &reached, found);
        for at in (0..self.names().len()).filter(|at| reached[*at]) {
            if self.from(at).iter().all(|arc| arc.kind == ArcKind::Error) {
                let name = self.shown(at);
                let message = format!("nothing leaves `{name}`, so its branch ends there");
                found.push(Diagnostic::new(Lint::ImplicitEnd, [name], message).help("add an edge to END to say so"));
            }
        }
        reached
    }

    fn reached_from(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.end() + 1];
        let mut open = vec![from];
        reached[from] = true;
        while let Some(at) = open.pop() {
            for arc in self.from(at) {
                if !std::mem::replace(&mut reached[arc.to as usize], true) {
                    open.push(arc.to as usize);
                }
            }
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

    fn check_joins<S: State>(&self, builder: &Builder<S>, reached: &[bool], found: &mut Vec<Diagnostic>) {
        for (from, to) in &builder.joins {
            if to != END && self.index.get(to).is_none() {
                continue;
            }
            let never = |name: &&Name| self.index.get(name).is_some_and(|source| !reached[source.at()]);
            let dead: Vec<Name> = from.iter().filter(never).cloned().collect();
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
