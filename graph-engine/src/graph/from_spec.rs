//! From data to a graph: names become registered nodes, routers and reducers, and every mistake is noted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::Graph;
use super::builder::{Builder, ClusterDraft, Draft, RouterDraft, RouterMoves};
use super::locate::Locator;
use crate::diagnostic::{Diagnostic, Level, Lint};
use crate::name::{Name, nearest};
use crate::node::{IntoNode, NodeDefaults, NodeSpec, Policy};
use crate::spec::{
    ClusterEntry, GraphSpec, MistakeKind, Moves, PolicyContext, PolicyEntry, Problems, Refused, Registry,
};
use crate::spec::{RouterChoice, SpecError, read};
use crate::state::dynamic::{DynState, DynUpdate, Schema, SchemaError, SchemaField};
use crate::state::{FieldSet, Merge};
use crate::task::{END, NamedMoves, NamedNext, Outcome, PayloadType, START};

impl Graph<DynState> {
    /// Reads a graph from JSON and builds it.
    ///
    /// # Errors
    /// [`SpecError`] with every mistake of the text, each with its line and column: what is wrong with its form, names
    /// that are not registered, configs that are refused, and what the check of the whole graph finds. What can't be
    /// told, because something else could not be read, is not guessed.
    ///
    /// ```
    /// use graph_engine::{Graph, Registry};
    ///
    /// let error = Graph::from_json(r#"{
    ///   "version": 1,
    ///   "name": "trip",
    ///   "nodes": [{ "name": "explore", "use": "say", "dferred": true }],
    ///   "edges": [{ "from": "__start__", "to": "explroe" }]
    /// }"#, &Registry::new()).unwrap_err();
    /// let places: Vec<_> = error.mistakes.iter().map(|mistake| mistake.pointer.as_str()).collect();
    /// assert_eq!(places, ["/nodes/0/use", "/nodes/0/dferred", "/edges/0/to"]);
    /// ```
    pub fn from_json(text: &str, registry: &Registry) -> Result<Self, SpecError> {
        let (spec, problems) = read(text)?;
        build(&spec, registry, problems).map_err(|error| error.located(text))
    }

    /// The fields of the state.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.inner().initial.schema()
    }

    /// An empty update: the input of a turn.
    pub fn update(&self) -> DynUpdate {
        self.schema().update()
    }
}

impl GraphSpec {
    /// Builds the graph. Its threads start from a state in which every field has its default.
    ///
    /// # Errors
    /// [`SpecError`] with every mistake; [`SpecError::located`] adds lines and columns of the text it was read from.
    pub fn build(&self, registry: &Registry) -> Result<Graph<DynState>, SpecError> {
        build(self, registry, Problems::default())
    }
}

fn build(spec: &GraphSpec, registry: &Registry, mut problems: Problems) -> Result<Graph<DynState>, SpecError> {
    let schema = schema(spec, registry, &mut problems);
    let mut builder = Builder::new(spec.name.clone(), DynState::new(schema.clone()));
    builder.made_of = Some(Arc::new(spec.clone()));
    let mut assembly = Assembly { spec, registry, schema, problems, builder };
    assembly.version_and_lints();
    assembly.defaults_and_input();
    assembly.nodes();
    assembly.edges_and_joins();
    assembly.routers();
    assembly.clusters();
    let Assembly { builder, mut problems, .. } = assembly;
    let compiled = builder.compile();
    if let Err(error) = &compiled {
        let mut locator = Locator::new(spec);
        for finding in error.errors().filter(|finding| can_be_told(finding, &problems)).collect::<Vec<_>>() {
            problems.add(locator.pointer(finding), MistakeKind::Finding(with_hint(finding, spec)));
        }
    }
    match compiled {
        Ok(graph) if problems.is_empty() => Ok(graph),
        _ => Err(problems.into_error(spec)),
    }
}

/// Whether a finding is one of the whole file, and not of what is left when unreadable parts are taken out.
fn can_be_told(finding: &Diagnostic, problems: &Problems) -> bool {
    let nodes = problems.lost_a_name("/nodes");
    let ways = ["/edges", "/joins", "/routers", "/clusters"];
    let ways = nodes || problems.lost_any(|at| ways.iter().any(|way| at.starts_with(way)) || at.contains("/moves"));
    match finding.lint {
        Lint::UnknownTarget | Lint::BadCluster => !nodes,
        Lint::NoEntry | Lint::Unreachable | Lint::DeadJoin | Lint::UnconditionalCycle => !ways,
        _ => true,
    }
}

