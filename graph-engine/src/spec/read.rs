//! From a text to a `GraphSpec`, with every mistake of its form.

use serde_json::Value;

use super::mistake::{MistakeKind, SpecError, TextPlace};
use super::model::{ClusterEntry, EdgeEntry, FieldEntry, GraphSpec, JoinEntry, Moves, NodeEntry, RouterEntry};
use super::places::{Places, escaped};
use super::policy::PolicyEntry;
use super::walk::{Leaf, Object, Problems};
use crate::diagnostic::{Level, Lint};
use crate::name::Name;
use crate::state::Merge;

impl GraphSpec {
    /// Reads a graph. Names of nodes, reducers and routers are not looked up yet.
    ///
    /// ```
    /// use graph_engine::GraphSpec;
    ///
    /// let spec = GraphSpec::from_json(r#"{"version": 1, "name": "trip", "nodes": [{"name": "a", "use": "say"}]}"#)?;
    /// assert_eq!(spec.nodes[0].use_, "say");
    /// # Ok::<(), graph_engine::SpecError>(())
    /// ```
    ///
    /// # Errors
    /// [`SpecError`] with every mistake of the form: unknown, missing and repeated members, wrong types and words. A text
    /// that is no JSON has this one mistake.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let (spec, problems) = read(text)?;
        if problems.is_empty() { Ok(spec) } else { Err(problems.into_error(&spec).located(text)) }
    }
}

impl Problems {
    pub(crate) fn into_error(self, spec: &GraphSpec) -> SpecError {
        let graph = (!self.is_lost("/name") && !self.is_lost("")).then(|| spec.name.clone());
        SpecError { graph, mistakes: self.into_mistakes() }
    }
}

/// What could be read of a text, and what was wrong. A text that is no JSON object at all is an error.
pub(crate) fn read(text: &str) -> Result<(GraphSpec, Problems), SpecError> {
    let mut problems = Problems::default();
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let full = error.to_string();
            let reason = full.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&full).to_owned();
            let place = TextPlace::new(line, characters(text, line, column));
            problems.add_at(String::new(), Some(place), MistakeKind::Syntax { reason });
            return Err(SpecError { graph: None, mistakes: problems.into_mistakes() });
        }
    };
    for (pointer, member, place) in Places::of(text).duplicates() {
        let kind = MistakeKind::DuplicateMember { member: member.to_owned() };
        problems.add_at(pointer.to_owned(), Some(place), kind);
    }
    let mut spec = GraphSpec::new("");
    const MEMBERS: &[&str] = &[
        "version", "name", "fields", "nodes", "edges", "joins", "routers", "clusters", "defaults", "siblings", "input",
        "lints",
    ];
    if let Some(mut root) = Object::open(&value, String::new(), MEMBERS, &mut problems) {
        graph(&mut root, &mut spec);
        return Ok((spec, problems));
    }
    Err(problems.into_error(&spec).located(text))
}

/// serde_json counts bytes, and 0 at the beginning of a line.
fn characters(text: &str, line: usize, column: usize) -> usize {
    let line = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let before = line.bytes().take(column.saturating_sub(1));
    // The first byte of every character.
    before.filter(|byte| byte & 0xc0 != 0x80).count() + 1
}

fn graph(root: &mut Object<'_, '_>, spec: &mut GraphSpec) {
    if let Some(version) = root.required::<u32>("version") {
        spec.version = version;
    }
    spec.name = root.required("name").unwrap_or_default();
    spec.fields = root.objects("fields", FieldEntry::MEMBERS, |o| o.map_or_else(|| unread(field), field));
    spec.nodes = root.objects("nodes", NodeEntry::MEMBERS, |o| o.map_or_else(|| unread(node), node));
    spec.edges = root.objects("edges", EdgeEntry::MEMBERS, |o| o.map_or_else(|| unread(edge), edge));
    spec.joins = root.objects("joins", JoinEntry::MEMBERS, |o| o.map_or_else(|| unread(join), join));
    spec.routers = root.objects("routers", RouterEntry::MEMBERS, |o| o.map_or_else(|| unread(router), router));
    spec.clusters = clusters(root);
    spec.defaults = PolicyEntry::read(root, "defaults");
    spec.siblings = root.optional("siblings").unwrap_or_default();
    spec.input = root.has("input").then(|| root.names("input"));
    lints(root, spec);
}

