//! All tools of a graph, and which of them a stage offers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use graph_engine::State;

use super::toolbox_error::offered;
use super::{ArgsSchema, GroupHandler, GroupKey, Tool, ToolBoxError, ToolBoxWarning};
use crate::model::ToolSpec;

/// All tools of a graph, checked and with compiled schemas, and the names of those that are offered. Cloning it
/// copies three pointers.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{ToolBox, ToolBoxError, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct NoArgs {}
///
/// let tools = ToolBox::<Trip>::builder()
///     .tool(tool::<Trip, NoArgs>("search", "Finds hotels.", |_, _| async { Ok("none".into()) }))
///     .tool(tool::<Trip, NoArgs>("book", "Books a room.", |_, _| async { Ok("booked".into()) }))
///     .build()?;
/// assert_eq!(tools.names(), ["search", "book"]);
/// assert_eq!(tools.expose(["book"])?.names(), ["book"]);
/// assert_eq!(
///     tools.expose(["fly"]).unwrap_err().to_string(),
///     "there is no tool `fly`; the tools are `search`, `book`",
/// );
/// # Ok::<(), ToolBoxError>(())
/// ```
pub struct ToolBox<S: State> {
    shared: Arc<Shared<S>>,
    /// Places in `all`, in the order in which they are offered.
    exposed: Arc<[usize]>,
    /// The same places by name.
    by_name: Arc<BTreeMap<String, usize>>,
}

/// What all exposures of one box share.
struct Shared<S: State> {
    all: Vec<Entry<S>>,
    groups: Groups<S>,
}

/// Group handlers by what they handle.
type Groups<S> = BTreeMap<GroupKey, Arc<dyn GroupHandler<S>>>;

/// One tool with its compiled schema.
pub(crate) struct Entry<S: State> {
    pub(crate) spec: ToolSpec,
    pub(crate) schema: ArgsSchema,
    pub(crate) tool: Arc<dyn Tool<S>>,
    /// A name for programs only. A call by it would pass by the groups and ledgers of the tool's own name.
    alias: Option<String>,
}

impl<S: State> Entry<S> {
    /// The names by which programs find it.
    fn names(&self) -> impl Iterator<Item = &str> {
        [self.spec.name.as_str()].into_iter().chain(self.alias.as_deref())
    }
}

impl<S: State> ToolBox<S> {
    /// No tools yet.
    pub fn builder() -> ToolBoxBuilder<S> {
        ToolBoxBuilder { tools: Vec::new(), groups: Vec::new() }
    }

    /// The same tools, of which only these are offered, in this order. A name given twice counts once, and an
    /// [alias](Tool::alias) stands for its tool.
    ///
    /// # Errors
    /// [`ToolBoxError::UnknownTool`] for the first name that is no tool's.
    pub fn expose<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<Self, ToolBoxError> {
        let all = &self.shared.all;
        let named = all.iter().enumerate().flat_map(|(at, entry)| entry.names().map(move |name| (name, at)));
        let places: BTreeMap<&str, usize> = named.collect();
        let (mut exposed, mut by_name) = (Vec::new(), BTreeMap::new());
        for name in names {
            let name = name.as_ref();
            let at = *places.get(name).ok_or_else(|| unknown(name, all))?;
            if by_name.insert(all[at].spec.name.clone(), at).is_none() {
                exposed.push(at);
            }
        }
        Ok(Self { shared: self.shared.clone(), exposed: exposed.into(), by_name: Arc::new(by_name) })
    }

    /// The names that are offered, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.entries().map(|entry| entry.spec.name.as_str()).collect()
    }

    /// What a model is told of the tools that are offered.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.entries().map(|entry| entry.spec.clone()).collect()
    }

    /// What is odd about the tools that are offered: groups that never run because a tool of theirs isn't.
    #[must_use]
    pub fn warnings(&self) -> Vec<ToolBoxWarning> {
        let unreachable = |group: &GroupKey| {
            let missing = group.names().iter().filter(|name| !self.by_name.contains_key(*name));
            let missing: Vec<String> = missing.cloned().collect();
            (!missing.is_empty()).then(|| ToolBoxWarning::UnreachableGroup { group: group.clone(), missing })
        };
        self.shared.groups.keys().filter_map(unreachable).collect()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<S>> {
        self.exposed.iter().map(|at| &self.shared.all[*at])
    }

    /// The group handlers whose tools are all offered.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Arc<dyn GroupHandler<S>>> {
        let offers = |group: &GroupKey| group.names().iter().all(|name| self.by_name.contains_key(name));
        self.shared.groups.iter().filter(move |(group, _)| offers(group)).map(|(_, handler)| handler)
    }

    /// The handler of exactly this set, if all its tools are offered.
    pub(crate) fn group<'a>(
        &self,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<(&GroupKey, &Arc<dyn GroupHandler<S>>)> {
        let offered = || names.clone().all(|name| self.by_name.contains_key(name));
        if self.shared.groups.is_empty() || !offered() {
            return None;
        }
        let names: BTreeSet<&str> = names.collect();
        self.shared.groups.get_key_value(&GroupKey::of(names))
    }

    /// The tool of this name, if it is offered; else what the model is told.
    pub(crate) fn find(&self, name: &str) -> Result<&Entry<S>, String> {
        if let Some(at) = self.by_name.get(name) {
            return Ok(&self.shared.all[*at]);
        }
        let offered = offered(self.names());
        Err(match self.shared.all.iter().any(|entry| entry.spec.name == name) {
            true => format!("the tool `{name}` is not offered here; {offered}"),
            false => format!("there is no tool `{name}`; {offered}"),
        })
    }
}