/// An unknown name is often one that was written wrong.
fn with_hint(finding: &Diagnostic, spec: &GraphSpec) -> Diagnostic {
    let mut finding = finding.clone();
    let Some(name) = finding.nodes.last().filter(|_| finding.lint == Lint::UnknownTarget) else { return finding };
    let meant = match name.to_lowercase().as_str() {
        "start" => Some(START),
        "end" => Some(END),
        _ => nearest(name, spec.nodes.iter().map(|node| node.name.as_str())),
    };
    if let Some(meant) = meant {
        let known = finding.help.take().map(|help| format!("; {help}")).unwrap_or_default();
        finding.help = Some(format!("did you mean `{meant}`{known}"));
    }
    finding
}

fn schema(spec: &GraphSpec, registry: &Registry, problems: &mut Problems) -> Arc<Schema> {
    let (mut fields, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, entry) in spec.fields.iter().enumerate() {
        let at = format!("/fields/{index}");
        let lost = |member: &str| problems.is_lost(&format!("{at}/{member}"));
        if problems.is_lost(&at) {
            continue;
        }
        let (no_name, no_merge, no_reducer) = (lost("name"), lost("merge"), lost("reducer"));
        let is_twice = !no_name && !seen.insert(&entry.name);
        if is_twice {
            let duplicate = SchemaError::Duplicate { field: entry.name.to_string() };
            problems.add(format!("{at}/name"), duplicate.into());
        }
        let bare = SchemaField::new(if no_name { "?" } else { entry.name.as_str() }).merge(entry.merge);
        let mut field = bare.clone().typed(entry.r#type);
        match (entry.merge, &entry.reducer) {
            (Merge::With, Some(name)) => match registry.find_reducer(name) {
                Some(reduce) => field = field.reduced_by(name.to_string(), reduce),
                None => {
                    let unknown = MistakeKind::unknown("reducer", name, registry.reducer_names());
                    problems.add(format!("{at}/reducer"), unknown);
                }
            },
            (Merge::With, None) if !no_reducer => {
                problems.add(at.clone(), MistakeKind::NoReducer { known: registry.reducer_names() });
            }
            (merge, Some(_)) if !no_merge => {
                problems.add(format!("{at}/reducer"), MistakeKind::NotReduced { merge: merge.word() });
            }
            _ => {}
        }
        field = field.default_value(entry.default.clone());
        if entry.transient {
            field = field.transient();
        }
        let checked = field.check();
        let mut is_named = !no_name && !is_twice;
        if let Err(wrong) = checked {
            let no_name = wrong == SchemaError::NoName;
            is_named &= !no_name;
            problems.add(format!("{at}/{}", if no_name { "name" } else { "default" }), wrong.into());
            // Its name is known all the same, so that nothing that uses it is wrong too.
            field = bare;
        }
        fields.extend(is_named.then_some(field));
    }
    Schema::new(fields).unwrap_or_else(|error| {
        problems.add("/fields", error.into());
        Arc::default()
    })
}

/// A node in the place of one that could not be made. The graph is never run, and nothing is said of it that the real
/// node could make untrue.
fn placeholder() -> NodeSpec<DynState> {
    (|| async { Outcome::<DynState>::default() }).into_node()
}

struct Assembly<'a> {
    spec: &'a GraphSpec,
    registry: &'a Registry,
    schema: Arc<Schema>,
    problems: Problems,
    builder: Builder<DynState>,
}

impl Assembly<'_> {
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
        self.builder.defaults = NodeDefaults::of(policy);
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
                self.builder.nodes.push(Draft { name: entry.name.clone(), spec, cluster: None });
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
            let info = &mut draft.spec.info;
            let (targets, sends) = declared(&self.problems, &at, &entry.moves, &payloads);
            let known: BTreeSet<&str> = info.targets.iter().map(|target| target.name).collect();
            let targets = targets.into_iter().filter(|name| !known.contains(name.as_str()));
            let sends = sends.into_iter().filter(|(name, _)| !known.contains(name.as_str()));
            info.named_targets.extend(targets);
            info.named_sends.extend(sends);
        }
    }

    fn payloads(&self) -> BTreeMap<Name, PayloadType> {
        let payload = |draft: &Draft<DynState>| Some((draft.name.clone(), draft.spec.info.payload?));
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
