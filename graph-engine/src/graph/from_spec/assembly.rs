//! Nodes, edges, routers and clusters of a spec as the description of a graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::Level;
use crate::graph::builder::{Builder, ClusterDraft, Draft, RouterDraft, RouterMoves};
use crate::name::Name;
use crate::node::{IntoNode, NodeDefaults, NodeSpec, Policy};
use crate::spec::{
    ClusterEntry, GraphSpec, MistakeKind, Moves, PolicyContext, PolicyEntry, Problems, Refused, Registry, RouterChoice,
};
use crate::state::FieldSet;
use crate::state::dynamic::{DynState, Schema};
use crate::task::{NamedMoves, NamedNext, Outcome, PayloadType};

/// A node in the place of one that could not be made. The graph is never run, and nothing is said of it that the real
/// node could make untrue.
fn placeholder() -> NodeSpec<DynState> {
    (|| async { Outcome::<DynState>::default() }).into_node()
}

/// A description that is being put together. Its order is that of the spec, so that places can be found again.
pub(super) struct Assembly<'a> {
    pub(super) spec: &'a GraphSpec,
    pub(super) registry: &'a Registry,
    pub(super) schema: Arc<Schema>,
    pub(super) problems: Problems,
    pub(super) builder: Builder<DynState>,
}

