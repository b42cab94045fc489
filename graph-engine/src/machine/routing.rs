//! Where tasks lead: routers are asked first, then every finished task is turned into tasks of the next super-step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::frontier::Slot;
use super::outcome::TaskOutcome;
use super::{Machine, rank_of};
use crate::error::{BoxError, NodeError};
use crate::graph::{Exit, Graph, Hops, RouterFn};
use crate::name::Name;
use crate::panic::panic_text;
use crate::reply::Reply;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::{Extra, Goto, Hop, NodeIx, Rare, START};
use crate::task_id::TaskId;

/// From where tasks are scheduled: the beginning of a turn or a task.
#[derive(Clone, Copy)]
struct Origin {
    node: Option<NodeIx>,
    rank: usize,
}

impl<S: State> Machine<S> {
    /// Routes from START, after the input was merged.
    pub(super) fn enter(&mut self) -> Result<(), RunError> {
        self.frontier.pass += 1;
        let graph = self.graph.clone();
        let origin = Origin { node: None, rank: 0 };
        match &graph.inner().start {
            Exit::Edges(targets) => targets.iter().for_each(|to| self.schedule(&graph, origin, *to)),
            Exit::Router { choose, targets: declared } => {
                let thread = self.thread();
                let goto = self.ask(choose, declared).map_err(|source| RunError::Entry { thread, source })?;
                self.follow(&graph, origin, goto);
            }
        }
        self.form_frontier();
        Ok(())
    }

    /// Asks every router that is needed once, and checks the limit of stays, before anything moves.
    pub(super) fn route(&mut self) -> Result<(), RunError> {
        self.frontier.pass += 1;
        let graph = self.graph.clone();
        for rank in 0..self.frontier.slots.len() {
            let slot = &self.frontier.slots[rank];
            let Some(TaskOutcome::Done(outcome)) = &slot.done else { continue };
            let node = slot.node;
            if matches!(outcome.goto, Goto::Declared)
                && let Exit::Router { choose, targets } = &graph.inner().at(node).exit
            {
                if self.frontier.chosen[node.at()].0 != self.frontier.pass {
                    let name = graph.inner().name_of(node);
                    let goto = self.ask(choose, targets).map_err(|source| self.router_error(name.clone(), source))?;
                    self.frontier.chosen[node.at()] = (self.frontier.pass, Some(goto));
                }
                if self.frontier.chosen[node.at()].1.as_ref().is_some_and(is_stay) {
                    self.count_stay(&graph, rank)?;
                }
            } else if is_stay(&outcome.goto) {
                self.count_stay(&graph, rank)?;
            }
        }
        Ok(())
    }

    fn router_error(&self, node: Name, source: BoxError) -> RunError {
        RunError::Router { thread: self.thread(), step: self.step, node, source }
    }

    fn ask(&self, choose: &RouterFn<S>, declared: &Hops) -> Result<Goto, BoxError> {
        let chosen = catch_unwind(AssertUnwindSafe(|| choose(&self.shared.state)));
        let goto = match chosen {
            Ok(chosen) => chosen.map_err(|error: NodeError| error.into_parts().1)?,
            Err(panic) => return Err(format!("it panicked: {}", panic_text(&*panic)).into()),
        };
        let unknown = |name: &str| format!("it chose `{name}`, which is no node").into();
        match &goto {
            Goto::Declared => Err("it chose nothing; return a target, or END".into()),
            Goto::Go(to) if self.graph.inner().hop(declared, to.name).is_none() => Err(unknown(to.name)),
            Goto::Rare(rare) => match &**rare {
                Rare::Invalid(error) => Err(format!("its reply or feedback can't be written as JSON: {error}").into()),
                Rare::Many(hops) => match hops.iter().find(|hop| self.graph.inner().target(hop.to.name()).is_none()) {
                    Some(hop) => Err(unknown(hop.to.name())),
                    None => Ok(goto),
                },
                Rare::Stay(_) | Rare::Direct(_) | Rare::Finish(_) => Ok(goto),
            },
            Goto::Go(_) => Ok(goto),
        }
    }

    /// Counts one stay a super-step for each cluster, or for each task of a node in none.
    fn count_stay(&mut self, graph: &Graph<S>, rank: usize) -> Result<(), RunError> {
        let node = self.frontier.slots[rank].node;
        let cluster = graph.inner().at(node).cluster;
        let count = match cluster {
            Some(cluster) => {
                if self.frontier.stayed[cluster] == self.frontier.pass {
                    return Ok(());
                }
                self.frontier.stayed[cluster] = self.frontier.pass;
                &mut self.frontier.stays[cluster]
            }
            None => &mut self.frontier.slots[rank].stays,
        };
        if *count >= self.options.stay_limit {
            return Err(RunError::StayLimit {
                thread: self.thread(),
                step: self.step,
                node: graph.inner().name_of(node).clone(),
                cluster: cluster.map(|cluster| graph.inner().clusters[cluster].name.clone()),
                limit: self.options.stay_limit,
            });
        }
        *count += 1;
        self.report.stays += 1;
        Ok(())
    }

