//! The data model of a graph. It says everything that the builder can be told, with names in place of functions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::policy::PolicyEntry;
use crate::diagnostic::{Level, Lint};
use crate::name::Name;
use crate::node::Siblings;
use crate::state::dynamic::JsonType;
use crate::state::{FieldSpec, Merge};
use crate::task::NodeKind;

/// A graph as data.
///
/// Read it from JSON with [`GraphSpec::from_json`], make a graph of it with [`GraphSpec::build`], or do both at once
/// with [`Graph::from_json`](crate::Graph::from_json), which reports every mistake of the text. `Graph::spec` is the way
/// back, for graphs of every state type.
///
/// ```
/// use graph_engine::{EdgeEntry, END, GraphSpec, NodeEntry, START};
///
/// let mut spec = GraphSpec::new("trip");
/// spec.nodes.push(NodeEntry::new("explore", "say"));
/// spec.edges.extend([EdgeEntry::new(START, "explore"), EdgeEntry::new("explore", END)]);
/// let text = spec.to_json();
/// assert_eq!(GraphSpec::from_json(&text)?, spec);
/// # Ok::<(), graph_engine::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GraphSpec {
    /// The version of the format: [`GraphSpec::VERSION`].
    pub version: u32,
    /// The graph's name.
    pub name: Name,
    /// The fields of the state, in the order of their indices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldEntry>,
    /// The nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeEntry>,
    /// The static edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<EdgeEntry>,
    /// The joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<JoinEntry>,
    /// The routers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<RouterEntry>,
    /// The clusters that are in no other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ClusterEntry>,
    /// Policies of all nodes that don't say otherwise; no cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub defaults: PolicyEntry,
    /// What happens to the other tasks of a super-step when one has failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub siblings: Siblings,
    /// The only fields that the input of a turn may write; left out: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Vec<Name>>,
    /// Levels of lints that differ from their own, by code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_code")]
    pub lints: BTreeMap<Lint, Level>,
}

impl GraphSpec {
    /// The version of the format that this engine reads and writes.
    pub const VERSION: u32 = 1;

    /// A graph with nothing in it.
    pub fn new(name: impl Into<Name>) -> Self {
        Self {
            version: Self::VERSION,
            name: name.into(),
            fields: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            joins: Vec::new(),
            routers: Vec::new(),
            clusters: Vec::new(),
            defaults: PolicyEntry::default(),
            siblings: Siblings::default(),
            input: None,
            lints: BTreeMap::new(),
        }
    }

    /// The graph as JSON, with two spaces of indentation. What has its default is left out.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Nothing in it can fail: names, numbers that JSON has read or that were made finite, and JSON itself. A
        // factor that a program made infinite is written as `null`, which is refused on reading.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

macro_rules! entry {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The members that an object of this kind may have.
            pub(super) const MEMBERS: &'static [&'static str] = &[$(member(stringify!($field))),*];
        }
    };
}