impl Assembly<'_> {
    pub(super) fn assemble(mut self) -> (Builder<DynState>, Problems) {
        self.version_and_lints();
        self.defaults_and_input();
        self.nodes();
        self.edges_and_joins();
        self.routers();
        self.clusters();
        (self.builder, self.problems)
    }

    fn version_and_lints(&mut self) {
        let found = self.spec.version;
        if found != GraphSpec::VERSION {
            self.problems.add("/version", MistakeKind::Version { found, reads: GraphSpec::VERSION });
        }
        for (lint, level) in &self.spec.lints {
            if lint.is_fixed() && *level != Level::Error {
                self.problems.add(format!("/lints/{}", lint.code()), MistakeKind::FixedLint { code: lint.code() });
            }
        }
        self.builder.levels.clone_from(&self.spec.lints);
    }

    fn defaults_and_input(&mut self) {
        let spec = self.spec;
        let mut policy = Policy::default();
        self.policy(&PolicyEntry { cache: None, ..spec.defaults.clone() }, &mut policy, "/defaults".to_owned());
        if spec.defaults.cache.is_some() {
            self.problems.add("/defaults/cache", MistakeKind::DefaultCache);
        }
        self.builder.defaults = (!policy.is_none()).then(|| NodeDefaults::of(policy));
        self.builder.siblings = spec.siblings;
        if let Some(input) = &spec.input {
            let fields = self.fields("/input", input);
            self.builder.input.allow(fields);
        }
    }

    fn policy(&mut self, entry: &PolicyEntry, policy: &mut Policy<DynState>, at: String) {
        let (registry, schema) = (self.registry, &self.schema);
        entry.apply(policy, PolicyContext { registry, schema, problems: &mut self.problems, at });
    }

    fn nodes(&mut self) {
        for (index, entry) in self.spec.nodes.iter().enumerate() {
            let at = format!("/nodes/{index}");
            if self.problems.is_lost(&at) {
                continue;
            }
            let made = if self.problems.is_lost(&format!("{at}/use")) {
                None
            } else {
                let made = self.registry.make_node(&entry.use_, &entry.config, &self.schema);
                self.made(&at, "node kind", &entry.use_, made)
            };
            let is_made = made.is_some();
            let mut spec = made.unwrap_or_else(placeholder);
            if let Some(writes) = &entry.writes {
                spec.info.writes = Some(self.fields(&format!("{at}/writes"), writes));
            }
            spec.info.kind = entry.kind.unwrap_or(spec.info.kind);
            spec.deferred |= entry.deferred;
            if entry.moves != Moves::default() && is_made {
                // The file says more than the type of a node that may go anywhere.
                spec.info.dynamic = entry.moves.dynamic;
            }
            spec.info.stay |= entry.moves.stay;
            spec.info.direct |= entry.moves.direct;
            spec.info.finish |= entry.moves.finish;
            self.policy(&entry.policy, &mut spec.policy, format!("{at}/policy"));
            if !self.problems.is_lost(&format!("{at}/name")) {
                self.builder.nodes.push(Draft::new(entry.name.clone(), spec, None));
            }
        }
        self.named_targets();
    }

    /// The targets of nodes, after all nodes are known: a file doesn't say of which type a payload is, so it is the one
    /// that the receiver asks for.
    fn named_targets(&mut self) {
        let payloads = self.payloads();
        let mut drafts = self.builder.nodes.iter_mut();
        for (index, entry) in self.spec.nodes.iter().enumerate() {
            let at = format!("/nodes/{index}");
            if self.problems.is_lost(&at) || self.problems.is_lost(&format!("{at}/name")) {
                continue;
            }
            let Some(draft) = drafts.next() else { break };
            let (targets, sends) = declared(&self.problems, &at, &entry.moves, &payloads);
            if targets.is_empty() && sends.is_empty() {
                continue;
            }
            let info = &mut draft.rest.edit().info;
            let known: BTreeSet<&str> = info.targets.iter().map(|target| target.name).collect();
            let targets = targets.into_iter().filter(|name| !known.contains(name.as_str()));
            let sends = sends.into_iter().filter(|(name, _)| !known.contains(name.as_str()));
            info.named_targets.extend(targets);
            info.named_sends.extend(sends);
        }
    }

    fn payloads(&self) -> BTreeMap<Name, PayloadType> {
        let payload = |draft: &Draft<DynState>| Some((draft.name.clone(), draft.rest.info.payload?));
        self.builder.nodes.iter().filter_map(payload).collect()
    }

    fn edges_and_joins(&mut self) {
        for (index, entry) in self.spec.edges.iter().enumerate() {
            if !self.any_lost(&format!("/edges/{index}"), &["from", "to"]) {
                self.builder.edges.push((entry.from.clone(), entry.to.clone()));
            }
        }
        for (index, entry) in self.spec.joins.iter().enumerate() {
            let at = format!("/joins/{index}");
            let sources = 0..entry.from.len();
            let lost = sources.map(|source| format!("{at}/from/{source}")).any(|at| self.problems.is_lost(&at));
            if !lost && !self.any_lost(&at, &["from", "to"]) {
                self.builder.joins.push((entry.from.clone(), entry.to.clone()));
            }
        }
    }

    fn routers(&mut self) {
        let payloads = self.payloads();
        for (index, entry) in self.spec.routers.iter().enumerate() {
            let at = format!("/routers/{index}");
            if self.problems.is_lost(&at) {
                continue;
            }
            let made = if self.problems.is_lost(&format!("{at}/use")) {
                None
            } else {
                let made = self.registry.make_router(&entry.use_, &entry.config, &self.schema);
                self.made(&at, "router", &entry.use_, made)
            };
            let choose: RouterChoice = made.unwrap_or_else(|| Box::new(|_| Ok(NamedNext::end())));
            if entry.moves.dynamic {
                self.problems.add(format!("{at}/moves/dynamic"), MistakeKind::DynamicRouter);
            }
            let reads = self.fields(&format!("{at}/reads"), &entry.reads);
            let (targets, sends) = declared(&self.problems, &at, &entry.moves, &payloads);
            let Moves { stay, direct, finish, .. } = entry.moves;
            let named = NamedMoves { targets, sends, stay, direct, finish };
            if self.problems.is_lost(&format!("{at}/from")) {
                continue;
            }
            let checked = named.clone();
            self.builder.routers.push(RouterDraft {
                from: entry.from.clone(),
                moves: RouterMoves { named, reads, ..RouterMoves::default() },
                choose: Box::new(move |state| checked.check(choose(state)?)),
            });
        }
    }

    fn clusters(&mut self) {
        let spec = self.spec;
        let mut members = BTreeMap::new();
        self.clusters_in("/clusters", &spec.clusters, None, &mut members);
        for draft in &mut self.builder.nodes {
            draft.cluster = members.get(&draft.name).and_then(|(cluster, _)| *cluster);
        }
    }

    fn clusters_in<'s>(
        &mut self,
        list: &str,
        entries: &'s [ClusterEntry],
        parent: Option<usize>,
        members: &mut BTreeMap<&'s Name, (Option<usize>, &'s Name)>,
    ) {
        let no_name = self.problems.lost_a_name("/nodes");
        for (index, entry) in entries.iter().enumerate() {
            let at = format!("{list}/{index}");
            if self.problems.is_lost(&at) {
                continue;
            }
            let mut cluster = parent;
            if !self.any_lost(&at, &["name", "entry"]) {
                cluster = Some(self.builder.clusters.len());
                let (name, entry) = (entry.name.clone(), entry.entry.clone());
                self.builder.clusters.push(ClusterDraft { name, entry, parent });
            }
            for (place, member) in entry.members.iter().enumerate() {
                let at = format!("{at}/members/{place}");
                if self.problems.is_lost(&at) {
                    continue;
                }
                if !self.builder.nodes.iter().any(|draft| draft.name == *member) {
                    if !no_name {
                        let known = self.builder.nodes.iter().map(|draft| draft.name.to_string()).collect();
                        self.problems.add(at, MistakeKind::unknown("node", member, known));
                    }
                } else if let Some((_, first)) = members.get(member) {
                    let (node, first) = (member.clone(), (*first).clone());
                    self.problems.add(at, MistakeKind::TwoClusters { node, first });
                } else {
                    members.insert(member, (cluster, &entry.name));
                }
            }
            self.clusters_in(&format!("{at}/clusters"), &entry.clusters, cluster, members);
        }
    }

    fn any_lost(&self, at: &str, members: &[&str]) -> bool {
        self.problems.is_lost(at) || members.iter().any(|member| self.problems.is_lost(&format!("{at}/{member}")))
    }

    fn made<T>(&mut self, at: &str, what: &'static str, name: &Name, made: Result<T, Refused>) -> Option<T> {
        match made {
            Ok(made) => return Some(made),
            Err(Refused::Unknown(known)) => {
                self.problems.add(format!("{at}/use"), MistakeKind::unknown(what, name, known));
            }
            Err(Refused::Config(reason)) => {
                let name = name.to_string();
                self.problems.add(format!("{at}/config"), MistakeKind::BadConfig { name, reason });
            }
        }
        None
    }

    fn fields(&mut self, at: &str, names: &[Name]) -> FieldSet {
        let mut set = FieldSet::EMPTY;
        for (index, name) in names.iter().enumerate() {
            match self.schema.position(name) {
                Ok(field) => set.insert(FieldSet::of(field)),
                Err(_) => self.problems.add_unknown_field(format!("{at}/{index}"), name, &self.schema),
            }
        }
        set
    }
}

/// The readable targets of a node or router, and those of them that are sent payloads.
fn declared(
    problems: &Problems,
    at: &str,
    moves: &Moves,
    payloads: &BTreeMap<Name, PayloadType>,
) -> (Vec<Name>, Vec<(Name, PayloadType)>) {
    let readable = |member: &str, names: &[Name]| -> Vec<Name> {
        let names = names.iter().enumerate();
        let names = names.filter(|(index, _)| !problems.is_lost(&format!("{at}/moves/{member}/{index}")));
        names.map(|(_, name)| name.clone()).collect()
    };
    let payload = |name: Name| {
        let payload = payloads.get(&name).copied().unwrap_or(PayloadType::of::<Value>());
        (name, payload)
    };
    let sends = readable("sends", &moves.sends).into_iter().map(payload).collect();
    (readable("targets", &moves.targets), sends)
}
