//! Every finished task is turned into tasks of the next super-step.

use std::sync::Arc;
use std::time::Duration;

use super::frontier::{Frontier, Slot};
use super::outcome::TaskOutcome;
use super::rank_of;
use super::routing::is_stay;
use crate::edge_kind::EdgeKind;
use crate::graph::{Exit, Inner};
use crate::reply::Reply;
use crate::state::State;
use crate::task::{Extra, Goto, Hop, NodeIx, Rare, START, Target};
use crate::task_id::TaskId;

/// From where tasks are scheduled: a task, or the beginning of a turn.
#[derive(Clone, Copy)]
struct Origin {
    node: Option<NodeIx>,
    task: TaskId,
}

impl<S: State> Frontier<S> {
    /// The first tasks of a turn. A router of START has chosen already.
    pub(super) fn enter(&mut self, graph: &Inner<S>, step: u64, chosen: Option<Goto>) {
        let origin = Origin { node: None, task: TaskId { step, rank: 0 } };
        match (&graph.start, chosen) {
            (Exit::Edges(targets), _) => {
                self.plain.reserve_exact(targets.len());
                targets.iter().for_each(|to| self.schedule(graph, origin, *to, EdgeKind::Static));
            }
            (Exit::Router { .. }, Some(goto)) => self.take(graph, origin, None, goto),
            (Exit::Router { .. }, None) => {}
        }
        self.form_frontier();
    }

    /// Turns finished tasks into the next frontier: plain tasks by node name, then sends by (sender, index).
    pub(super) fn plan_next(&mut self, graph: &Inner<S>, step: u64) {
        let empty = std::mem::take(&mut self.spent);
        let mut spent = std::mem::replace(&mut self.slots, empty);
        for (rank, slot) in spent.iter_mut().enumerate() {
            let Some(TaskOutcome::Done(outcome)) = &mut slot.done else { continue };
            let goto = std::mem::take(&mut outcome.goto);
            self.leave(graph, Origin { node: Some(slot.node), task: TaskId { step, rank: rank_of(rank) } }, slot, goto);
        }
        spent.clear();
        self.spent = spent;
        if self.completed || !self.left.is_empty() {
            self.plain.clear();
            self.sends.clear();
            self.abandon();
        }
        self.form_frontier();
    }

    fn leave(&mut self, graph: &Inner<S>, origin: Origin, slot: &mut Slot<S>, goto: Goto) {
        if !matches!(goto, Goto::Declared) {
            return self.take(graph, origin, Some(slot), goto);
        }
        match &graph.at(slot.node).exit {
            Exit::Edges(targets) => {
                targets.iter().for_each(|to| self.schedule(graph, origin, *to, EdgeKind::Static));
                for (join, bit) in &graph.at(slot.node).joins {
                    let to = Some(graph.joins[*join].to);
                    if self.joins.arrive(*join, *bit) {
                        self.schedule(graph, origin, to, EdgeKind::Join);
                    } else {
                        self.note(origin, to, EdgeKind::Join);
                    }
                }
            }
            // A router decides once for all tasks of its node; a stay of a node in no cluster is a stay of each task.
            Exit::Router { .. } => {
                let each = graph.at(slot.node).cluster.is_none();
                let now = self.pass;
                let (pass, chosen) = self.chosen(slot.node);
                if *pass == now {
                    let stays = each && chosen.as_ref().is_some_and(is_stay);
                    let goto = if stays { chosen.clone() } else { chosen.take() };
                    if let Some(goto) = goto {
                        self.take(graph, origin, Some(slot), goto);
                    }
                }
            }
        }
    }

    fn take(&mut self, graph: &Inner<S>, origin: Origin, slot: Option<&mut Slot<S>>, goto: Goto) {
        match goto {
            Goto::Declared => {}
            Goto::Go(to) if graph.leads_out(to.name) => {
                self.note(origin, None, EdgeKind::Go);
                self.left.push(Hop { to: Target::Named(to.name.into()), send: None });
            }
            Goto::Go(to) => {
                let own = origin.node.map(|node| graph.at(node));
                let exit = own.map_or(&graph.start, |vertex| &vertex.exit);
                let routed = match exit {
                    Exit::Router { targets, .. } => targets.iter().find(|(name, _)| std::ptr::eq(*name, to.name)),
                    Exit::Edges(_) => None,
                };
                let target = match (routed, own) {
                    (Some((_, target)), _) => *target,
                    (None, Some(vertex)) => graph.hop(&vertex.targets, to.name).flatten(),
                    (None, None) => graph.target(to.name).flatten(),
                };
                self.schedule(graph, origin, target, EdgeKind::Go);
            }
            Goto::Rare(rare) => match *rare {
                Rare::Many(hops, timeout) => self.fan_out(graph, origin, hops, timeout, EdgeKind::FanOut),
                Rare::Rescue(hop) => self.fan_out(graph, origin, vec![hop], None, EdgeKind::Error),
                Rare::Stay(feedback) => self.stay(graph, origin, slot, feedback),
                Rare::Direct(value) => self.reply(graph, origin, value, EdgeKind::Direct),
                Rare::Finish(value) => {
                    self.reply(graph, origin, value, EdgeKind::Finish);
                    self.completed = true;
                }
                Rare::Invalid(_) => {}
            },
        }
    }