/// The entry of an element that is no object: its place is kept, and noted as lost.
fn unread<T>(read: impl FnOnce(&mut Object<'_, '_>) -> T) -> T {
    read(&mut Object::empty(&serde_json::Map::new(), &mut Problems::default()))
}

fn field(object: &mut Object<'_, '_>) -> FieldEntry {
    let name = object.required::<Name>("name").unwrap_or_default();
    let mut entry = FieldEntry::new(name, object.optional("merge").unwrap_or(Merge::One));
    entry.reducer = object.optional("reducer");
    entry.transient = object.optional("transient").unwrap_or_default();
    entry.r#type = object.optional("type").unwrap_or_default();
    entry.default = object.raw("default");
    entry
}

fn node(object: &mut Object<'_, '_>) -> NodeEntry {
    let (name, use_) = (object.required::<Name>("name"), object.required::<Name>("use"));
    let mut entry = NodeEntry::new(name.unwrap_or_default(), use_.unwrap_or_default());
    entry.config = object.raw("config");
    entry.kind = object.optional("kind");
    entry.deferred = object.optional("deferred").unwrap_or_default();
    entry.writes = object.has("writes").then(|| object.names("writes"));
    entry.moves = moves(object);
    entry.policy = PolicyEntry::read(object, "policy");
    entry
}

fn moves(object: &mut Object<'_, '_>) -> Moves {
    let read = object.child("moves", Moves::MEMBERS, |moves| Moves {
        targets: moves.names("targets"),
        sends: moves.names("sends"),
        stay: moves.optional("stay").unwrap_or_default(),
        direct: moves.optional("direct").unwrap_or_default(),
        finish: moves.optional("finish").unwrap_or_default(),
        dynamic: moves.optional("dynamic").unwrap_or_default(),
    });
    read.unwrap_or_default()
}

fn edge(object: &mut Object<'_, '_>) -> EdgeEntry {
    let (from, to) = (object.required::<Name>("from"), object.required::<Name>("to"));
    EdgeEntry::new(from.unwrap_or_default(), to.unwrap_or_default())
}

fn join(object: &mut Object<'_, '_>) -> JoinEntry {
    JoinEntry::new(object.required_names("from"), object.required::<Name>("to").unwrap_or_default())
}

fn router(object: &mut Object<'_, '_>) -> RouterEntry {
    let (from, use_) = (object.required::<Name>("from"), object.required::<Name>("use"));
    let mut entry = RouterEntry::new(from.unwrap_or_default(), use_.unwrap_or_default(), moves(object));
    entry.config = object.raw("config");
    entry.reads = object.names("reads");
    entry
}

fn clusters(object: &mut Object<'_, '_>) -> Vec<ClusterEntry> {
    object.objects("clusters", ClusterEntry::MEMBERS, |o| o.map_or_else(|| unread(cluster), cluster))
}

fn cluster(object: &mut Object<'_, '_>) -> ClusterEntry {
    let (name, entry) = (object.required::<Name>("name"), object.required::<Name>("entry"));
    let mut cluster = ClusterEntry::new(name.unwrap_or_default(), entry.unwrap_or_default(), object.names("members"));
    cluster.clusters = clusters(object);
    cluster
}

fn lints(root: &mut Object<'_, '_>, spec: &mut GraphSpec) {
    let at = root.pointer("lints");
    for (code, level) in root.entries("lints") {
        let at = format!("{at}/{}", escaped(code));
        let lint = Lint::ALL.iter().copied().find(|lint| lint.code() == code.as_str());
        if lint.is_none() {
            let known = Lint::ALL.iter().map(|lint| lint.code().to_owned()).collect();
            root.problems
                .add(at.clone(), MistakeKind::UnknownWord { what: "code of a lint", word: code.clone(), known });
        }
        match (lint, Level::read(level)) {
            (Some(lint), Ok(level)) => {
                spec.lints.insert(lint, level);
            }
            (_, Err(kind)) => root.problems.add(at, kind),
            (None, Ok(_)) => {}
        }
    }
}
