//! Where in a file a finding of `compile()` belongs.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Lint};
use crate::name::Name;
use crate::spec::{ClusterEntry, GraphSpec, Moves};
use crate::state::FieldSet;
use crate::task::{END, START};

/// Finds places for findings. Two findings of one kind get two places, if there are two.
pub(super) struct Locator<'a> {
    spec: &'a GraphSpec,
    /// All clusters with their pointers, outer ones first.
    clusters: Vec<(String, &'a ClusterEntry)>,
    used: BTreeSet<(Lint, String)>,
}

impl<'a> Locator<'a> {
    pub(super) fn new(spec: &'a GraphSpec) -> Self {
        let mut clusters = Vec::new();
        collect(&spec.clusters, "/clusters", &mut clusters);
        Self { spec, clusters, used: BTreeSet::new() }
    }

    /// The pointer of what the finding is about. The whole file, if it is about nothing smaller.
    pub(super) fn pointer(&mut self, finding: &Diagnostic) -> String {
        let candidates = self.candidates(finding);
        let fresh = candidates.iter().find(|at| !self.used.contains(&(finding.lint, (*at).clone())));
        let pointer = fresh.or(candidates.first()).cloned().unwrap_or_default();
        self.used.insert((finding.lint, pointer.clone()));
        pointer
    }

    fn candidates(&self, finding: &Diagnostic) -> Vec<String> {
        let names: Vec<&str> = finding.nodes.iter().map(|name| self.raw(name)).collect();
        let first = names.first().copied().unwrap_or_default();
        let last = names.last().copied().unwrap_or_default();
        let found = match finding.lint {
            Lint::DuplicateName => {
                let nodes = self.nodes(first).skip(1).map(|at| format!("{at}/name"));
                nodes.chain(self.clusters_named(first).skip(1).map(|at| format!("{at}/name"))).collect()
            }
            Lint::ReservedName => {
                let nodes = self.nodes(first).map(|at| format!("{at}/name"));
                nodes.chain(self.clusters_named(first).map(|at| format!("{at}/name"))).collect()
            }
            Lint::UnknownTarget if names.len() == 2 && first == last => self.beginnings(first),
            Lint::UnknownTarget | Lint::PayloadMismatch => self.ways(first, last),
            Lint::BadCluster => self.clusters_named(first).map(|at| format!("{at}/entry")).collect(),
            Lint::NoEntry => vec!["/edges".to_owned()],
            Lint::TooManyFields => vec![format!("/fields/{}", FieldSet::MAX_FIELDS)],
            Lint::UnconditionalCycle => self.within(&names),
            Lint::ConflictingRoutes => self.routers_of(first),
            Lint::DuplicateEdge => self.repeated(first, last),
            Lint::DeadJoin => self.joins_of(first),
            Lint::BadErrorRoute => self.error_routes(first),
            Lint::TransientRoute => self.routers_of(first).into_iter().map(|at| format!("{at}/reads")).collect(),
            _ => Vec::new(),
        };
        if !found.is_empty() {
            return found;
        }
        names.iter().flat_map(|name| self.nodes(name)).collect()
    }

