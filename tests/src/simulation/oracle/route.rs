//! From finished tasks to the next frontier, the slow way.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Model, Task};
use crate::simulation::behave::Way;
use crate::simulation::coverage::{Construct, Coverage};
use crate::simulation::plan::{GraphPlan, Target};

/// What is being scheduled.
pub(super) struct Routing<'a> {
    pub(super) graph: &'a GraphPlan,
    pub(super) model: &'a mut Model,
    pub(super) coverage: &'a mut Coverage,
    /// Per join: the steps at which its sources arrived, and how often it fired in this turn.
    pub(super) fired: &'a mut BTreeMap<usize, (BTreeSet<u64>, u32)>,
    pub(super) plain: BTreeMap<usize, Task>,
    pub(super) sends: Vec<Task>,
}

/// Who schedules: a task of a node, or the beginning of the turn.
#[derive(Clone, Copy)]
pub(super) struct From {
    pub(super) node: Option<usize>,
    pub(super) rank: u32,
}

impl Routing<'_> {
    /// All clusters around a node, the innermost first.
    fn around(&self, node: usize) -> Vec<usize> {
        std::iter::successors(self.graph.nodes[node].cluster, |at| self.graph.clusters[*at].parent).collect()
    }

    /// Clusters that are entered from outside begin a new count of stays.
    fn enter(&mut self, from: From, to: usize) {
        let left: Vec<usize> = from.node.map_or_else(Vec::new, |node| self.around(node));
        for cluster in self.around(to) {
            if !left.contains(&cluster) {
                self.model.stays[cluster] = 0;
            }
        }
    }

    fn is_deferred(&self, node: usize) -> bool {
        self.graph.nodes[node].deferred
    }

    /// The one plain task of a node.
    fn plain_task(&mut self, node: usize) -> &mut Task {
        let tasks = if self.is_deferred(node) { &mut self.model.late } else { &mut self.plain };
        tasks.entry(node).or_insert_with(|| Task::plain(node))
    }

    fn send(&mut self, task: Task) {
        if self.is_deferred(task.node) {
            self.coverage.hit(Construct::SentToDeferred);
            self.model.late_sends.push(task);
        } else {
            self.sends.push(task);
        }
    }

    pub(super) fn schedule(&mut self, from: From, to: Target) {
        let Some(node) = to else { return };
        self.enter(from, node);
        let late = |node: Option<usize>| node.is_some_and(|node| self.is_deferred(node));
        if late(from.node) && late(to) && from.node != to {
            self.coverage.hit(Construct::DeferredToDeferred);
        }
        self.plain_task(node);
    }

    /// A finished task leaves its node.
    pub(super) fn leave(&mut self, rank: u32, task: &Task, way: &Way, chosen: &mut BTreeMap<usize, Option<Way>>) {
        let from = From { node: Some(task.node), rank };
        if *way != Way::Declared {
            return self.go(from, Some(task), way);
        }
        let plan = &self.graph.nodes[task.node];
        if plan.router.is_none() {
            for to in plan.edges.clone() {
                self.schedule(from, to);
            }
            return self.arrive(from, task.node);
        }
        // A router decides once for all tasks of its node; a stay of a node in no cluster is one of each task.
        let Some(choice) = chosen.get_mut(&task.node) else { return };
        let each = plan.cluster.is_none() && matches!(choice, Some(Way::Stay(_)));
        let choice = if each { choice.clone() } else { choice.take() };
        if let Some(choice) = choice {
            self.go(from, Some(task), &choice);
        }
    }

    fn arrive(&mut self, from: From, node: usize) {
        for (at, join) in self.graph.joins.iter().enumerate().filter(|(_, join)| join.sources.contains(&node)) {
            let (steps, times) = self.fired.entry(at).or_default();
            steps.insert(self.model.step);
            self.model.arrived[at].insert(node);
            if self.model.arrived[at].len() == join.sources.len() {
                self.model.arrived[at].clear();
                self.coverage.hit(Construct::Join);
                if steps.len() > 1 {
                    self.coverage.hit(Construct::UnequalJoin);
                }
                steps.clear();
                *times += 1;
                if *times > 1 {
                    self.coverage.hit(Construct::JoinInLoop);
                }
                self.schedule(from, Some(join.to));
            }
        }
    }

    pub(super) fn go(&mut self, from: From, task: Option<&Task>, way: &Way) {
        match way {
            Way::Declared => {}
            Way::Hops(hops) => {
                for hop in hops {
                    match (hop.send, hop.to) {
                        (None, to) => self.hop(from, to),
                        (Some(_), None) => {}
                        (Some(payload), Some(node)) => {
                            self.enter(from, node);
                            self.coverage.hit(Construct::FanOut);
                            if task.is_some_and(|task| task.sent) {
                                self.coverage.hit(Construct::NestedFanOut);
                            }
                            self.send(Task { sent: true, payload, ..Task::plain(node) });
                        }
                    }
                }
            }
            Way::Rescue(node, payload) => {
                self.coverage.hit(Construct::ErrorRoute);
                self.enter(from, *node);
                self.send(Task { sent: true, payload: Some(*payload), ..Task::plain(*node) });
            }
            Way::Stay(feedback) => self.stay(from, task, *feedback),
            Way::Direct(value) => {
                self.coverage.hit(Construct::Direct);
                self.model.replies.push((self.model.step, from.rank, from.node, *value));
            }
            Way::Finish(value) => {
                self.coverage.hit(Construct::Finish);
                self.model.replies.push((self.model.step, from.rank, from.node, *value));
                self.model.completed = true;
            }
        }
    }

    fn hop(&mut self, from: From, to: Target) {
        let order = |node: usize| self.graph.nodes[node].order;
        if let (Some(node), Some(to)) = (from.node, to)
            && order(to) <= order(node)
        {
            self.coverage.hit(Construct::Loop);
        }
        self.schedule(from, to);
    }

    fn stay(&mut self, from: From, task: Option<&Task>, feedback: u64) {
        let (Some(node), Some(task)) = (from.node, task) else { return };
        if let Some(cluster) = self.graph.nodes[node].cluster {
            self.coverage.hit(Construct::StayInCluster);
            let entry = self.graph.clusters[cluster].entry;
            self.enter(from, entry);
            self.plain_task(entry).feedback.push(feedback);
            return;
        }
        self.coverage.hit(Construct::StayAlone);
        let again = Task { attempt: 1, feedback: vec![feedback], done: None, ..task.clone() };
        if task.sent {
            self.send(again);
        } else {
            *self.plain_task(node) = again;
        }
    }

    /// What was scheduled is the next frontier; if there is nothing, what was deferred.
    pub(super) fn form(self) {
        let Self { model, plain, sends, coverage, .. } = self;
        if model.completed {
            return model.drop_work();
        }
        model.tasks = plain.into_values().chain(sends).collect();
        if model.tasks.is_empty() {
            let late = std::mem::take(&mut model.late).into_values();
            model.tasks = late.chain(std::mem::take(&mut model.late_sends)).collect();
            if !model.tasks.is_empty() {
                coverage.hit(Construct::Deferred);
            }
        }
    }
}
