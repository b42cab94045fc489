//! What an operator counts.

use std::time::Duration;

/// How an attempt of a task ended.
///
/// ```
/// use graph_engine::AttemptEnd;
///
/// assert_eq!(AttemptEnd::Failed.as_str(), "failed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// It succeeded.
    Done,
    /// The result of an earlier task was taken from the cache.
    Cached,
    /// It failed; a retry may follow.
    Failed,
    /// It was stopped, or not even begun.
    Cancelled,
    /// It asked something and waits for the answer.
    Paused,
}

impl AttemptEnd {
    /// The word for a label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cached => "cached",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Paused => "paused",
        }
    }
}

/// Counts what happens in turns, for dashboards and alarms. Give it to [`Runner::metrics`](crate::Runner::metrics).
///
/// # Contract
/// Labels are names of graphs and nodes and the words of enums, so there are never more of them than the graph has
/// nodes: no thread, turn or payload. The methods are called while the turn runs and must return at once. Every method
/// does nothing unless you write it. A panic in one fails the turn.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::sync::Arc;
/// use std::time::Duration;
/// use graph_engine::{AttemptEnd, Graph, Metrics, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(Default)]
/// struct Failures(AtomicU64);
///
/// impl Metrics for Failures {
///     fn attempt(&self, _: &str, _: &str, end: AttemptEnd, _: Duration) {
///         if end == AttemptEnd::Failed {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// async fn explore() -> Result<(), &'static str> {
///     Err("no map")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let failures = Arc::new(Failures::default());
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let runner = graph.runner().metrics(failures.clone());
/// runner.thread("guest-7").run(Trip::update()).await.unwrap_err();
/// assert_eq!(failures.0.load(Ordering::Relaxed), 1);
/// # });
/// ```
pub trait Metrics: Send + Sync + 'static {
    /// A super-step was merged; `stays` of its tasks began their cluster, or themselves, again.
    fn super_step(&self, graph: &str, stays: u64) {
        let _ = (graph, stays);
    }

    /// An attempt has ended after so long.
    fn attempt(&self, graph: &str, node: &str, end: AttemptEnd, took: Duration) {
        let _ = (graph, node, end, took);
    }

    /// A failed task will be tried again after so long.
    fn retry(&self, graph: &str, node: &str, wait: Duration) {
        let _ = (graph, node, wait);
    }

    /// A task of a node with a limit has waited so long for its place.
    fn queue(&self, graph: &str, node: &str, waited: Duration) {
        let _ = (graph, node, waited);
    }

    /// A turn has ended. `outcome` is `done`, `completed`, `cancelled`, `drained` or the name of an error's variant.
    fn turn(&self, graph: &str, outcome: &'static str, took: Duration) {
        let _ = (graph, outcome, took);
    }
}

impl<M: Metrics + ?Sized> Metrics for std::sync::Arc<M> {
    fn super_step(&self, graph: &str, stays: u64) {
        (**self).super_step(graph, stays);
    }

    fn attempt(&self, graph: &str, node: &str, end: AttemptEnd, took: Duration) {
        (**self).attempt(graph, node, end, took);
    }

    fn retry(&self, graph: &str, node: &str, wait: Duration) {
        (**self).retry(graph, node, wait);
    }

    fn queue(&self, graph: &str, node: &str, waited: Duration) {
        (**self).queue(graph, node, waited);
    }

    fn turn(&self, graph: &str, outcome: &'static str, took: Duration) {
        (**self).turn(graph, outcome, took);
    }
}
