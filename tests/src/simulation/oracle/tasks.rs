//! What became of the tasks of a super-step, by what their nodes noted, and whether it was legal.

use graph_engine::{EventKind, FaultKind, TaskId};

use super::turn::Turn;
use super::verdict::{Stop, failure_text};
use super::{holds, same};
use crate::simulation::behave::{Act, Call, End, behave};
use crate::simulation::coverage::Construct;
use crate::simulation::plan::{NAMES, RetryPlan};
use crate::simulation::world::{Ending, Record};

/// What became of the tasks.
#[derive(Debug, Default)]
pub(super) struct Became {
    pub(super) failures: Vec<String>,
    pub(super) cancelled: bool,
    /// The turn was dropped before they were over.
    pub(super) open: bool,
}

/// What became of one attempt.
enum Fate {
    Done,
    Failed(FaultKind),
    Cancelled,
    Dropped,
}

impl Turn<'_, '_> {
    /// Runs every task of the frontier that is not done.
    pub(super) fn run_tasks(&mut self) -> Result<Became, Stop> {
        let mut became = Became::default();
        for rank in 0..self.model.tasks.len() {
            if self.model.tasks[rank].done.is_none() {
                self.tasks += 1;
                self.run_task(rank, &mut became)?;
            }
        }
        Ok(became)
    }

    fn run_task(&mut self, rank: usize, became: &mut Became) -> Result<(), Stop> {
        let key = (self.model.step, u32::try_from(rank).unwrap_or(u32::MAX));
        let records = self.records.remove(&key).unwrap_or_default();
        let node = self.model.tasks[rank].node;
        let retry = self.oracle.graph.nodes[node].retry;
        let mut previous: Option<&Record> = None;
        for record in records {
            let act = self.check_record(rank, record)?;
            if let (Some(previous), Some(retry)) = (previous, retry) {
                check_wait(previous, record, retry)?;
                self.oracle.coverage.hit(Construct::Retry);
                if retry.jitter > 0 && retry.base > 0 {
                    self.oracle.coverage.hit(Construct::JitteredRetry);
                }
            }
            previous = Some(record);
            let fate = self.fate(record, &act)?;
            let task = &mut self.model.tasks[rank];
            match fate {
                Fate::Done => {
                    if let End::Done(ops, way) = act.end {
                        self.oracle.known.insert(key, (ops.clone(), way.clone()));
                        self.model.tasks[rank].done = Some((ops, way));
                    }
                    return Ok(());
                }
                Fate::Failed(kind) => {
                    let retryable = matches!(kind, FaultKind::Retryable | FaultKind::TimedOut);
                    if retryable && retry.is_some_and(|retry| task.attempt < retry.attempts) {
                        task.attempt += 1;
                        continue;
                    }
                    let name = format!("{}@{rank}", NAMES[node]);
                    became.failures.push(failure_text(&name, task.attempt, kind));
                    // Nothing may follow: the next record would be an attempt beyond the limit.
                    let attempts = records_of(&self.trace.records, key);
                    same("I6 the attempts of a task", &(task.attempt as usize), &attempts)?;
                    return Ok(());
                }
                Fate::Cancelled => became.cancelled = true,
                Fate::Dropped => became.open = true,
            }
            return Ok(());
        }
        // It never began, or it waits for its next attempt.
        match self.trace.cancelled {
            Some(_) => became.cancelled = true,
            None if self.trace.dropped => became.open = true,
            None => return Err(Stop::Broken(format!("task {key:?} of {} didn't run", NAMES[node]))),
        }
        Ok(())
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
        Ok(behave(self.oracle.graph, self.oracle.plan.seed, &record.call))
    }

    /// How the attempt ended, and whether it may have ended like this at this time.
    fn fate(&mut self, record: &Record, act: &Act) -> Result<Fate, String> {
        let Some((ended, ending)) = record.ended else { return Err(format!("I10 {record:?} never ended")) };
        let timeout = self.oracle.graph.nodes[record.call.node].timeout.filter(|timeout| *timeout < act.delay);
        let natural = record.began + timeout.unwrap_or(act.delay);
        let cancelled = self.trace.cancelled;
        if let Some(at) = cancelled {
            holds(record.began <= at, || format!("E16 {record:?} began after the cancellation at {at}"))?;
        }
        let stopped = cancelled.or_else(|| self.trace.dropped.then_some(ended));
        // Of two things at one moment either may come first.
        let timed_out = timeout.is_some() && ended == natural && (stopped != Some(ended) || self.told_failed(record));
        if ending == Ending::Dropped && !timed_out {
            holds(stopped == Some(ended) && ended <= natural, || format!("{record:?} was dropped, {act:?}"))?;
            let coverage = &mut self.oracle.coverage;
            coverage.hit(if cancelled.is_some() { Construct::Cancelled } else { Construct::Dropped });
            return Ok(if cancelled.is_some() { Fate::Cancelled } else { Fate::Dropped });
        }
        same("the end of an attempt", &natural, &ended)?;
        let fits = match (&act.end, ending) {
            (_, Ending::Dropped) => timeout.is_some(),
            (_, _) if timeout.is_some() => false,
            (End::Done(..), Ending::Done) | (End::Retryable, Ending::Retryable) => true,
            (End::Fatal, Ending::Fatal) | (End::Panic, Ending::Panicked) => true,
            _ => false,
        };
        holds(fits, || format!("{record:?} doesn't fit {act:?}"))?;
        let coverage = &mut self.oracle.coverage;
        Ok(match ending {
            Ending::Done => Fate::Done,
            Ending::Retryable => {
                coverage.hit(Construct::Retryable);
                Fate::Failed(FaultKind::Retryable)
            }
            Ending::Fatal => {
                coverage.hit(Construct::Fatal);
                Fate::Failed(FaultKind::Fatal)
            }
            Ending::Panicked => {
                coverage.hit(Construct::Panic);
                Fate::Failed(FaultKind::Panicked)
            }
            Ending::Dropped => {
                coverage.hit(Construct::TimedOut);
                Fate::Failed(FaultKind::TimedOut)
            }
        })
    }

    /// Whether readers were told that the attempt failed.
    fn told_failed(&self, record: &Record) -> bool {
        let id = TaskId { step: record.call.step, rank: record.call.rank };
        self.trace.events.iter().any(|event| {
            let failed = matches!(event.kind, EventKind::NodeFailed { .. });
            failed && event.task == Some(id) && event.attempt == record.call.attempt
        })
    }
}

fn records_of(records: &[Record], (step, rank): (u64, u32)) -> usize {
    records.iter().filter(|record| (record.call.step, record.call.rank) == (step, rank)).count()
}

/// The wait between two attempts is what the policy says; jitter may only add to it.
fn check_wait(previous: &Record, record: &Record, retry: RetryPlan) -> Result<(), String> {
    let Some((ended, _)) = previous.ended else { return Ok(()) };
    let doubled = if retry.doubles { 1 << (previous.call.attempt - 1) } else { 1 };
    let base = retry.base * doubled;
    // The clock ticks in whole milliseconds.
    let most = base + (base * retry.jitter).div_ceil(100);
    let waited = record.began - ended;
    holds((base..=most).contains(&waited), || format!("a wait of {waited} ms, not {base} to {most}: {record:?}"))
}
