//! A simulated graph and its environment as data: what the generator makes, and both the engine's nodes and the oracle
//! read.

use super::state::Op;

/// The names of nodes; a node is known by its place here, so that name order is index order.
pub(super) const NAMES: [&str; 10] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];

/// A node, or the end of a branch.
pub(super) type Target = Option<usize>;

/// A whole graph.
#[derive(Clone, Debug, Default)]
pub(super) struct GraphPlan {
    /// In name order.
    pub nodes: Vec<NodePlan>,
    /// Where a turn begins.
    pub start: Vec<usize>,
    /// A router of START instead of edges; it leads to the first of them.
    pub start_router: bool,
    /// All joins.
    pub joins: Vec<JoinPlan>,
    /// When a task fails for good, its siblings are cancelled.
    pub cancels_siblings: bool,
    /// All clusters.
    pub clusters: Vec<ClusterPlan>,
    /// Finished tasks after which nothing goes back, stays or fans out any more; grows with each turn.
    pub cap: u64,
}

/// A join.
#[derive(Clone, Debug)]
pub(super) struct JoinPlan {
    /// What it waits for.
    pub sources: Vec<usize>,
    /// What then runs.
    pub to: usize,
}

/// A cluster.
#[derive(Clone, Debug)]
pub(super) struct ClusterPlan {
    /// Where a stay begins again.
    pub entry: usize,
    /// The cluster around it.
    pub parent: Option<usize>,
}

/// One node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodePlan {
    /// Its place in the order in which the graph flows: what has a higher one is ahead.
    pub order: usize,
    /// The innermost cluster.
    pub cluster: Option<usize>,
    /// It waits until nothing else would run.
    pub deferred: bool,
    /// Static edges; with a router there are none.
    pub edges: Vec<Target>,
    /// The router.
    pub router: Option<RouterPlan>,
    /// Nodes that its commands may name.
    pub commands: Vec<usize>,
    /// What else its commands may do.
    pub can: Moves,
    /// How often (percent) it returns a command where it may.
    pub eager: u64,
    /// Its retry policy.
    pub retry: Option<RetryPlan>,
    /// Its timeout in milliseconds.
    pub timeout: Option<u64>,
    /// How long it may be silent, in milliseconds.
    pub idle: Option<u64>,
    /// How many of its tasks run at once.
    pub limit: Option<usize>,
    /// The node that takes over from its failed tasks.
    pub on_error: Option<usize>,
    /// Its results are cached, by [`cache_key`](super::state::View::cache_key).
    pub cached: bool,
    /// It declares what it writes.
    pub declares_writes: bool,
    /// How it misbehaves.
    pub temper: Temper,
}

/// Moves beside targets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moves {
    /// `stay`
    pub stay: bool,
    /// `direct`
    pub direct: bool,
    /// `finish`
    pub finish: bool,
    /// Sends with payloads.
    pub send: bool,
}

/// A router between two nodes and the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouterPlan {
    /// The first of its targets.
    pub a: usize,
    /// The second.
    pub b: usize,
    /// What else it may choose.
    pub can: Moves,
    /// How often (percent of turns) it fails.
    pub fails: u64,
}

/// A retry policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPlan {
    /// All tries.
    pub attempts: u32,
    /// The first wait in milliseconds.
    pub base: u64,
    /// Whether waits double.
    pub doubles: bool,
    /// Percent of a wait that may be added.
    pub jitter: u64,
}

/// How a node misbehaves, in percent of its attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Temper {
    /// Fails so that a retry may help.
    pub retryable: u64,
    /// Fails for good.
    pub fatal: u64,
    /// Panics.
    pub panics: u64,
    /// Takes longer than any timeout.
    pub hangs: u64,
    /// Takes some time.
    pub slow: u64,
    /// Writes what the reducer refuses, or panics at.
    pub refused: u64,
    /// Writes the single-writer field.
    pub owns: u64,
    /// Overwrites a field past its rule.
    pub replaces: u64,
}

/// What happens around one turn.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnEnv {
    /// Cancels the turn after so many milliseconds.
    pub cancel_at: Option<u64>,
    /// Fails the turn after so many milliseconds.
    pub deadline: Option<u64>,
    /// Stops the turn at the next boundary after so many milliseconds.
    pub drain_at: Option<u64>,
    /// Drops the turn's future after so many milliseconds.
    pub drop_at: Option<u64>,
    /// This commit of the turn fails.
    pub commit_fault: Option<(usize, Fault)>,
    /// Loading the thread fails.
    pub load_fault: bool,
    /// A second reader that is slow and therefore cut off.
    pub slow_reader: bool,
    /// A reader that leaves after so many events.
    pub leaver: Option<usize>,
    /// The turn is streamed instead of awaited.
    pub streamed: bool,
    /// Somebody tries to run the busy thread.
    pub intruder: bool,
    /// What a new input writes.
    pub input: Vec<Op>,
    /// What is done with the thread, as a number from 0 to 99.
    pub choice: u64,
}

/// How a commit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing was stored.
    Refused,
    /// It was stored, but the answer was lost.
    Lost,
}

/// Everything that a seed stands for.
#[derive(Clone, Debug)]
pub(super) struct SeedPlan {
    /// The seed.
    pub seed: u64,
    /// The graph.
    pub graph: GraphPlan,
    /// What happens around each turn, and how many turns there are.
    pub turns: Vec<TurnEnv>,
    /// Whether there is a store, and whether it says that it outlives the process.
    pub store: Option<bool>,
    /// Milliseconds that a commit takes.
    pub commit_delay: u64,
    /// The runner's limits.
    pub step_limit: u64,
    /// See `step_limit`.
    pub stay_limit: u32,
}
