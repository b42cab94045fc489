//! What routers say, and the limit of stays: asked and checked before anything moves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Machine;
use super::outcome::TaskOutcome;
use crate::error::{BoxError, NodeError};
use crate::graph::{Exit, RouterFn};
use crate::panic::panic_text;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::{Goto, NodeIx, Rare};

impl<S: State> Machine<S> {
    /// Routes from START, after the input was merged.
    pub(super) fn enter(&mut self) -> Result<(), RunError> {
        let chosen = match &self.graph.inner().start {
            Exit::Edges(_) => None,
            Exit::Router { choose, .. } => {
                let thread = self.thread();
                Some(ask(choose, &self.shared.state).map_err(|cause| RunError::Entry { thread, cause })?)
            }
        };
        self.frontier.pass += 1;
        self.check_width(chosen.as_ref().map_or(0, sends), true)?;
        self.frontier.enter(self.graph.inner(), self.step, chosen);
        Ok(())
    }

    /// Asks every router that is needed once, and checks the limit of stays, before anything moves.
    pub(super) fn route(&mut self) -> Result<(), RunError> {
        self.frontier.pass += 1;
        let mut sent = 0;
        for rank in 0..self.frontier.slots.len() {
            let slot = &self.frontier.slots[rank];
            let Some(TaskOutcome::Done(outcome)) = &slot.done else { continue };
            let (node, again, mut stays) = (slot.node, slot.sent, is_stay(&outcome.goto));
            sent += sends(&outcome.goto);
            if matches!(outcome.goto, Goto::Declared)
                && let Exit::Router { choose, .. } = &self.graph.inner().at(node).exit
            {
                if self.frontier.chosen(node).0 != self.frontier.pass {
                    let goto = ask(choose, &self.shared.state).map_err(|cause| self.router_error(node, cause))?;
                    sent += sends(&goto);
                    *self.frontier.chosen(node) = (self.frontier.pass, Some(goto));
                }
                stays = self.frontier.chosen(node).1.as_ref().is_some_and(is_stay);
            }
            if stays {
                // Without a cluster a task that was sent is sent again.
                sent += usize::from(again && self.graph.inner().at(node).cluster.is_none());
                self.count_stay(rank)?;
            }
        }
        self.check_width(sent, false)
    }

    pub(super) fn check_width(&self, sent: usize, entering: bool) -> Result<(), RunError> {
        let limit = self.options.fan_out_limit;
        if sent <= limit {
            return Ok(());
        }
        Err(RunError::FanOutLimit { thread: self.thread(), step: self.step, sent, limit, entering })
    }

    pub(super) fn router_error(&self, node: NodeIx, cause: BoxError) -> RunError {
        let node = self.graph.inner().name_of(node).clone();
        RunError::Router { thread: self.thread(), step: self.step, node, cause }
    }

    /// Counts one stay a super-step for each cluster, or for each task of a node in none.
    fn count_stay(&mut self, rank: usize) -> Result<(), RunError> {
        let node = self.frontier.slots[rank].node;
        let graph = self.graph.inner();
        let cluster = graph.at(node).cluster;
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
                node: graph.name_of(node).clone(),
                cluster: cluster.map(|cluster| graph.clusters[cluster].name.clone()),
                limit: self.options.stay_limit,
            });
        }
        *count += 1;
        self.report.stays += 1;
        Ok(())
    }
}

/// What a router chooses; a panic in it is an error.
#[inline]
pub(super) fn ask<S>(choose: &RouterFn<S>, state: &S) -> Result<Goto, BoxError> {
    let chosen = catch_unwind(AssertUnwindSafe(|| choose(state)));
    let goto = match chosen {
        Ok(chosen) => chosen.map_err(|error: NodeError| error.into_parts().1)?,
        Err(panic) => return Err(format!("it panicked: {}", panic_text(&*panic)).into()),
    };
    // Its targets are those of its route type, which `compile` has checked.
    match &goto {
        Goto::Declared => {
            Err("it chose nothing; return a variant, `#[route(end)]` marks one that ends the branch".into())
        }
        Goto::Go(_) => Ok(goto),
        Goto::Rare(rare) => match &**rare {
            Rare::Invalid(error) => Err(format!("its reply or feedback can't be written as JSON: {error}").into()),
            _ => Ok(goto),
        },
    }
}

/// How many tasks a move sends.
pub(super) fn sends(goto: &Goto) -> usize {
    match goto {
        Goto::Rare(rare) => match &**rare {
            Rare::Many(hops, _) => hops.iter().filter(|hop| hop.send.is_some()).count(),
            Rare::Rescue(_) => 1,
            _ => 0,
        },
        _ => 0,
    }
}

pub(super) fn is_stay(goto: &Goto) -> bool {
    matches!(goto, Goto::Rare(rare) if matches!(**rare, Rare::Stay(_)))
}