impl<S: State> Clone for ToolBox<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), exposed: self.exposed.clone(), by_name: self.by_name.clone() }
    }
}

impl<S: State> Default for ToolBox<S> {
    fn default() -> Self {
        let shared = Shared { all: Vec::new(), groups: BTreeMap::new() };
        Self { shared: Arc::new(shared), exposed: Arc::from([]), by_name: Arc::default() }
    }
}

impl<S: State> fmt::Debug for ToolBox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolBox").field(&self.names()).finish()
    }
}

/// Tools on their way into a [`ToolBox`].
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::ToolBox;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// assert!(ToolBox::<Trip>::builder().build().unwrap().names().is_empty());
/// ```
#[must_use = "a description does nothing until it is built"]
pub struct ToolBoxBuilder<S: State> {
    tools: Vec<Arc<dyn Tool<S>>>,
    groups: Vec<(Vec<String>, Arc<dyn GroupHandler<S>>)>,
}

impl<S: State> ToolBoxBuilder<S> {
    /// Adds a tool.
    pub fn tool(self, tool: impl Tool<S>) -> Self {
        self.tool_arc(Arc::new(tool))
    }

    /// Adds several tools.
    pub fn tools<T: Tool<S>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        tools.into_iter().fold(self, Self::tool)
    }

    /// Adds a tool that is shared already.
    pub fn tool_arc(mut self, tool: Arc<dyn Tool<S>>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a handler for calls of exactly these tools, in any order: see [`GroupHandler`]. The tools themselves are
    /// added with [`tool`](Self::tool), which also run when the set is another one.
    pub fn group<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>, handler: impl GroupHandler<S>) -> Self {
        self.groups.push((names.into_iter().map(Into::into).collect(), Arc::new(handler)));
        self
    }

    /// Checks the names and compiles the schemas. All tools are offered until
    /// [`expose`](ToolBox::expose) says otherwise.
    ///
    /// # Errors
    /// The first tool with a blank name, a name or alias of another one, or a schema that can't be used; then the first group
    /// without tools, with a blank name, a name twice or a name that is no tool's, or of the same tools as another one.
    pub fn build(self) -> Result<ToolBox<S>, ToolBoxError> {
        let (mut by_name, mut known) = (BTreeMap::new(), BTreeMap::new());
        let mut all = Vec::with_capacity(self.tools.len());
        for tool in self.tools {
            let spec = tool.spec().clone();
            if spec.name.trim().is_empty() {
                return Err(ToolBoxError::BlankName { description: spec.description });
            }
            if !is_name(&spec.name) {
                return Err(ToolBoxError::BadName { name: spec.name });
            }
            let alias = tool.alias().filter(|alias| *alias != spec.name).map(str::to_owned);
            for name in [Some(&spec.name), alias.as_ref()].into_iter().flatten() {
                if known.insert(name.clone(), all.len()).is_some() {
                    return Err(ToolBoxError::DuplicateTool { name: name.clone() });
                }
            }
            by_name.insert(spec.name.clone(), all.len());
            match ArgsSchema::compile(&spec.parameters) {
                Ok(schema) => all.push(Entry { spec, schema, tool, alias }),
                Err(reason) => return Err(ToolBoxError::BadSchema { name: spec.name, reason }),
            }
        }
        let mut groups = Groups::new();
        for (names, handler) in self.groups {
            let key = group_key(&names, &known, &all)?;
            if groups.contains_key(&key) {
                return Err(ToolBoxError::GroupConflict { names: key.names().to_vec() });
            }
            groups.insert(key, handler);
        }
        let exposed = (0..all.len()).collect();
        Ok(ToolBox { shared: Arc::new(Shared { all, groups }), exposed, by_name: Arc::new(by_name) })
    }
}

fn unknown<S: State>(name: &str, all: &[Entry<S>]) -> ToolBoxError {
    ToolBoxError::UnknownTool {
        name: name.to_owned(),
        known: all.iter().map(|entry| entry.spec.name.clone()).collect(),
    }
}

/// The set that a group declares.
fn group_key<S: State>(
    names: &[String],
    known: &BTreeMap<String, usize>,
    all: &[Entry<S>],
) -> Result<GroupKey, ToolBoxError> {
    if names.is_empty() {
        return Err(ToolBoxError::EmptyGroup);
    }
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err(ToolBoxError::BlankNameInGroup { names: names.to_vec() });
    }
    let mut seen = BTreeSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(ToolBoxError::DuplicateInGroup { name: name.clone(), names: names.to_vec() });
    }
    // The set is of names that models use.
    let told = |name: &String| known.get(name).map(|at| all[*at].spec.name.clone()).ok_or_else(|| unknown(name, all));
    Ok(GroupKey::of(names.iter().map(told).collect::<Result<Vec<_>, _>>()?))
}

impl<S: State> fmt::Debug for ToolBoxBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|tool| &tool.spec().name).collect();
        let groups: Vec<_> = self.groups.iter().map(|(names, _)| names).collect();
        f.debug_struct("ToolBoxBuilder").field("tools", &names).field("groups", &groups).finish()
    }
}

/// What providers take as the name of a tool.
fn is_name(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
    name.len() <= 64 && name.bytes().all(fits)
}