    /// Turns finished tasks into the next frontier: plain tasks by node name, then sends by (sender, index).
    pub(super) fn plan_next(&mut self) {
        let graph = self.graph.clone();
        let empty = std::mem::take(&mut self.frontier.spent);
        let mut spent = std::mem::replace(&mut self.frontier.slots, empty);
        for (rank, slot) in spent.iter_mut().enumerate() {
            let Some(TaskOutcome::Done(outcome)) = &mut slot.done else { continue };
            let goto = std::mem::take(&mut outcome.goto);
            self.leave(&graph, rank, slot, goto);
        }
        spent.clear();
        self.frontier.spent = spent;
        if self.frontier.completed {
            self.frontier.plain.clear();
            self.frontier.sends.clear();
            self.frontier.abandon();
        }
        self.form_frontier();
    }

    fn leave(&mut self, graph: &Graph<S>, rank: usize, slot: &mut Slot<S>, goto: Goto) {
        let origin = Origin { node: Some(slot.node), rank };
        if !matches!(goto, Goto::Declared) {
            return self.take(graph, origin, Some(slot), goto);
        }
        match &graph.inner().at(slot.node).exit {
            Exit::Edges(targets) => {
                targets.iter().for_each(|to| self.schedule(graph, origin, *to));
                for (join, bit) in &graph.inner().at(slot.node).joins {
                    if self.frontier.joins.arrive(*join, *bit) {
                        self.schedule(graph, origin, Some(graph.inner().joins[*join].to));
                    }
                }
            }
            // A router decides once for all tasks of its node; a stay of a node in no cluster is a stay of each task.
            Exit::Router { .. } => {
                let each = graph.inner().at(slot.node).cluster.is_none();
                let (pass, chosen) = &mut self.frontier.chosen[slot.node.at()];
                if *pass == self.frontier.pass {
                    let stays = each && chosen.as_ref().is_some_and(is_stay);
                    let goto = if stays { chosen.clone() } else { chosen.take() };
                    if let Some(goto) = goto {
                        self.take(graph, origin, Some(slot), goto);
                    }
                }
            }
        }
    }

    fn follow(&mut self, graph: &Graph<S>, origin: Origin, goto: Goto) {
        self.take(graph, origin, None, goto);
    }

    fn take(&mut self, graph: &Graph<S>, origin: Origin, slot: Option<&mut Slot<S>>, goto: Goto) {
        match goto {
            Goto::Declared => {}
            Goto::Go(to) => {
                let inner = graph.inner();
                let own = origin.node.map(|node| inner.at(node));
                let exit = own.map_or(&inner.start, |vertex| &vertex.exit);
                let routed = match exit {
                    Exit::Router { targets, .. } => targets.iter().find(|(name, _)| std::ptr::eq(*name, to.name)),
                    Exit::Edges(_) => None,
                };
                let target = match (routed, own) {
                    (Some((_, target)), _) => *target,
                    (None, Some(vertex)) => inner.hop(&vertex.targets, to.name).flatten(),
                    (None, None) => inner.target(to.name).flatten(),
                };
                self.schedule(graph, origin, target);
            }
            Goto::Rare(rare) => match *rare {
                Rare::Many(hops) => self.fan_out(graph, origin, hops),
                Rare::Stay(feedback) => self.stay(graph, origin, slot, feedback),
                Rare::Direct(value) => self.reply(graph, origin, value),
                Rare::Finish(value) => {
                    self.reply(graph, origin, value);
                    self.frontier.completed = true;
                }
                Rare::Invalid(_) => {}
            },
        }
    }

    fn reply(&mut self, graph: &Graph<S>, origin: Origin, value: serde_json::Value) {
        let node = origin.node.map_or_else(|| START.into(), |node| graph.inner().name_of(node).clone());
        self.frontier.replies.push(Reply { task: TaskId { step: self.step, rank: rank_of(origin.rank) }, node, value });
    }

