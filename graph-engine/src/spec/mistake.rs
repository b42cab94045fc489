//! What can be wrong with a graph in a file, and where.

use std::fmt;

use super::places::Places;
use crate::diagnostic::Diagnostic;
use crate::name::{Name, nearest, quoted};
use crate::state::dynamic::SchemaError;

/// A line and a column of a text, both counted from 1. A column is a character.
///
/// ```
/// use graph_engine::GraphSpec;
///
/// let error = GraphSpec::from_json("{\n  \"version\": 1,\n  \"name\": 7\n}").unwrap_err();
/// let place = error.mistakes[0].place.unwrap();
/// assert_eq!((place.line, place.column), (3, 11));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TextPlace {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl TextPlace {
    pub(super) const fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

/// One mistake with its place.
///
/// ```
/// use graph_engine::{GraphSpec, MistakeKind};
///
/// let error = GraphSpec::from_json(r#"{"version": 1, "name": "trip", "nodse": []}"#).unwrap_err();
/// let mistake = &error.mistakes[0];
/// assert_eq!(mistake.pointer, "/nodse");
/// assert!(matches!(&mistake.kind, MistakeKind::UnknownMember { member, .. } if member == "nodse"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where it is in the file, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Where it is in the text, if there is a text.
    pub place: Option<TextPlace>,
    /// What is wrong.
    pub kind: MistakeKind,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(TextPlace { line, column }) = self.place {
            write!(f, "{line}:{column} ")?;
        }
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        self.kind.fmt(f)
    }
}

