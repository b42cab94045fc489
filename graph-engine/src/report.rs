//! What a turn did, in numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::executed::ExecutedPath;
use crate::name::{Name, quoted};
use crate::stuck_task::StuckTask;
use crate::task::Interrupt;

/// What one turn did: every end of a turn carries one.
///
/// ```
/// use graph_engine::RunReport;
///
/// assert_eq!(RunReport::default().to_string(), "0 super-steps, 0 tasks, 0 attempts, 0 stays, 0 copies of the state");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// Super-steps merged.
    pub steps: u64,
    /// Tasks scheduled.
    pub tasks: u64,
    /// Attempts started, the first of each task included.
    pub attempts: u64,
    /// Stays.
    pub stays: u64,
    /// Copies of the state that kept snapshots or readers of full states cost.
    pub copies: u64,
    /// Joins that still wait when the turn ends.
    pub waiting_joins: Vec<WaitingJoin>,
    /// What the turn found odd but not wrong.
    pub warnings: Vec<String>,
    /// Tasks whose result was taken from the cache; they have no attempts.
    #[serde(default)]
    pub cached: u64,
    /// Failed tasks that an error route took over.
    #[serde(default)]
    pub rescued: u64,
    /// The nodes that would run next, in task order; empty when the turn is over.
    #[serde(default)]
    pub pending: Vec<Name>,
    /// The open questions, in task order.
    #[serde(default)]
    pub interrupts: Vec<Interrupt>,
    /// Where the turn stopped, if it stopped at breakpoints.
    #[serde(default)]
    pub breakpoints: Vec<Breakpoint>,
    /// Blocking work that could not be stopped and still runs.
    #[serde(default)]
    pub stuck: Vec<StuckTask>,
    /// Where the turn went, if [`Runner::record_path`](crate::Runner::record_path) is on.
    #[serde(default)]
    pub path: Option<ExecutedPath>,
    /// What child graphs did, by the names of the nodes that lead to them, all calls of this turn together. It is not in
    /// the numbers above.
    #[serde(default)]
    pub children: BTreeMap<Name, ChildReport>,
    /// Time from the start to the end of each node's attempts, summed.
    pub node_time: BTreeMap<Name, Duration>,
}

/// What the calls of one child graph did in a turn.
///
/// ```
/// use graph_engine::ChildReport;
///
/// assert_eq!(ChildReport::default().calls, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChildReport {
    /// How often it was called or went on.
    pub calls: u64,
    /// Super-steps merged.
    pub steps: u64,
    /// Tasks scheduled.
    pub tasks: u64,
    /// Attempts started.
    pub attempts: u64,
    /// Stays.
    pub stays: u64,
    /// Copies of its state that kept snapshots cost.
    pub copies: u64,
}

/// A place at which a turn was told to stop.
///
/// ```
/// use graph_engine::Breakpoint;
///
/// assert_eq!(Breakpoint::Before("book".into()).to_string(), "before `book`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Breakpoint {
    /// The node would run next.
    Before(Name),
    /// The node has just finished.
    After(Name),
}

impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(node) => write!(f, "before `{node}`"),
            Self::After(node) => write!(f, "after `{node}`"),
        }
    }
}

/// A join that has seen only some of its sources.
///
/// ```
/// use graph_engine::WaitingJoin;
///
/// let join = WaitingJoin::new("both", ["right"]);
/// assert_eq!(join.to_string(), "join `both` waits for `right`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingJoin {
    /// The node that would run.
    pub to: Name,
    /// The sources that have not finished by their declared edges.
    pub missing: Vec<Name>,
}

impl WaitingJoin {
    /// A join to this node that waits for these.
    pub fn new<N: Into<Name>>(to: impl Into<Name>, missing: impl IntoIterator<Item = N>) -> Self {
        Self { to: to.into(), missing: missing.into_iter().map(Into::into).collect() }
    }
}

impl fmt::Display for WaitingJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "join `{}` waits for {}", self.to, quoted(self.missing.iter().map(Name::as_str)))
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, tasks, attempts, stays, copies, .. } = self;
        write!(
            f,
            "{steps} super-steps, {tasks} tasks, {attempts} attempts, {stays} stays, {copies} copies of the state"
        )?;
        for (count, what) in [(self.cached, "taken from the cache"), (self.rescued, "taken over by error routes")] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        for point in &self.breakpoints {
            write!(f, "; stopped {point}")?;
        }
        for join in &self.waiting_joins {
            write!(f, "; {join}")?;
        }
        for interrupt in &self.interrupts {
            write!(f, "; {interrupt}")?;
        }
        for stuck in &self.stuck {
            write!(f, "; blocking work of {stuck} still runs")?;
        }
        for warning in &self.warnings {
            write!(f, "; {warning}")?;
        }
        Ok(())
    }
}
