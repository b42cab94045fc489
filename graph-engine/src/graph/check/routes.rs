//! One way of leaving each node: static edges or one router, none of them twice.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::graph::compile::transient_fields;
use crate::name::Name;
use crate::state::State;
use crate::task::{END, START};

/// A name for people.
fn shown(name: &str) -> &str {
    match name {
        START => "START",
        END => "END",
        other => other,
    }
}

impl Plan {
    pub(super) fn check_error_routes(&self, found: &mut Vec<Diagnostic>) {
        for arc in self.arcs.iter().filter(|arc| arc.kind == ArcKind::Error) {
            let name = self.shown(arc.from as usize);
            let message = if arc.to == arc.from {
                format!("the error route of `{name}` leads back to `{name}`")
            } else if arc.to as usize == self.end() {
                format!("the error route of `{name}` leads to END, where nobody would learn of the failure")
            } else {
                continue;
            };
            let help = "lead it to another node, which takes the failure as `In<FailedTask>`";
            found.push(Diagnostic::new(Lint::BadErrorRoute, [name], message).help(help));
        }
    }

    pub(super) fn check_routes<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        if self.may_conflict(builder) {
            self.check_conflicts(builder, found);
        }
        self.check_repeats(found);
        for (from, to) in &builder.joins {
            let mut sources: Vec<_> = from.iter().collect();
            sources.sort();
            if let Some(pair) = sources.windows(2).find(|pair| pair[0] == pair[1]) {
                let message = format!("the join to `{to}` names `{}` twice", pair[0]);
                found.push(Diagnostic::new(Lint::DuplicateEdge, [pair[0], to], message).help("name each source once"));
            }
        }
        let mut joins: Vec<(Vec<&Name>, &Name)> =
            builder.joins.iter().map(|(from, to)| (from.iter().collect(), to)).collect();
        joins.iter_mut().for_each(|(from, _)| from.sort());
        joins.sort();
        for pair in joins.windows(2).filter(|pair| pair[0] == pair[1]) {
            let message = format!("the join to `{}` is declared twice", pair[0].1);
            found.push(Diagnostic::new(Lint::DuplicateEdge, [pair[0].1], message).help("remove one of them"));
        }
        if builder.routers.iter().any(|router| router.from == START && router.moves.all().stay) {
            let message = "the router of START can stay, but there is nothing to stay in";
            let help = "remove `stay` from its route";
            found.push(Diagnostic::new(Lint::ConflictingRoutes, [START], message).help(help));
        }
        let (fields, transient) = (builder.initial.fields(), transient_fields(&builder.initial));
        for router in &builder.routers {
            for field in router.moves.reads.and(transient).iter() {
                let name = &fields[field].name;
                let message = format!("the router of `{}` reads the transient field `{name}`", router.from);
                let help = "after a resume or a crash the field has its default; store what decides a route";
                found.push(Diagnostic::new(Lint::TransientRoute, [&router.from], message).help(help));
            }
        }
    }

    /// Whether two of the things that lead on from a node may exclude each other: then it is worth to look by name.
    fn may_conflict<S: State>(&self, builder: &Builder<S>) -> bool {
        let mut routed = vec![false; if builder.routers.is_empty() { 0 } else { self.end() }];
        builder.routers.iter().any(|router| match self.source(&router.from).vertex {
            None => true,
            Some(at) => {
                let at = at as usize;
                let declared = |kind: ArcKind| matches!(kind, ArcKind::Static | ArcKind::Join(_));
                std::mem::replace(&mut routed[at], true)
                    || !self.unknown.is_empty()
                    || self.from(at).iter().any(|arc| declared(arc.kind))
            }
        })
    }

    fn check_conflicts<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        let mut routers: BTreeMap<&Name, usize> = BTreeMap::new();
        for router in &builder.routers {
            *routers.entry(&router.from).or_default() += 1;
        }
        let with_joins: BTreeSet<&Name> = builder.joins.iter().flat_map(|(sources, _)| sources).collect();
        for (from, count) in &routers {
            if *count > 1 {
                let message = format!("`{}` has {count} routers", shown(from));
                let help = "keep one router, which may go to several targets";
                found.push(Diagnostic::new(Lint::ConflictingRoutes, [*from], message).help(help));
            }
            let known = self.vertex(from).is_some_and(|vertex| self.edges(vertex).next().is_some());
            let edges = known || self.lost.iter().any(|(lost, _)| lost == *from);
            if edges || with_joins.contains(from) {
                let message =
                    format!("`{}` has a router and {}", shown(from), if edges { "static edges" } else { "a join" });
                let help = "a node has either static edges and joins, or one router";
                found.push(Diagnostic::new(Lint::ConflictingRoutes, [*from], message).help(help));
            }
        }
    }

    fn check_repeats(&self, found: &mut Vec<Diagnostic>) {
        let mut twice = |from: &Name, to: &Name| {
            let message = format!("the edge from `{}` to `{}` is declared twice", shown(from), shown(to));
            found.push(Diagnostic::new(Lint::DuplicateEdge, [from, to], message).help("remove one of them"));
        };
        let mut lost: Vec<_> = self.lost.iter().collect();
        lost.sort();
        lost.windows(2).filter(|pair| pair[0] == pair[1]).for_each(|pair| twice(&pair[0].0, &pair[0].1));
        let mut last = vec![u32::MAX; self.end() + 1];
        for arc in self.arcs.iter().filter(|arc| arc.kind == ArcKind::Static) {
            if std::mem::replace(&mut last[arc.to as usize], arc.from) == arc.from {
                twice(&self.name(arc.from as usize), &self.name(arc.to as usize));
            }
        }
    }
}
