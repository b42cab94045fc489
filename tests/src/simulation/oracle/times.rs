//! When attempts began and ended, and whether they may have.

use std::collections::BTreeMap;

use graph_engine::{EventKind, FaultKind, TaskId};

use super::holds;
use super::same;
use super::tasks::Fate;
use super::turn::Turn;
use crate::simulation::behave::{Act, End, behave};
use crate::simulation::coverage::Construct;
use crate::simulation::plan::RetryPlan;
use crate::simulation::world::{Ending, Record};

impl Turn<'_, '_> {
    /// When the attempt ends if nobody stops it, and how if that is by a limit.
    fn natural(&self, record: &Record, act: &Act) -> (u64, Option<FaultKind>) {
        let node = &self.oracle.graph.nodes[record.call.node];
        let idle = node.idle.filter(|_| !act.beats).map(|idle| (idle, FaultKind::Idle));
        let limits = [node.timeout.map(|timeout| (timeout, FaultKind::TimedOut)), idle];
        let first =
            limits.into_iter().flatten().filter(|(after, _)| *after < act.delay).min_by_key(|(after, _)| *after);
        first.map_or((record.began + act.delay, None), |(after, kind)| (record.began + after, Some(kind)))
    }

    /// How the attempt ended, and whether it may have ended like this at this time.
    pub(super) fn fate(&mut self, record: &Record, act: &Act, stop: Option<u64>) -> Result<Fate, String> {
        let Some((ended, ending)) = record.ended else { return Err(format!("I10 {record:?} never ended")) };
        let (natural, limit) = self.natural(record, act);
        let cancelled = self.trace.cancelled.filter(|at| stop.is_none_or(|stop| *at < stop)).or(stop);
        if let Some(at) = cancelled {
            holds(record.began <= at, || format!("E16 {record:?} began after it was to stop at {at}"))?;
            holds(ended <= at, || format!("E16 {record:?} went on after it was to stop at {at}"))?;
        }
        let stopped = cancelled.or_else(|| self.trace.dropped.then_some(ended));
        // Of two things at one moment either may come first.
        let timed_out = limit.is_some() && ended == natural && (stopped != Some(ended) || self.told_failed(record));
        let coverage = &mut self.oracle.coverage;
        if ending == Ending::Dropped && !timed_out {
            holds(stopped == Some(ended) && ended <= natural, || format!("{record:?} was dropped, {act:?}"))?;
            let (construct, fate) = match (self.trace.dropped, stop) {
                (true, None) => (Construct::Dropped, Fate::Dropped),
                (_, Some(at)) if at == ended => (Construct::SiblingsCancelled, Fate::Cancelled),
                _ => (Construct::Cancelled, Fate::Cancelled),
            };
            coverage.hit(construct);
            return Ok(fate);
        }
        same("the end of an attempt", &natural, &ended)?;
        let (fate, construct) = match (&act.end, ending, limit) {
            (End::Done(..), Ending::Done, None) => return Ok(Fate::Done),
            (_, Ending::Dropped, Some(FaultKind::Idle)) => (FaultKind::Idle, Construct::IdleOut),
            (_, Ending::Dropped, Some(kind)) => (kind, Construct::TimedOut),
            (End::Retryable, Ending::Retryable, None) => (FaultKind::Retryable, Construct::Retryable),
            (End::Fatal, Ending::Fatal, None) => (FaultKind::Fatal, Construct::Fatal),
            (End::Panic, Ending::Panicked, None) => (FaultKind::Panicked, Construct::Panic),
            _ => return Err(format!("{record:?} doesn't fit {act:?}")),
        };
        coverage.hit(construct);
        Ok(Fate::Failed(fate))
    }

    /// When the tasks of the step were to stop because one of them had failed for good.
    pub(super) fn siblings_stop(&self) -> Option<u64> {
        if !self.oracle.graph.cancels_siblings {
            return None;
        }
        let step = self.model.step;
        let records = self.records.range((step, 0)..=(step, u32::MAX)).flat_map(|(_, records)| records);
        let failed = records.filter_map(|record| {
            let node = self.oracle.graph.nodes.get(record.call.node)?;
            let act = behave(self.oracle.graph, self.oracle.plan.seed, &record.call);
            let (ended, ending) = record.ended?;
            let retryable = match ending {
                Ending::Done => return None,
                Ending::Dropped if !self.told_failed(record) => return None,
                Ending::Dropped => true,
                _ => act.end == End::Retryable,
            };
            let last = !retryable || node.retry.is_none_or(|retry| record.call.attempt >= retry.attempts);
            (last && node.on_error.is_none()).then_some(ended)
        });
        failed.min()
    }

    /// Whether readers were told that the attempt failed.
    fn told_failed(&self, record: &Record) -> bool {
        let id = TaskId { step: record.call.step, rank: record.call.rank };
        self.trace.events.iter().any(|event| {
            let failed = matches!(event.kind, EventKind::NodeFailed { .. });
            failed && event.task == Some(id) && event.attempt == record.call.attempt
        })
    }

    /// The wait between two attempts is what the policy says; jitter may only add to it.
    pub(super) fn check_wait(&mut self, previous: &Record, record: &Record, retry: RetryPlan) -> Result<(), String> {
        let Some((ended, _)) = previous.ended else { return Ok(()) };
        let doubled = if retry.doubles { 1 << (previous.call.attempt - 1) } else { 1 };
        let base = retry.base * doubled;
        // The clock ticks in whole milliseconds.
        let most = base + (base * retry.jitter).div_ceil(100);
        let waited = record.began - ended;
        self.oracle.coverage.hit(Construct::Retry);
        if retry.jitter > 0 && retry.base > 0 {
            self.oracle.coverage.hit(Construct::JitteredRetry);
        }
        holds((base..=most).contains(&waited), || format!("a wait of {waited} ms, not {base} to {most}: {record:?}"))
    }

    /// No more tasks of a node run at once than its limit allows.
    pub(super) fn check_places(&mut self) -> Result<(), String> {
        let step = self.model.step;
        let mut nodes: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
        for (_, records) in self.records.range((step, 0)..=(step, u32::MAX)) {
            records.iter().for_each(|record| nodes.entry(record.call.node).or_default().push(record));
        }
        for (node, records) in nodes {
            let Some(limit) = self.oracle.graph.nodes.get(node).and_then(|node| node.limit) else { continue };
            let runs = |record: &Record, at: u64| record.began <= at && record.ended.is_some_and(|(end, _)| end > at);
            for record in &records {
                let at_once = records.iter().filter(|other| runs(other, record.began)).count();
                holds(at_once <= limit, || format!("{at_once} tasks of n{node} run at once, not {limit}"))?;
            }
            let first = records.iter().filter(|record| record.call.attempt == 1);
            if first.count() > limit {
                self.oracle.coverage.hit(Construct::Queued);
            }
        }
        Ok(())
    }
}