    fn reply(&mut self, graph: &Inner<S>, origin: Origin, value: serde_json::Value, kind: EdgeKind) {
        self.note(origin, None, kind);
        let node = origin.node.map_or_else(|| START.into(), |node| graph.name_of(node).clone());
        self.replies.push(Reply { task: origin.task, node, value });
    }

    fn fan_out(&mut self, graph: &Inner<S>, origin: Origin, hops: Vec<Hop>, timeout: Option<Duration>, kind: EdgeKind) {
        self.sends.reserve(hops.len());
        let extra = timeout.map(|timeout| Arc::new(Extra { timeout: Some(timeout), ..Extra::default() }));
        let mut last: Option<(*const str, Option<NodeIx>)> = None;
        for hop in hops {
            let name = hop.to.name();
            let target = match last {
                Some((at, target)) if std::ptr::eq(at, name) => target,
                _ => graph.target(name).flatten(),
            };
            last = Some((std::ptr::from_ref(name), target));
            if target.is_none() && graph.leads_out(name) {
                self.note(origin, None, kind);
                self.left.push(Hop { to: Target::Named(name.into()), send: hop.send });
                continue;
            }
            match (hop.send, target) {
                (None, target) => self.schedule(graph, origin, target, EdgeKind::Go),
                (Some(_), None) => self.note(origin, None, kind),
                (Some(payload), Some(node)) => {
                    self.note(origin, target, kind);
                    self.enter_clusters(graph, origin.node, node);
                    let slot = Slot { extra: extra.clone(), ..Slot::sent(node, payload) };
                    if graph.at(node).deferred {
                        self.deferred.push(slot);
                    } else {
                        self.sends.push(slot);
                    }
                }
            }
        }
    }

    /// The entry of the innermost cluster again with the feedback; without a cluster the same task, payload kept.
    fn stay(
        &mut self,
        graph: &Inner<S>,
        origin: Origin,
        slot: Option<&mut Slot<S>>,
        feedback: Option<serde_json::Value>,
    ) {
        let (Some(node), Some(slot)) = (origin.node, slot) else { return };
        match graph.at(node).cluster {
            Some(cluster) => {
                let entry = graph.clusters[cluster].entry;
                self.note(origin, Some(entry), EdgeKind::Stay);
                // The entry may lie in a cluster within this one, which is then entered anew.
                self.enter_clusters(graph, origin.node, entry);
                let again = self.schedule_task(graph, entry);
                if let (Some(again), Some(feedback)) = (again, feedback) {
                    Arc::make_mut(again.extra.get_or_insert_default()).feedback.push(feedback);
                }
            }
            None => {
                self.note(origin, Some(node), EdgeKind::Stay);
                let timeout = slot.extra.as_ref().and_then(|extra| extra.timeout);
                let feedback: Vec<_> = feedback.into_iter().collect();
                let bare = feedback.is_empty() && timeout.is_none();
                let extra = (!bare).then(|| Arc::new(Extra { feedback, timeout }));
                let (stays, sent) = (slot.stays, slot.sent);
                let again = Slot { stays, sent, payload: slot.payload.take(), extra, ..Slot::plain(node) };
                match sent {
                    true if graph.at(node).deferred => self.deferred.push(again),
                    true => self.sends.push(again),
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
    #[inline]
    fn schedule(&mut self, graph: &Inner<S>, origin: Origin, target: Option<NodeIx>, kind: EdgeKind) {
        self.note(origin, target, kind);
        let Some(node) = target else { return };
        self.enter_clusters(graph, origin.node, node);
        self.schedule_task(graph, node);
    }

    #[inline]
    fn note(&mut self, origin: Origin, to: Option<NodeIx>, kind: EdgeKind) {
        if let Some(trace) = &mut self.trace {
            trace.take(origin.node, to, kind);
        }
    }

    /// The node's plain task among those of this pass, or among those that wait.
    fn schedule_task(&mut self, graph: &Inner<S>, node: NodeIx) -> Option<&mut Slot<S>> {
        if graph.at(node).deferred {
            let plain = self.deferred.partition_point(|slot| !slot.sent);
            let at = match self.deferred[..plain].binary_search_by_key(&node, |slot| slot.node) {
                Ok(at) => at,
                Err(at) => {
                    self.deferred.insert(at, Slot::plain(node));
                    at
                }
            };
            return self.deferred.get_mut(at);
        }
        if self.schedules_again(node) {
            return self.plain.iter_mut().find(|slot| slot.node == node);
        }
        self.plain.push(Slot::plain(node));
        self.plain.last_mut()
    }

    /// Entering a cluster from outside begins a new count of stays.
    #[inline]
    pub(super) fn enter_clusters(&mut self, graph: &Inner<S>, origin: Option<NodeIx>, node: NodeIx) {
        let mut around = graph.at(node).cluster;
        while let Some(cluster) = around {
            if origin.is_some_and(|from| graph.encloses(cluster, from)) {
                return;
            }
            self.stays[cluster] = 0;
            around = graph.clusters[cluster].parent;
        }
    }

    #[inline]
    fn form_frontier(&mut self) {
        if self.plain.is_empty() && self.sends.is_empty() {
            // Nothing else would run: what was deferred runs now.
            std::mem::swap(&mut self.slots, &mut self.deferred);
            return;
        }
        if self.plain.len() > 1 {
            self.plain.sort_unstable_by_key(|slot| slot.node);
        }
        std::mem::swap(&mut self.slots, &mut self.plain);
        self.slots.append(&mut self.sends);
    }
}
