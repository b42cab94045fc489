//! How a turn begins: with input, `proceed` or `abandon`, or not at all.

use graph_engine::Status;

use super::route::From;
use super::turn::Turn;
use super::verdict::{Stop, Verdict, failed};
use crate::simulation::behave::enter;
use crate::simulation::coverage::Construct;
use crate::simulation::trace::Intent;

impl Turn<'_, '_> {
    pub(super) fn begin(&mut self) -> Result<(), Stop> {
        if self.oracle.plan.store.is_none() && self.trace.intent != Intent::Run {
            return failed("no store");
        }
        if self.trace.noted.load_failed {
            return failed("store");
        }
        self.started = true;
        match self.trace.intent {
            Intent::Run | Intent::Proceed if self.model.completed => failed("completed"),
            Intent::Run if self.model.is_unfinished() => failed(format!("unfinished {:?}", self.model.pending())),
            Intent::Proceed if !self.model.is_unfinished() => failed("nothing to proceed"),
            Intent::Run => self.input(),
            Intent::Proceed => {
                if self.oracle.failed_before {
                    self.oracle.coverage.hit(Construct::ProceedAfterFailure);
                }
                self.model.stays.fill(0);
                for task in &mut self.model.tasks {
                    (task.stays, task.attempt) = (0, 1);
                }
                self.model.began = self.model.step;
                self.model.origin = self.frontier_made_by;
                self.commit()
            }
            Intent::Abandon if !self.model.is_unfinished() => Err(Stop::Ended(Verdict::Ended(Status::Done))),
            Intent::Abandon => {
                self.oracle.coverage.hit(Construct::Abandon);
                self.model.drop_work();
                self.model.origin = None;
                self.commit()?;
                Err(Stop::Ended(Verdict::Ended(Status::Done)))
            }
        }
    }

    fn input(&mut self) -> Result<(), Stop> {
        self.model.replies.clear();
        self.model.drop_work();
        self.model.began = self.model.step;
        let ops = self.oracle.plan.turns[usize::try_from(self.number).unwrap_or(0)].input.clone();
        if ops.iter().try_for_each(|op| self.model.facts.apply(op)).is_err() {
            self.oracle.coverage.hit(Construct::Refused);
            return failed("input");
        }
        self.model.note(None, &ops);
        let graph = self.oracle.graph;
        let chosen = match graph.start_router {
            true => match enter(graph, self.oracle.plan.seed, self.number, &self.model.facts.view()) {
                Ok(way) => Some(way),
                Err(_) => return failed("entry"),
            },
            false => None,
        };
        let from = From { node: None, rank: 0 };
        let mut routing = self.routing();
        match &chosen {
            Some(way) => routing.go(from, None, way),
            None => graph.start.iter().for_each(|to| routing.schedule(from, Some(*to))),
        }
        routing.form();
        self.model.origin = None;
        self.commit()
    }
}