/// A field's name in JSON: Rust's words are written otherwise there.
const fn member(field: &'static str) -> &'static str {
    match field.as_bytes() {
        b"use_" => "use",
        b"r#type" => "type",
        _ => field,
    }
}

entry! {
    /// One field of the state.
    ///
    /// ```
    /// use graph_engine::{FieldEntry, Merge};
    ///
    /// assert_eq!(FieldEntry::new("notes", Merge::Append).merge, Merge::Append);
    /// ```
    FieldEntry {
        /// Its name.
        name: Name,
        /// How the writes of one super-step combine.
        #[serde(default, skip_serializing_if = "is_default")]
        merge: Merge,
        /// The registered reducer of a `with` field.
        #[serde(default, skip_serializing_if = "is_default")]
        reducer: Option<Name>,
        /// It lives for one turn.
        #[serde(default, skip_serializing_if = "is_default")]
        transient: bool,
        /// What it may hold; for an `append` field what its items may be.
        #[serde(default, skip_serializing_if = "is_default")]
        r#type: JsonType,
        /// Its value before the first write.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        default: Value,
    }
}

impl FieldEntry {
    /// A field as the engine knows it: type and default are the state's own affair.
    pub(crate) fn of(field: &FieldSpec) -> Self {
        let mut entry = Self::new(&*field.name, field.merge);
        entry.reducer = field.reducer.as_deref().map(Name::from);
        entry.transient = field.transient;
        entry
    }

    /// A stored field of any type.
    pub fn new(name: impl Into<Name>, merge: Merge) -> Self {
        Self { name: name.into(), merge, reducer: None, transient: false, r#type: JsonType::Any, default: Value::Null }
    }
}

entry! {
    /// One node.
    ///
    /// ```
    /// use graph_engine::NodeEntry;
    ///
    /// assert_eq!(NodeEntry::new("explore", "ask").use_, "ask");
    /// ```
    NodeEntry {
        /// Its name.
        name: Name,
        /// The registered kind of node. In the spec of a graph that was built by code: its own name.
        #[serde(rename = "use")]
        use_: Name,
        /// What the kind's constructor is given.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        config: Value,
        /// How diagrams draw it; left out: as the node says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<NodeKind>,
        /// It waits until nothing else would run.
        #[serde(default, skip_serializing_if = "is_default")]
        deferred: bool,
        /// The only fields that it writes; left out: as the node says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writes: Option<Vec<Name>>,
        /// Where its commands may lead, besides what the node says.
        #[serde(default, skip_serializing_if = "is_default")]
        moves: Moves,
        /// Its policies.
        #[serde(default, skip_serializing_if = "is_default")]
        policy: PolicyEntry,
    }
}

impl NodeEntry {
    /// A node that declares nothing else.
    pub fn new(name: impl Into<Name>, use_: impl Into<Name>) -> Self {
        Self {
            name: name.into(),
            use_: use_.into(),
            config: Value::Null,
            kind: None,
            deferred: false,
            writes: None,
            moves: Moves::default(),
            policy: PolicyEntry::default(),
        }
    }
}

entry! {
    /// A static edge.
    ///
    /// ```
    /// use graph_engine::{EdgeEntry, START};
    ///
    /// assert_eq!(EdgeEntry::new(START, "explore").to, "explore");
    /// ```
    EdgeEntry {
        /// Where it begins; the beginning of a turn is `__start__`.
        from: Name,
        /// Where it leads; the end of a branch is `__end__`.
        to: Name,
    }
}

impl EdgeEntry {
    /// An edge.
    pub fn new(from: impl Into<Name>, to: impl Into<Name>) -> Self {
        Self { from: from.into(), to: to.into() }
    }
}

entry! {
    /// A join.
    ///
    /// ```
    /// use graph_engine::JoinEntry;
    ///
    /// assert_eq!(JoinEntry::new(["left", "right"], "both").from.len(), 2);
    /// ```
    JoinEntry {
        /// What it waits for.
        from: Vec<Name>,
        /// What then runs.
        to: Name,
    }
}

impl JoinEntry {
    /// A join.
    pub fn new<N: Into<Name>>(from: impl IntoIterator<Item = N>, to: impl Into<Name>) -> Self {
        Self { from: from.into_iter().map(Into::into).collect(), to: to.into() }
    }
}

entry! {
    /// A router.
    ///
    /// ```
    /// use graph_engine::{Moves, RouterEntry};
    ///
    /// let router = RouterEntry::new("explore", "by_field", Moves::to(["present", "explore"]));
    /// assert_eq!(router.moves.targets.len(), 2);
    /// ```
    RouterEntry {
        /// The node whose way it decides, or `__start__`.
        from: Name,
        /// The registered router. In the spec of a graph that was built by code: `route:` and where it begins.
        #[serde(rename = "use")]
        use_: Name,
        /// What the router's constructor is given.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        config: Value,
        /// The fields that it reads.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<Name>,
        /// Where it may lead. It goes nowhere else.
        #[serde(default, skip_serializing_if = "is_default")]
        moves: Moves,
    }
}

impl RouterEntry {
    /// A router without a config.
    pub fn new(from: impl Into<Name>, use_: impl Into<Name>, moves: Moves) -> Self {
        Self { from: from.into(), use_: use_.into(), config: Value::Null, reads: Vec::new(), moves }
    }
}

entry! {
    /// The declared moves of a router, or of a node's commands.
    ///
    /// ```
    /// use graph_engine::Moves;
    ///
    /// let moves = Moves::to(["present"]);
    /// assert!(!moves.stay);
    /// ```
    #[derive(Default)]
    Moves {
        /// Nodes that it may go to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<Name>,
        /// Nodes that it may send payloads to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sends: Vec<Name>,
        /// It may stay.
        #[serde(default, skip_serializing_if = "is_default")]
        stay: bool,
        /// It may reply directly.
        #[serde(default, skip_serializing_if = "is_default")]
        direct: bool,
        /// It may finish the thread.
        #[serde(default, skip_serializing_if = "is_default")]
        finish: bool,
        /// It may go anywhere; nodes only.
        #[serde(default, skip_serializing_if = "is_default")]
        dynamic: bool,
    }
}

impl Moves {
    /// Moves to these nodes only.
    pub fn to<N: Into<Name>>(targets: impl IntoIterator<Item = N>) -> Self {
        Self { targets: targets.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

entry! {
    /// A group of nodes with one entry.
    ///
    /// ```
    /// use graph_engine::ClusterEntry;
    ///
    /// assert_eq!(ClusterEntry::new("explore", "agent", ["agent", "gate"]).entry, "agent");
    /// ```
    ClusterEntry {
        /// Its name.
        name: Name,
        /// The node at which a stay begins again.
        entry: Name,
        /// The nodes that are in it and in no inner cluster.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<Name>,
        /// The clusters within it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        clusters: Vec<ClusterEntry>,
    }
}

impl ClusterEntry {
    /// A cluster without inner ones.
    pub fn new<N: Into<Name>>(
        name: impl Into<Name>,
        entry: impl Into<Name>,
        members: impl IntoIterator<Item = N>,
    ) -> Self {
        let members = members.into_iter().map(Into::into).collect();
        Self { name: name.into(), entry: entry.into(), members, clusters: Vec::new() }
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Lints by their codes.
mod by_code {
    use std::collections::BTreeMap;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::diagnostic::{Level, Lint};

    pub(super) fn serialize<S: Serializer>(lints: &BTreeMap<Lint, Level>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(lints.iter().map(|(lint, level)| (lint.code(), level)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Lint, Level>, D::Error> {
        let levels = BTreeMap::<String, Level>::deserialize(deserializer)?;
        let lint = |code: &str| Lint::ALL.iter().copied().find(|lint| lint.code() == code);
        let known = |(code, level): (String, Level)| {
            let lint = lint(&code).ok_or_else(|| D::Error::custom(format!("no lint has the code `{code}`")))?;
            Ok((lint, level))
        };
        levels.into_iter().map(known).collect()
    }
}
