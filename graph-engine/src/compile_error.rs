//! A graph that can't be compiled, with every problem it has.

use std::fmt;

use crate::diagnostic::{Diagnostic, Level};
use crate::name::Name;

/// Every problem of a graph, not only the first.
///
/// ```
/// use graph_engine::{Graph, Lint, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let error = Graph::<Trip>::builder("trip").compile().unwrap_err();
/// assert_eq!(error.diagnostics[0].lint, Lint::NoEntry);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileError {
    /// The graph's name.
    pub graph: Name,
    /// All findings, errors first, each group sorted by (lint, nodes).
    pub diagnostics: Vec<Diagnostic>,
}

impl CompileError {
    /// The findings that keep the graph from compiling.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.level == Level::Error)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.errors().count();
        write!(f, "graph `{}` has {count} {}", self.graph, if count == 1 { "problem" } else { "problems" })?;
        for finding in self.errors() {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
