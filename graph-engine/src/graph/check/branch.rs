//! What parallel branches of one fork may do to each other: write one field, meet unevenly, both reply.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::graph::compile::single_writer_fields;
use crate::name::Name;
use crate::state::{FieldSet, State};
use crate::task::NodeInfo;

/// What every node says of itself, by index.
type Infos<'a> = Vec<&'a NodeInfo>;

/// How many super-steps after the fork a node runs: every distance by static edges alone, shorter than the graph has
/// nodes.
type Distances = BTreeMap<usize, BTreeSet<usize>>;

impl Plan {
    pub(super) fn check_branches<S: State>(
        &self,
        builder: &Builder<S>,
        reachable: &[bool],
        found: &mut Vec<Diagnostic>,
    ) {
        let forks: Vec<usize> = (0..=self.start()).filter(|at| reachable[*at] && self.forks(*at)).collect();
        if forks.is_empty() && self.arcs.iter().all(|arc| arc.kind != ArcKind::Send) {
            return;
        }
        let infos: Infos<'_> = (0..self.names().len()).filter_map(|at| self.info(builder, at)).collect();
        let single = single_writer_fields(&builder.initial);
        let writes = |at: usize| infos.get(at).and_then(|info| info.writes).unwrap_or_default().and(single);
        let fields = |set: FieldSet| {
            let names: Vec<String> =
                set.iter().map(|index| format!("`{}`", builder.initial.fields()[index].name)).collect();
            names.join(", ")
        };
        for fork in forks {
            let branches: Vec<usize> = self.after(fork).collect();
            let distances = self.distances(&branches, &infos);
            self.check_writers(fork, &distances, &writes, &fields, found);
            self.check_fan_in(fork, &distances, found);
            self.check_replies(fork, &branches, &distances, &infos, found);
        }
        for arc in self.arcs.iter().filter(|arc| arc.kind == ArcKind::Send) {
            let both = writes(arc.to as usize);
            if !both.is_empty() {
                let name = self.shown(arc.to as usize);
                let message = format!("several tasks of `{name}` may write {} in one super-step", fields(both));
                let help = "give the field a merge rule such as `#[state(append)]`";
                found.push(Diagnostic::new(Lint::OverlappingWriters, [name], message).help(help));
            }
        }
    }

    /// The nodes to which static edges lead.
    fn after(&self, at: usize) -> impl Iterator<Item = usize> {
        self.edges(at).filter(|to| *to < self.start())
    }

    fn forks(&self, at: usize) -> bool {
        self.from(at).len() > 1 && self.after(at).nth(1).is_some()
    }

    fn distances(&self, branches: &[usize], infos: &Infos<'_>) -> Distances {
        let mut distances = Distances::new();
        let mut layer: BTreeSet<usize> = branches.iter().copied().collect();
        for distance in 1..=self.names().len() {
            let mut next = BTreeSet::new();
            for at in &layer {
                distances.entry(*at).or_default().insert(distance);
                // A node that may command otherwise doesn't lead on unconditionally.
                if !infos.get(*at).is_some_and(|info| info.has_moves()) {
                    next.extend(self.after(*at));
                }
            }
            if next.is_empty() {
                break;
            }
            layer = next;
        }
        distances
    }

    fn check_writers(
        &self,
        fork: usize,
        distances: &Distances,
        writes: &impl Fn(usize) -> FieldSet,
        fields: &impl Fn(FieldSet) -> String,
        found: &mut Vec<Diagnostic>,
    ) {
        let writers: Vec<_> = distances.iter().filter(|(at, _)| !writes(**at).is_empty()).collect();
        for (i, (one, one_at)) in writers.iter().enumerate() {
            for (other, other_at) in &writers[i + 1..] {
                let both = writes(**one).and(writes(**other));
                if both.is_empty() {
                    continue;
                }
                let names: [Name; 2] = [self.shown(**one), self.shown(**other)];
                let start = self.shown(fork);
                let at_once = one_at.intersection(other_at).next().is_some();
                let (lint, when) = if at_once {
                    (Lint::WriteConflict, "in the same super-step")
                } else {
                    (Lint::OverlappingWriters, "in parallel branches")
                };
                // One after the other in one branch is no overlap.
                if !at_once && (self.follows(**one, **other) || self.follows(**other, **one)) {
                    continue;
                }
                let message = format!(
                    "`{}` and `{}` both start after `{start}` and write {} {when}",
                    names[0],
                    names[1],
                    fields(both)
                );
                let help = "let one of them write it, give the field a merge rule, or put one after the other";
                found.push(Diagnostic::new(lint, names, message).help(help));
            }
        }
    }

    /// Whether static edges lead from one node to another.
    fn follows(&self, from: usize, to: usize) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for arc in self.from(at).iter().filter(|arc| matches!(arc.kind, ArcKind::Static | ArcKind::Join(_))) {
                let next = arc.to as usize;
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    fn check_fan_in(&self, fork: usize, distances: &Distances, found: &mut Vec<Diagnostic>) {
        for (at, steps) in distances.iter().filter(|(_, steps)| steps.len() > 1) {
            let circle = self.follows(*at, *at);
            if circle {
                continue;
            }
            let (name, start) = (self.shown(*at), self.shown(fork));
            let message = format!(
                "branches from `{start}` reach `{name}` after {} super-steps, so it runs {} times",
                steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
                steps.len()
            );
            let help = "use `join` to wait for all branches";
            found.push(Diagnostic::new(Lint::UnevenFanIn, [name, start], message).help(help));
        }
    }

    fn check_replies(
        &self,
        fork: usize,
        branches: &[usize],
        distances: &Distances,
        infos: &Infos<'_>,
        found: &mut Vec<Diagnostic>,
    ) {
        let replies: Vec<usize> = distances
            .keys()
            .filter(|at| infos.get(**at).is_some_and(|info| info.direct || info.finish))
            .copied()
            .collect();
        for (i, one) in replies.iter().enumerate() {
            for other in &replies[i + 1..] {
                let of = |at: usize| -> BTreeSet<usize> {
                    branches.iter().filter(|branch| **branch == at || self.follows(**branch, at)).copied().collect()
                };
                if of(*one).is_disjoint(&of(*other)) {
                    let names = [self.shown(*one), self.shown(*other)];
                    let message = format!(
                        "`{}` and `{}` are in different branches from `{}` and can both reply",
                        names[0],
                        names[1],
                        self.shown(fork)
                    );
                    let help = "the caller gets both, ordered by step and task; reply in one of them";
                    found.push(Diagnostic::new(Lint::TwoReplies, names, message).help(help));
                }
            }
        }
    }
}
