//! The end of a turn that failed.

use std::fmt;
use std::ops::Deref;

use super::{RunError, TaskFailure};
use crate::report::RunReport;

/// A failed turn: the error, and what the turn did until then. Reads like a [`RunError`].
///
/// ```
/// use graph_engine::{Graph, RunError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn again() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("again", again)
///     .edge(START, "again")
///     .route("again", |_: &Trip| graph_engine::Next::<graph_engine::Nowhere>::declared())
///     .compile()
///     .unwrap();
/// let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
/// assert!(matches!(*failed, RunError::Router { .. }));
/// assert_eq!(failed.report.tasks, 1);
/// # });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct TurnError {
    /// Why.
    pub error: Box<RunError>,
    /// What the turn did.
    pub report: Box<RunReport>,
    /// Whether the runner has a store, and so whether the thread can go on.
    pub stored: bool,
}

impl TurnError {
    pub(crate) fn new(error: RunError, report: RunReport, stored: bool) -> Self {
        Self { error: Box::new(error), report: Box::new(report), stored }
    }

    /// The failures of the step, if tasks failed.
    #[must_use]
    pub fn failures(&self) -> &[TaskFailure] {
        match &*self.error {
            RunError::Step { failures, .. } => failures,
            _ => &[],
        }
    }
}

impl From<RunError> for TurnError {
    fn from(error: RunError) -> Self {
        Self::new(error, RunReport::default(), false)
    }
}

impl Deref for TurnError {
    type Target = RunError;

    fn deref(&self) -> &RunError {
        &self.error
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        match self.error.next(self.stored) {
            Some(next) => write!(f, "; {next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TurnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
