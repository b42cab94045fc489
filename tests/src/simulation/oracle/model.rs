//! Where a thread stands, in plain values.

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::CheckpointId;

use crate::simulation::behave::Way;
use crate::simulation::plan::{GraphPlan, NAMES};
use crate::simulation::state::{FIELDS, Facts, Op};

/// A finished task: what it wrote, and where it goes.
pub(super) type Finished = (Vec<Op>, Way);

/// One task of a frontier.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub(super) node: usize,
    pub(super) attempt: u32,
    pub(super) stays: u32,
    pub(super) sent: bool,
    pub(super) payload: Option<u64>,
    pub(super) feedback: Vec<u64>,
    pub(super) done: Option<Finished>,
}

impl Task {
    pub(super) fn plain(node: usize) -> Self {
        Self { node, attempt: 1, ..Self::default() }
    }
}

/// A reply: super-step, rank, node (none is START) and value.
pub(super) type Said = (u64, u32, Option<usize>, u64);

/// The whole position and state.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) facts: Facts,
    pub(super) step: u64,
    pub(super) began: u64,
    /// The checkpoint that made the frontier; nothing while it is still to be made.
    pub(super) origin: Option<CheckpointId>,
    pub(super) tasks: Vec<Task>,
    /// Deferred: plain ones by node, then what was sent, in order.
    pub(super) late: BTreeMap<usize, Task>,
    pub(super) late_sends: Vec<Task>,
    /// The sources that arrived at each join.
    pub(super) arrived: Vec<BTreeSet<usize>>,
    pub(super) stays: Vec<u32>,
    pub(super) replies: Vec<Said>,
    pub(super) completed: bool,
    /// Who has finished since the last commit (none is the input), and the stored fields that they wrote.
    pub(super) wrote: BTreeMap<Option<usize>, BTreeSet<usize>>,
}

impl Model {
    pub(super) fn new(graph: &GraphPlan) -> Self {
        let (joins, clusters) = (graph.joins.len(), graph.clusters.len());
        Self { arrived: vec![BTreeSet::new(); joins], stays: vec![0; clusters], ..Self::default() }
    }

    pub(super) fn deferred(&self) -> impl Iterator<Item = &Task> {
        self.late.values().chain(&self.late_sends)
    }

    pub(super) fn is_unfinished(&self) -> bool {
        !self.tasks.is_empty() || self.deferred().next().is_some()
    }

    /// Notes what somebody wrote. What is transient is never stored.
    pub(super) fn note(&mut self, writer: Option<usize>, ops: &[Op]) {
        let fields = ops.iter().map(|op| op.target().0).filter(|field| FIELDS[*field] != "draft");
        self.wrote.entry(writer).or_default().extend(fields);
    }

    /// The nodes that have something to do, each once, in task order. Once every task is done only routing is left,
    /// and that of all of them.
    pub(super) fn pending(&self) -> Vec<String> {
        let routing = self.tasks.iter().all(|task| task.done.is_some());
        let open = self.tasks.iter().filter(|task| routing || task.done.is_none());
        let mut names: Vec<String> = Vec::new();
        for task in open.chain(self.deferred()) {
            let name = NAMES[task.node].to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Forgets all that is still to do.
    pub(super) fn drop_work(&mut self) {
        self.tasks.clear();
        self.late.clear();
        self.late_sends.clear();
        self.arrived.iter_mut().for_each(BTreeSet::clear);
        self.stays.fill(0);
    }

    /// Names of joins that wait, with the names of what they wait for.
    pub(super) fn waiting_joins(&self, graph: &GraphPlan) -> Vec<(String, Vec<String>)> {
        let waiting = graph.joins.iter().zip(&self.arrived).filter(|(_, arrived)| !arrived.is_empty());
        waiting
            .map(|(join, arrived)| {
                let missing = join.sources.iter().filter(|source| !arrived.contains(source));
                (NAMES[join.to].to_owned(), missing.map(|source| NAMES[*source].to_owned()).collect())
            })
            .collect()
    }
}
