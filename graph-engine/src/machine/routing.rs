//! What routers say, and the limit of stays: asked and checked before anything moves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Machine;
use super::outcome::TaskOutcome;
use crate::error::{BoxError, NodeError};
use crate::graph::{Exit, Hops, RouterFn};
use crate::panic::panic_text;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::{Goto, NodeIx, Rare};

impl<S: State> Machine<S> {
    /// Routes from START, after the input was merged.
    pub(super) fn enter(&mut self) -> Result<(), RunError> {
        let chosen = match &self.graph.inner().start {
            Exit::Edges(_) => None,
            Exit::Router { choose, targets } => {
                let thread = self.thread();
                Some(self.ask(choose, targets).map_err(|source| RunError::Entry { thread, source })?)
            }
        };
        self.frontier.pass += 1;
        self.frontier.enter(self.graph.inner(), self.step, chosen);
        Ok(())
    }

    /// Asks every router that is needed once, and checks the limit of stays, before anything moves.
    pub(super) fn route(&mut self) -> Result<(), RunError> {
        self.frontier.pass += 1;
        for rank in 0..self.frontier.slots.len() {
            let slot = &self.frontier.slots[rank];
            let Some(TaskOutcome::Done(outcome)) = &slot.done else { continue };
            let (node, mut stays) = (slot.node, is_stay(&outcome.goto));
            if matches!(outcome.goto, Goto::Declared)
                && let Exit::Router { choose, targets } = &self.graph.inner().at(node).exit
            {
                if self.frontier.chosen[node.at()].0 != self.frontier.pass {
                    let goto = self.ask(choose, targets).map_err(|source| self.router_error(node, source))?;
                    self.frontier.chosen[node.at()] = (self.frontier.pass, Some(goto));
                }
                stays = self.frontier.chosen[node.at()].1.as_ref().is_some_and(is_stay);
            }
            if stays {
                self.count_stay(rank)?;
            }
        }
        Ok(())
    }

    fn router_error(&self, node: NodeIx, source: BoxError) -> RunError {
        let node = self.graph.inner().name_of(node).clone();
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

pub(super) fn is_stay(goto: &Goto) -> bool {
    matches!(goto, Goto::Rare(rare) if matches!(**rare, Rare::Stay(_)))
}
