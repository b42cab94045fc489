//! Why tools can't be put together, and what is odd about them.

use std::fmt;

use super::{GroupKey, SchemaError};
use crate::schema::clip;

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
    /// A tool has a name that providers refuse.
    #[error(
        "a tool can't be called `{}`; take at most 64 of the letters a-z and A-Z, digits, `_` and `-`",
        clip(name, 80)
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The schema of a tool can't be used.
    #[error("the schema of tool `{name}` can't be used: {reason}")]
    BadSchema {
        /// The tool.
        name: String,
        /// Why.
        reason: SchemaError,
    },
    /// A group has no tools.
    #[error("a group of tools names no tool; name the tools that it handles together")]
    EmptyGroup,
    /// A group has a blank name.
    #[error("the group of {} has a blank name; name the tool or leave it out", listed(names))]
    BlankNameInGroup {
        /// The names of the group, as they were given.
        names: Vec<String>,
    },
    /// A group names a tool twice.
    #[error("the group of {} names `{name}` twice; name it once, it stands for any number of calls", listed(names))]
    DuplicateInGroup {
        /// The tool.
        name: String,
        /// The names of the group, as they were given.
        names: Vec<String>,
    },
    /// Two groups are of the same tools.
    #[error("there are two groups of {}; the order of the names makes no difference, so keep one", listed(names))]
    GroupConflict {
        /// The names, sorted.
        names: Vec<String>,
    },
    /// A name that is exposed, or that a group handles, is no tool's.
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

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What is odd about the tools of a stage, and no error.
///
/// ```
/// use graph_nodes::tool::{GroupKey, ToolBoxWarning};
///
/// let warning = ToolBoxWarning::UnreachableGroup { group: GroupKey::of(["b", "a"]), missing: vec!["b".into()] };
/// assert_eq!(
///     warning.to_string(),
///     "the group of `a`, `b` never runs here, because `b` is not offered; offer it, or ignore this where another stage does",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolBoxWarning {
    /// A group handles a tool that is not offered, so that its set never matches.
    UnreachableGroup {
        /// The group.
        group: GroupKey,
        /// Its tools that are not offered.
        missing: Vec<String>,
    },
}

impl fmt::Display for ToolBoxWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::UnreachableGroup { group, missing } = self;
        let (are, it) = if missing.len() == 1 { ("is", "it") } else { ("are", "them") };
        write!(
            f,
            "the group of {} never runs here, because {} {are} not offered; offer {it}, or ignore this where another stage does",
            listed(group.names()),
            listed(missing),
        )
    }
}
