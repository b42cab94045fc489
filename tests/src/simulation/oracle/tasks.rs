//! What became of the tasks of a super-step, by what their nodes noted, and whether it was legal.

use graph_engine::{FaultKind, RunError};

use super::turn::Turn;
use super::verdict::{Stop, failure_text};
use super::{holds, same};
use crate::simulation::behave::{Act, Call, End, Way, behave};
use crate::simulation::coverage::Construct;
use crate::simulation::node::kind_number;
use crate::simulation::plan::NAMES;
use crate::simulation::rng::mix;
use crate::simulation::world::Record;

/// What became of the tasks.
#[derive(Debug, Default)]
pub(super) struct Became {
    pub(super) failures: Vec<String>,
    pub(super) cancelled: bool,
    /// The turn was dropped before they were over.
    pub(super) open: bool,
}

/// What became of one attempt.
pub(super) enum Fate {
    Done,
    Failed(FaultKind),
    Cancelled,
    Dropped,
}

impl Turn<'_, '_> {
    /// Runs every task of the frontier that is not done.
    pub(super) fn run_tasks(&mut self) -> Result<Became, Stop> {
        let mut became = Became::default();
        let stop = self.siblings_stop();
        self.check_places()?;
        for rank in 0..self.model.tasks.len() {
            if self.model.tasks[rank].done.is_none() {
                self.tasks += 1;
                self.run_task(rank, stop, &mut became)?;
            }
        }
        Ok(became)
    }

    fn run_task(&mut self, rank: usize, stop: Option<u64>, became: &mut Became) -> Result<(), Stop> {
        let key = (self.model.step, u32::try_from(rank).unwrap_or(u32::MAX));
        let records = self.records.remove(&key).unwrap_or_default();
        let node = self.model.tasks[rank].node;
        let retry = self.oracle.graph.nodes[node].retry;
        if self.take_cached(rank, &records)? {
            return Ok(());
        }
        for (at, record) in records.iter().enumerate() {
            let act = self.check_record(rank, record)?;
            if let (Some(previous), Some(retry)) = (at.checked_sub(1).and_then(|at| records.get(at)), retry) {
                self.check_wait(previous, record, retry)?;
            }
            let fate = self.fate(record, &act, stop)?;
            let task = &self.model.tasks[rank];
            match fate {
                Fate::Done => {
                    if let End::Done(ops, way) = act.end {
                        self.note_result(node, &(ops.clone(), way.clone()));
                        self.oracle.known.insert(key, (ops.clone(), way.clone()));
                        self.model.tasks[rank].done = Some((ops, way));
                    }
                    return Ok(());
                }
                Fate::Failed(kind) => {
                    let retryable = matches!(kind, FaultKind::Retryable | FaultKind::TimedOut | FaultKind::Idle);
                    let more = retryable && retry.is_some_and(|retry| task.attempt < retry.attempts);
                    // Once siblings are being cancelled nothing is tried again.
                    let stopped = stop.is_some_and(|stop| record.ended.is_some_and(|(ended, _)| ended >= stop));
                    let last = at + 1 == records.len();
                    if more && !(stopped && last && self.gave_up(rank)) {
                        self.model.tasks[rank].attempt += 1;
                        continue;
                    }
                    // Nothing may follow: the next record would be an attempt beyond the limit.
                    same("I6 the attempts of a task", &(at + 1), &records.len())?;
                    self.fail(rank, kind, became);
                    return Ok(());
                }
                Fate::Cancelled => became.cancelled = true,
                Fate::Dropped => became.open = true,
            }
            return Ok(());
        }
        // It never began, or it waits for its next attempt.
        match self.trace.cancelled.or(stop) {
            Some(_) => became.cancelled = true,
            None if self.trace.dropped => became.open = true,
            None => return Err(Stop::Broken(format!("task {key:?} of {} didn't run", NAMES[node]))),
        }
        if stop.is_some() {
            self.oracle.coverage.hit(Construct::SiblingsCancelled);
        }
        Ok(())
    }

    /// The task has failed for good: another node takes over, or the turn fails.
    fn fail(&mut self, rank: usize, kind: FaultKind, became: &mut Became) {
        let task = &mut self.model.tasks[rank];
        if let Some(handler) = self.oracle.graph.nodes[task.node].on_error {
            let words = [task.node as u64, self.model.step, rank as u64, task.attempt.into(), kind_number(kind)];
            task.done = Some((Vec::new(), Way::Rescue(handler, mix(&words))));
            self.rescued += 1;
            return;
        }
        became.failures.push(failure_text(&format!("{}@{rank}", NAMES[task.node]), task.attempt, kind));
    }

    /// Whether a failure in the very moment in which the step was stopped was still to be tried again: either may be,
    /// so what was stored or reported decides.
    fn gave_up(&self, rank: usize) -> bool {
        let task = &self.model.tasks[rank];
        if let Some(commit) = self.trace.noted.commits.get(self.commits) {
            let position: serde_json::Value = serde_json::from_str(&commit.position).unwrap_or_default();
            let row = &position["next"][rank];
            if row.get("done").is_some() {
                return true;
            }
            return row["attempt"].as_u64().unwrap_or(1) == u64::from(task.attempt);
        }
        match &self.trace.result {
            Some(Err((_, Some(error), _))) => match &**error {
                RunError::Step { failures, .. } => failures.iter().any(|failure| failure.task.id.rank as usize == rank),
                _ => true,
            },
            _ => true,
        }
    }

    /// The node was given what belongs to the task.
    fn check_record(&self, rank: usize, record: &Record) -> Result<Act, String> {
        let task = &self.model.tasks[rank];
        let expected = Call {
            turn: self.number,
            step: self.model.step,
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
            attempt: task.attempt,
            node: task.node,
            view: self.model.facts.view(),
            payload: task.payload,
            feedback: task.feedback.clone(),
        };
        same("what the node was given", &expected, &record.call)?;
        let made = self.model.step - self.model.began;
        let remaining = self.oracle.plan.step_limit.saturating_sub(made + 1);
        same("the remaining steps", &remaining, &record.remaining)?;
        if let Some(origin) = self.frontier_made_by {
            let thread = crate::simulation::session::THREAD;
            let key = format!("{thread}/{origin}/{}.{rank}", self.model.step);
            same("the idempotency key", &key, &record.key)?;
        }
        holds(record.ended.is_some(), || format!("I10 {record:?} never ended"))?;
        Ok(behave(self.oracle.graph, self.oracle.plan.seed, &record.call))
    }
}