    fn fan_out(&mut self, graph: &Graph<S>, origin: Origin, hops: Vec<Hop>) {
        self.frontier.sends.reserve(hops.len());
        let mut last: Option<(*const str, Option<NodeIx>)> = None;
        for hop in hops {
            let name = hop.to.name();
            let target = match last {
                Some((at, target)) if std::ptr::eq(at, name) => target,
                _ => graph.inner().target(name).flatten(),
            };
            last = Some((std::ptr::from_ref(name), target));
            match (hop.send, target) {
                (None, target) => self.schedule(graph, origin, target),
                (Some(_), None) => {}
                (Some(payload), Some(node)) => {
                    self.enter_clusters(graph, origin, node);
                    let slot = Slot::sent(node, payload);
                    if graph.inner().at(node).deferred {
                        self.frontier.deferred.push(slot);
                    } else {
                        self.frontier.sends.push(slot);
                    }
                }
            }
        }
    }

    /// The entry of the innermost cluster again with the feedback; without a cluster the same task, payload kept.
    fn stay(
        &mut self,
        graph: &Graph<S>,
        origin: Origin,
        slot: Option<&mut Slot<S>>,
        feedback: Option<serde_json::Value>,
    ) {
        let (Some(node), Some(slot)) = (origin.node, slot) else { return };
        match graph.inner().at(node).cluster {
            Some(cluster) => {
                let entry = graph.inner().clusters[cluster].entry;
                // The entry may lie in a cluster within this one, which is then entered anew.
                self.enter_clusters(graph, origin, entry);
                let again = self.schedule_task(graph, entry);
                if let (Some(again), Some(feedback)) = (again, feedback) {
                    Arc::make_mut(again.extra.get_or_insert_default()).feedback.push(feedback);
                }
            }
            None => {
                let extra = feedback.map(|feedback| Arc::new(Extra { feedback: vec![feedback] }));
                let (stays, sent) = (slot.stays, slot.sent);
                let again = Slot { stays, sent, payload: slot.payload.take(), extra, ..Slot::plain(node) };
                match sent {
                    true if graph.inner().at(node).deferred => self.frontier.deferred.push(again),
                    true => self.frontier.sends.push(again),
                    false => {
                        if let Some(task) = self.schedule_task(graph, node) {
                            *task = again;
                        }
                    }
                }
            }
        }
    }

    /// A plain target; several of one node become one task. The end schedules nothing.
    fn schedule(&mut self, graph: &Graph<S>, origin: Origin, target: Option<NodeIx>) {
        let Some(node) = target else { return };
        self.enter_clusters(graph, origin, node);
        self.schedule_task(graph, node);
    }

    /// The node's plain task among those of this pass, or among those that wait.
    fn schedule_task(&mut self, graph: &Graph<S>, node: NodeIx) -> Option<&mut Slot<S>> {
        let frontier = &mut self.frontier;
        if graph.inner().at(node).deferred {
            let plain = frontier.deferred.partition_point(|slot| !slot.sent);
            let at = match frontier.deferred[..plain].binary_search_by_key(&node, |slot| slot.node) {
                Ok(at) => at,
                Err(at) => {
                    frontier.deferred.insert(at, Slot::plain(node));
                    at
                }
            };
            return frontier.deferred.get_mut(at);
        }
        let before = std::mem::replace(&mut frontier.scheduled[node.at()], frontier.pass);
        if before == frontier.pass {
            return frontier.plain.iter_mut().find(|slot| slot.node == node);
        }
        frontier.plain.push(Slot::plain(node));
        frontier.plain.last_mut()
    }

    /// Entering a cluster from outside begins a new count of stays.
    fn enter_clusters(&mut self, graph: &Graph<S>, origin: Origin, node: NodeIx) {
        let inner = graph.inner();
        let mut around = inner.at(node).cluster;
        while let Some(cluster) = around {
            if origin.node.is_some_and(|from| inner.encloses(cluster, from)) {
                return;
            }
            self.frontier.stays[cluster] = 0;
            around = inner.clusters[cluster].parent;
        }
    }

    fn form_frontier(&mut self) {
        let frontier = &mut self.frontier;
        if frontier.plain.is_empty() && frontier.sends.is_empty() {
            // Nothing else would run: what was deferred runs now.
            std::mem::swap(&mut frontier.slots, &mut frontier.deferred);
            return;
        }
        if frontier.plain.len() > 1 {
            frontier.plain.sort_unstable_by_key(|slot| slot.node);
        }
        std::mem::swap(&mut frontier.slots, &mut frontier.plain);
        frontier.slots.append(&mut frontier.sends);
    }
}

fn is_stay(goto: &Goto) -> bool {
    matches!(goto, Goto::Rare(rare) if matches!(**rare, Rare::Stay(_)))
}