/// What is wrong at one place of a graph in a file.
///
/// ```
/// use graph_engine::{GraphSpec, MistakeKind};
///
/// let error = GraphSpec::from_json(r#"{"version": 1}"#).unwrap_err();
/// assert_eq!(error.mistakes[0].kind.to_string(), "`name` is missing");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MistakeKind {
    /// The text is no JSON. Nothing else was looked at.
    #[error("the text is no JSON: {reason}")]
    Syntax {
        /// What the parser said.
        reason: String,
    },
    /// An object has one member twice.
    #[error("the object has `{member}` twice; remove one of them")]
    DuplicateMember {
        /// The member's name.
        member: String,
    },
    /// An object has a member that it can't have.
    #[error("there is no member `{member}` here{}", did_you_mean(member, known))]
    UnknownMember {
        /// The member's name.
        member: String,
        /// The members that there are.
        known: Vec<String>,
    },
    /// A member that must be there is not.
    #[error("`{member}` is missing")]
    MissingMember {
        /// The member's name.
        member: &'static str,
    },
    /// A value is of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What must stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A text is none of a fixed list of words.
    #[error("`{word}` is no {what}{}", did_you_mean(word, known))]
    UnknownWord {
        /// What the word is for.
        what: &'static str,
        /// The word.
        word: String,
        /// The words that there are.
        known: Vec<String>,
    },
    /// A number is outside of what makes sense.
    #[error("expected {expected}, found {found}")]
    OutOfRange {
        /// What is possible.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// The file has another version of the format.
    #[error("the format has version {found}, this engine reads version {reads}")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that can be read.
        reads: u32,
    },
    /// A name of something that is registered or declared elsewhere is not known.
    #[error("no {what} has the name `{name}`{}", did_you_mean(name, known))]
    UnknownName {
        /// What the name is for.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A registered node or router refuses its config.
    #[error("`{name}` refuses its config: {reason}")]
    BadConfig {
        /// The registered name.
        name: String,
        /// What serde or the constructor said.
        reason: String,
    },
    /// A field of the state can't be.
    #[error(transparent)]
    Field(#[from] SchemaError),
    /// A field with the merge rule `with` names no reducer.
    #[error("a field with the merge rule `with` needs a `reducer`{}", listed("registered are", known))]
    NoReducer {
        /// The registered reducers.
        known: Vec<String>,
    },
    /// A field names a reducer but has another merge rule.
    #[error("a reducer belongs to the merge rule `with`; this field has `{merge}`")]
    NotReduced {
        /// The field's merge rule.
        merge: &'static str,
    },
    /// The level of a lint is changed that can't be lowered.
    #[error("the level of {code} can't be changed, because a graph with this finding could not run")]
    FixedLint {
        /// The lint's code.
        code: &'static str,
    },
    /// A node is a member of two clusters.
    #[error("`{node}` is a member of cluster `{first}` already; a node is listed in its innermost cluster only")]
    TwoClusters {
        /// The node.
        node: Name,
        /// The cluster that lists it first.
        first: Name,
    },
    /// A cache has no key.
    #[error("a cache needs `fields` or `payload`, which its results depend on")]
    NoCacheKey,
    /// A policy was taken from the spec of a graph that was described by code.
    #[error("what code decides can't stand in a file; say it with `fields` and `payload`")]
    ByCode,
    /// The defaults of all nodes have a policy that only a node can have.
    #[error("results are cached by node; give the nodes a `cache`")]
    DefaultCache,
    /// A router says that it may go anywhere.
    #[error("a router can't be dynamic; list its `targets` and `sends`")]
    DynamicRouter,
    /// What the check of the whole graph found.
    #[error("{0}")]
    Finding(Diagnostic),
}

impl MistakeKind {
    pub(crate) fn unknown(what: &'static str, name: &str, known: Vec<String>) -> Self {
        Self::UnknownName { what, name: name.to_owned(), known }
    }
}

fn did_you_mean(name: &str, known: &[String]) -> String {
    let known_names = known.iter().map(String::as_str);
    let meant = nearest(name, known_names).map(|name| format!(", did you mean `{name}`")).unwrap_or_default();
    if known.is_empty() { "; there is none".to_owned() } else { format!("{meant}{}", listed("there are", known)) }
}

fn listed(words: &str, known: &[String]) -> String {
    if known.is_empty() {
        "; there is none".to_owned()
    } else {
        format!("; {words} {}", quoted(known.iter().map(String::as_str)))
    }
}

/// Every mistake of a graph in a file, not only the first.
///
/// ```
/// use graph_engine::{GraphSpec, Registry};
///
/// let text = r#"{
///   "version": 1,
///   "name": "trip",
///   "nodes": [{ "name": "explore", "use": "sya" }],
///   "edges": [{ "from": "__start__", "to": "explroe" }]
/// }"#;
/// let spec = GraphSpec::from_json(text)?;
/// let error = spec.build(&Registry::new()).unwrap_err().located(text);
/// assert_eq!(error.mistakes.len(), 2);
/// assert!(error.to_string().starts_with("graph `trip` has 2 mistakes\n  4:41 /nodes/0/use: no node kind"));
/// # Ok::<(), graph_engine::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpecError {
    /// The graph's name, if it could be read.
    pub graph: Option<Name>,
    /// The mistakes by their places in the text; without a text in the order in which they were found.
    pub mistakes: Vec<Mistake>,
}

impl SpecError {
    /// The same mistakes with their lines and columns in the text that the graph was read from.
    #[must_use]
    pub fn located(mut self, text: &str) -> Self {
        let places = Places::of(text);
        for mistake in &mut self.mistakes {
            let on_key = matches!(mistake.kind, MistakeKind::UnknownMember { .. });
            mistake.place = mistake.place.or_else(|| places.find(&mistake.pointer, on_key));
        }
        self.mistakes.sort_by_key(|mistake| mistake.place);
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.graph {
            Some(name) => write!(f, "graph `{name}` has ")?,
            None => f.write_str("the graph has ")?,
        }
        let count = self.mistakes.len();
        write!(f, "{count} {}", if count == 1 { "mistake" } else { "mistakes" })?;
        self.mistakes.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl std::error::Error for SpecError {}