    /// START and END as files write them; findings have other names for them.
    fn raw<'n>(&self, name: &'n Name) -> &'n str {
        match name.as_str() {
            "START" if self.nodes("START").next().is_none() => START,
            "END" if self.nodes("END").next().is_none() => END,
            other => other,
        }
    }

    fn nodes<'s>(&'s self, name: &'s str) -> impl Iterator<Item = String> + 's {
        let nodes = self.spec.nodes.iter().enumerate().filter(move |(_, node)| node.name == name);
        nodes.map(|(index, _)| format!("/nodes/{index}"))
    }

    fn clusters_named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = String> + 's {
        self.clusters.iter().filter(move |(_, cluster)| cluster.name == name).map(|(at, _)| at.clone())
    }

    /// Where something begins at a name.
    fn beginnings(&self, name: &str) -> Vec<String> {
        let edges = self.spec.edges.iter().enumerate().filter(|(_, edge)| edge.from == name);
        let mut found: Vec<String> = edges.map(|(index, _)| format!("/edges/{index}/from")).collect();
        for (index, join) in self.spec.joins.iter().enumerate() {
            let sources = join.from.iter().enumerate().filter(|(_, from)| **from == name);
            found.extend(sources.map(|(source, _)| format!("/joins/{index}/from/{source}")));
        }
        found.extend(self.routers_of(name).into_iter().map(|at| format!("{at}/from")));
        found
    }

    /// Where something leads from one name to another.
    fn ways(&self, from: &str, to: &str) -> Vec<String> {
        let edges = self.spec.edges.iter().enumerate().filter(|(_, edge)| edge.from == from && edge.to == to);
        let mut found: Vec<String> = edges.map(|(index, _)| format!("/edges/{index}/to")).collect();
        let joins = self.spec.joins.iter().enumerate();
        let joins = joins.filter(|(_, join)| join.to == to && join.from.iter().any(|name| name == from));
        found.extend(joins.map(|(index, _)| format!("/joins/{index}/to")));
        for (index, router) in self.spec.routers.iter().enumerate().filter(|(_, router)| router.from == from) {
            moves(&router.moves, to, &format!("/routers/{index}"), &mut found);
        }
        for (index, node) in self.spec.nodes.iter().enumerate().filter(|(_, node)| node.name == from) {
            let at = format!("/nodes/{index}");
            moves(&node.moves, to, &at, &mut found);
            found.extend(
                node.policy.on_error.iter().filter(|name| **name == to).map(|_| format!("{at}/policy/on_error")),
            );
        }
        let entries = self.clusters.iter().filter(|(_, cluster)| cluster.name == from && cluster.entry == to);
        found.extend(entries.map(|(at, _)| format!("{at}/entry")));
        // One error route of all nodes.
        found.extend(
            self.spec.defaults.on_error.iter().filter(|name| **name == to).map(|_| "/defaults/on_error".into()),
        );
        found
    }

    /// Edges and joins between these nodes.
    fn within(&self, names: &[&str]) -> Vec<String> {
        let inside = |name: &Name| names.contains(&name.as_str());
        let edges = self.spec.edges.iter().enumerate().filter(|(_, edge)| inside(&edge.from) && inside(&edge.to));
        let mut found: Vec<String> = edges.map(|(index, _)| format!("/edges/{index}")).collect();
        let joins = self.spec.joins.iter().enumerate();
        let joins = joins.filter(|(_, join)| inside(&join.to) && join.from.iter().any(inside));
        found.extend(joins.map(|(index, _)| format!("/joins/{index}")));
        found
    }

    /// Routers of a node; the ones after the first come first.
    fn routers_of(&self, from: &str) -> Vec<String> {
        let routers = self.spec.routers.iter().enumerate().filter(|(_, router)| router.from == from);
        let mut found: Vec<String> = routers.map(|(index, _)| format!("/routers/{index}")).collect();
        if found.len() > 1 {
            found.rotate_left(1);
        }
        found
    }

    /// What is there twice: an edge, a source of a join, a join.
    fn repeated(&self, first: &str, last: &str) -> Vec<String> {
        let edges = self.spec.edges.iter().enumerate().filter(|(_, edge)| edge.from == first && edge.to == last);
        let mut found: Vec<String> = edges.skip(1).map(|(index, _)| format!("/edges/{index}")).collect();
        let joins = || self.spec.joins.iter().enumerate().filter(|(_, join)| join.to == last);
        for (index, join) in joins() {
            let sources = join.from.iter().enumerate().filter(|(_, name)| **name == first);
            found.extend(sources.skip(1).map(|(source, _)| format!("/joins/{index}/from/{source}")));
        }
        found.extend(joins().skip(1).map(|(index, _)| format!("/joins/{index}")));
        found
    }

    /// The error route of a node, or of all nodes.
    fn error_routes(&self, node: &str) -> Vec<String> {
        let nodes = self.spec.nodes.iter().enumerate();
        let own = nodes.filter(|(_, entry)| entry.name == node && entry.policy.on_error.is_some());
        let own = own.map(|(index, _)| format!("/nodes/{index}/policy/on_error"));
        own.chain(self.spec.defaults.on_error.iter().map(|_| "/defaults/on_error".to_owned())).collect()
    }

    /// The joins that lead to a node, or wait for it.
    fn joins_of(&self, name: &str) -> Vec<String> {
        let joins = self.spec.joins.iter().enumerate();
        let joins = joins.filter(|(_, join)| join.to == name || join.from.iter().any(|from| from == name));
        joins.map(|(index, _)| format!("/joins/{index}")).collect()
    }
}

fn collect<'a>(entries: &'a [ClusterEntry], list: &str, found: &mut Vec<(String, &'a ClusterEntry)>) {
    for (index, entry) in entries.iter().enumerate() {
        let at = format!("{list}/{index}");
        found.push((at.clone(), entry));
        collect(&entry.clusters, &format!("{at}/clusters"), found);
    }
}

fn moves(moves: &Moves, to: &str, at: &str, found: &mut Vec<String>) {
    for (member, names) in [("targets", &moves.targets), ("sends", &moves.sends)] {
        let names = names.iter().enumerate().filter(|(_, name)| **name == to);
        found.extend(names.map(|(index, _)| format!("{at}/moves/{member}/{index}")));
    }
}
