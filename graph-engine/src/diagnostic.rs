//! What `compile()` finds: a lint, a level, the nodes, what is wrong and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::Name;

/// How much a finding matters.
///
/// ```
/// use graph_engine::Level;
///
/// assert!(Level::Warn < Level::Error);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not reported.
    Ignore,
    /// Reported; the graph compiles.
    Warn,
    /// The graph doesn't compile.
    Error,
}

macro_rules! lints {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $level:ident;)*) => {
        /// A kind of finding. Each has a code that doesn't change and a level that
        /// [`Builder::lint`](crate::Builder::lint) can change.
        ///
        /// ```
        /// use graph_engine::{Level, Lint};
        ///
        /// assert_eq!(Lint::UnknownTarget.code(), "G003");
        /// assert_eq!(Lint::ImplicitEnd.default_level(), Level::Warn);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Lint {
            $($(#[$doc])* $name,)*
        }

        impl Lint {
            /// Every lint.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code, which never changes its meaning.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Whether the level can't be changed, because a graph with this finding could not run at all.
            #[must_use]
            pub const fn is_fixed(self) -> bool {
                matches!(
                    self,
                    Self::DuplicateName
                        | Self::UnknownTarget
                        | Self::ConflictingRoutes
                        | Self::BadCluster
                        | Self::TooManyFields
                        | Self::BadErrorRoute
                )
            }

            /// The level when the builder says nothing.
            #[must_use]
            pub const fn default_level(self) -> Level {
                match self { $(Self::$name => Level::$level,)* }
            }
        }
    };
}

lints! {
    /// Two nodes or clusters have one name.
    DuplicateName = "G001", Error;
    /// A name is empty or begins with `__`, which is kept for the engine.
    ReservedName = "G002", Error;
    /// An edge, route, join or cluster names a node that doesn't exist.
    UnknownTarget = "G003", Error;
    /// Nothing leaves START.
    NoEntry = "G004", Error;
    /// No path from START leads to a node.
    Unreachable = "G005", Error;
    /// A join waits for a node that can't finish by its declared edges, or never runs.
    DeadJoin = "G006", Error;
    /// Edges that are always taken lead round in a circle.
    UnconditionalCycle = "G007", Error;
    /// A node has static edges and a router, or two routers.
    ConflictingRoutes = "G008", Error;
    /// A payload is sent to a node that asks for another type, or none to a node that asks for one.
    PayloadMismatch = "G009", Error;
    /// Two nodes that start from one fork at once both declare that they write a single-writer field.
    WriteConflict = "G010", Error;
    /// The same edge, join or route is declared twice.
    DuplicateEdge = "G011", Error;
    /// A cluster has no entry among its own nodes.
    BadCluster = "G012", Error;
    /// The state has more fields than a set can hold.
    TooManyFields = "G013", Error;
    /// A node that does its own retries has a retry policy too.
    DoubleRetry = "G014", Error;
    /// A node says that it was made wrong and can't run.
    NodeProblem = "G015", Error;
    /// An error route leads back to its own node, or to the end.
    BadErrorRoute = "G016", Error;
    /// Two nodes that may run in one super-step both declare that they write a single-writer field.
    OverlappingWriters = "G101", Warn;
    /// Branches of different length meet at a node without a join, so that it runs several times.
    UnevenFanIn = "G102", Warn;
    /// Nothing leaves a node: its branch ends there without saying so.
    ImplicitEnd = "G103", Warn;
    /// Two branches of one fork can both reply.
    TwoReplies = "G104", Warn;
    /// A router declares that it reads a transient field.
    TransientRoute = "G105", Warn;
}

/// One finding.
///
/// ```
/// use graph_engine::{Diagnostic, Lint};
///
/// let finding = Diagnostic::new(Lint::Unreachable, ["lost"], "no path leads to `lost`").help("add an edge to it");
/// assert_eq!(finding.to_string(), "error[G005]: no path leads to `lost` (add an edge to it)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind of finding.
    pub lint: Lint,
    /// How much it matters here.
    pub level: Level,
    /// The nodes it is about, by name.
    pub nodes: Vec<Name>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding at its lint's default level.
    pub fn new<N: Into<Name>>(lint: Lint, nodes: impl IntoIterator<Item = N>, message: impl Into<String>) -> Self {
        let nodes = nodes.into_iter().map(Into::into).collect();
        Self { lint, level: lint.default_level(), nodes, message: message.into(), help: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The lint's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.lint.code()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ignore => "note",
            Level::Warn => "warning",
            Level::Error => "error",
        };
        write!(f, "{level}[{}]: {}", self.code(), self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}
