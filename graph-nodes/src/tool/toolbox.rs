//! All tools of a graph, and which of them a stage offers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use graph_engine::State;

use super::{ArgsSchema, SchemaError, Tool};
use crate::model::ToolSpec;

/// All tools of a graph, checked and with compiled schemas, and the names of those that are offered. Cloning it
/// copies two pointers.
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
    all: Arc<[Entry<S>]>,
    /// Places in `all`, in the order in which they are offered.
    exposed: Arc<[usize]>,
}

/// One tool with its compiled schema.
pub(crate) struct Entry<S: State> {
    pub(crate) spec: ToolSpec,
    pub(crate) schema: ArgsSchema,
    pub(crate) tool: Arc<dyn Tool<S>>,
}

/// Why tools can't be put together.
///
/// ```
/// use graph_nodes::tool::ToolBoxError;
///
/// assert_eq!(
///     ToolBoxError::DuplicateTool { name: "book".into() }.to_string(),
///     "there are two tools `book`; rename one",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolBoxError {
    /// Two tools have one name.
    #[error("there are two tools `{name}`; rename one")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// A tool has a blank name.
    #[error("a tool has a blank name (`{description}`); name it")]
    BlankName {
        /// What it does.
        description: String,
    },
    /// The schema of a tool can't be used.
    #[error("the schema of tool `{name}` can't be used: {reason}")]
    BadSchema {
        /// The tool.
        name: String,
        /// Why.
        reason: SchemaError,
    },
    /// A name that is exposed is no tool's.
    #[error("there is no tool `{name}`; {}", in_box(known))]
    UnknownTool {
        /// The name.
        name: String,
        /// The tools there are.
        known: Vec<String>,
    },
}

/// What is in a box, as part of a message.
fn in_box(names: &[String]) -> String {
    match names {
        [] => "the box has no tools; add it with `ToolBoxBuilder::tool`".to_owned(),
        names => offered(names.iter().map(String::as_str)),
    }
}

/// What is offered, as part of a message.
pub(crate) fn offered<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "no tools are offered".to_owned() } else { format!("the tools are {}", names.join(", ")) }
}

impl<S: State> ToolBox<S> {
    /// No tools yet.
    pub fn builder() -> ToolBoxBuilder<S> {
        ToolBoxBuilder { tools: Vec::new() }
    }

    /// The same tools, of which only these are offered, in this order. A name given twice counts once.
    ///
    /// # Errors
    /// [`ToolBoxError::UnknownTool`] for the first name that is no tool's.
    pub fn expose<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<Self, ToolBoxError> {
        let mut exposed = Vec::new();
        for name in names {
            let name = name.as_ref();
            let at = self.all.iter().position(|entry| entry.spec.name == name);
            let at = at.ok_or_else(|| ToolBoxError::UnknownTool {
                name: name.to_owned(),
                known: self.all.iter().map(|entry| entry.spec.name.clone()).collect(),
            })?;
            if !exposed.contains(&at) {
                exposed.push(at);
            }
        }
        Ok(Self { all: self.all.clone(), exposed: exposed.into() })
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

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<S>> {
        self.exposed.iter().map(|at| &self.all[*at])
    }

    /// The tool of this name, if it is offered; else what the model is told.
    pub(crate) fn find(&self, name: &str) -> Result<&Entry<S>, String> {
        if let Some(entry) = self.entries().find(|entry| entry.spec.name == name) {
            return Ok(entry);
        }
        let offered = offered(self.names());
        Err(match self.all.iter().any(|entry| entry.spec.name == name) {
            true => format!("the tool `{name}` is not offered here; {offered}"),
            false => format!("there is no tool `{name}`; {offered}"),
        })
    }
}

impl<S: State> Clone for ToolBox<S> {
    fn clone(&self) -> Self {
        Self { all: self.all.clone(), exposed: self.exposed.clone() }
    }
}

impl<S: State> Default for ToolBox<S> {
    fn default() -> Self {
        Self { all: Arc::from([]), exposed: Arc::from([]) }
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
}

impl<S: State> ToolBoxBuilder<S> {
    /// Adds a tool.
    pub fn tool(self, tool: impl Tool<S>) -> Self {
        self.tool_arc(Arc::new(tool))
    }

    /// Adds a tool that is shared already.
    pub fn tool_arc(mut self, tool: Arc<dyn Tool<S>>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Checks the names and compiles the schemas. All tools are offered until
    /// [`expose`](ToolBox::expose) says otherwise.
    ///
    /// # Errors
    /// The first tool with a blank name, the name of another one, or a schema that can't be used.
    pub fn build(self) -> Result<ToolBox<S>, ToolBoxError> {
        let mut known = BTreeMap::new();
        let mut all = Vec::with_capacity(self.tools.len());
        for tool in self.tools {
            let spec = tool.spec().clone();
            if spec.name.trim().is_empty() {
                return Err(ToolBoxError::BlankName { description: spec.description });
            }
            if known.insert(spec.name.clone(), ()).is_some() {
                return Err(ToolBoxError::DuplicateTool { name: spec.name });
            }
            match ArgsSchema::compile(&spec.parameters) {
                Ok(schema) => all.push(Entry { spec, schema, tool }),
                Err(reason) => return Err(ToolBoxError::BadSchema { name: spec.name, reason }),
            }
        }
        let exposed = (0..all.len()).collect();
        Ok(ToolBox { all: all.into(), exposed })
    }
}

impl<S: State> fmt::Debug for ToolBoxBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|tool| &tool.spec().name).collect();
        f.debug_tuple("ToolBoxBuilder").field(&names).finish()
    }
}
