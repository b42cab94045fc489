//! The flow of one turn: begin, run, merge, route, commit, until it ends.

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::{CheckpointId, Status};

use super::merge::{conflict, merge};
use super::model::{Finished, Model};
use super::route::Routing;
use super::verdict::{Stop, Verdict, failed};
use super::{Oracle, holds, same};
use crate::simulation::coverage::Construct;
use crate::simulation::plan::{Fault, NAMES};
use crate::simulation::state::{Facts, Op};
use crate::simulation::trace::{Intent, TurnTrace};
use crate::simulation::world::Record;

/// One turn as the oracle follows it.
pub(super) struct Turn<'o, 'a> {
    pub(super) oracle: &'o mut Oracle<'a>,
    pub(super) number: u64,
    pub(super) trace: &'o TurnTrace,
    pub(super) model: Model,
    pub(super) records: BTreeMap<(u64, u32), Vec<&'o Record>>,
    /// The checkpoint that made the frontier.
    pub(super) frontier_made_by: Option<CheckpointId>,
    pub(super) commits: usize,
    /// The machine was asked to do something.
    pub(super) started: bool,
    pub(super) merged: u64,
    pub(super) tasks: u64,
    pub(super) stays: u64,
    pub(super) rescued: u64,
    pub(super) cached: u64,
    /// Results of the super-step at hand that the cache will keep.
    pub(super) results: Vec<((usize, u64), Finished)>,
    fired: BTreeMap<usize, (BTreeSet<u64>, u32)>,
    /// What is told after each super-step: its number, what is next, and the state.
    pub(super) told: Vec<(u64, Vec<String>, Facts)>,
}

impl Oracle<'_> {
    pub(super) fn turn(&mut self, number: u64, trace: &TurnTrace) -> Result<(), String> {
        let mut model = self.durable.clone();
        let saved = self.take_saved(&mut model);
        // What is transient is never stored, also not as part of a result that waits for its step.
        model.facts.draft = 0;
        for (ops, _) in model.tasks.iter_mut().filter_map(|task| task.done.as_mut()) {
            ops.retain(|op| !matches!(op, Op::Draft(_)));
        }
        if saved > 0 && trace.intent == Intent::Proceed {
            self.coverage.hit(Construct::SavedResult);
        }
        let mut records: BTreeMap<_, Vec<&Record>> = BTreeMap::new();
        for record in &trace.records {
            records.entry((record.call.step, record.call.rank)).or_default().push(record);
        }
        records.values_mut().for_each(|attempts| attempts.sort_by_key(|record| record.call.attempt));
        let mut turn = Turn {
            frontier_made_by: model.origin.or(self.head),
            oracle: self,
            number,
            trace,
            model,
            records,
            commits: 0,
            started: false,
            merged: 0,
            tasks: 0,
            stays: 0,
            rescued: 0,
            cached: 0,
            results: Vec::new(),
            fired: BTreeMap::new(),
            told: Vec::new(),
        };
        let stop = turn.follow();
        match &stop {
            Stop::Broken(why) => return Err(why.clone()),
            Stop::Dropped => {}
            // It ended in the very moment in which it was dropped.
            Stop::Ended(_) if trace.dropped => {}
            Stop::Ended(verdict) => turn.check_end(verdict)?,
        }
        let left = trace.noted.commits.len() - turn.commits;
        holds(left == 0, || format!("I1 {left} commits more than expected"))?;
        let open: Vec<_> = turn.records.keys().collect();
        holds(open.is_empty(), || format!("tasks ran that nobody asked for: {open:?}"))?;
        turn.check_events(matches!(stop, Stop::Dropped))?;
        let steps = turn.merged;
        self.coverage.steps += steps;
        self.failed_before = matches!(stop, Stop::Ended(Verdict::Failed(_)));
        self.saved.extend_from_slice(&trace.noted.saves);
        self.turn_names.extend(trace.noted.commits.iter().map(|commit| commit.turn.clone()));
        self.check_after(trace)
    }
}

impl Turn<'_, '_> {
    fn follow(&mut self) -> Stop {
        let stop = match self.begin().and_then(|()| self.go_on()) {
            Ok(verdict) => Stop::Ended(verdict),
            Err(stop) => stop,
        };
        // A turn that its store stopped keeps nothing of the super-step at hand.
        if matches!(&stop, Stop::Ended(verdict) if *verdict != Verdict::Failed("store".into())) {
            self.keep_results();
        }
        stop
    }

    pub(super) fn routing(&mut self) -> Routing<'_> {
        Routing {
            graph: self.oracle.graph,
            model: &mut self.model,
            coverage: &mut self.oracle.coverage,
            fired: &mut self.fired,
            plain: BTreeMap::new(),
            sends: Vec::new(),
        }
    }

    fn go_on(&mut self) -> Result<Verdict, Stop> {
        loop {
            if self.model.tasks.is_empty() {
                let status = if self.model.completed { Status::Completed } else { Status::Done };
                return Ok(Verdict::Ended(status));
            }
            if self.model.tasks.iter().any(|task| task.done.is_none()) {
                if self.drains()? {
                    self.oracle.coverage.hit(Construct::Drained);
                    return Ok(Verdict::Ended(Status::Drained));
                }
                let limit = self.oracle.plan.step_limit;
                if self.model.step - self.model.began >= limit {
                    self.oracle.coverage.hit(Construct::StepLimit);
                    return failed(format!("step limit {limit} at {} {:?}", self.model.step, self.model.pending()));
                }
                let became = self.run_tasks()?;
                if became.open {
                    return Err(Stop::Dropped);
                }
                if became.cancelled || !became.failures.is_empty() {
                    self.model.origin = self.frontier_made_by;
                    self.commit()?;
                    let env = &self.oracle.plan.turns[usize::try_from(self.number).unwrap_or(0)];
                    if let (Some(limit), true) = (env.deadline, became.failures.is_empty()) {
                        self.oracle.coverage.hit(Construct::Deadline);
                        return failed(format!("deadline {limit} at {} {:?}", self.model.step, self.model.pending()));
                    }
                    if became.failures.is_empty() {
                        return Ok(Verdict::Ended(Status::Cancelled));
                    }
                    return failed(format!("failed {} {:?}", self.model.step, became.failures));
                }
            }
            self.finish_step()?;
        }
    }

    /// Whether the turn stops before the super-step that is about to begin.
    fn drains(&self) -> Result<bool, Stop> {
        let untouched = self.model.tasks.iter().all(|task| task.done.is_none());
        let Some(at) = self.trace.drained.filter(|_| untouched) else { return Ok(false) };
        let mut records = self.records.iter().filter(|((step, _), _)| *step == self.model.step).peekable();
        if let Some((_, records)) = records.peek() {
            let began = records.iter().map(|record| record.began).min().unwrap_or(0);
            holds(began <= at, || format!("a super-step began at {began}, after the turn was to drain at {at}"))?;
            return Ok(false);
        }
        // Cached results leave no record.
        Ok(!self.trace.events.iter().any(|event| event.task.is_some_and(|task| task.step == self.model.step)))
    }

    fn finish_step(&mut self) -> Result<(), Stop> {
        let step = self.model.step;
        if let Some(conflict) = conflict(&self.model.tasks) {
            self.oracle.coverage.hit(Construct::WriteConflict);
            let at = |rank: &usize| format!("{}@{rank}", NAMES[self.model.tasks[*rank].node]);
            let writers: Vec<String> = conflict.writers.iter().map(at).collect();
            for rank in conflict.dropped {
                self.model.tasks[rank].done = None;
            }
            return self.keep_and_fail(format!("conflict {step} {} {writers:?}", conflict.field));
        }
        if merge(&mut self.model).is_err() {
            self.oracle.coverage.hit(Construct::Refused);
            // Results that can't be merged are made again.
            for task in &mut self.model.tasks {
                task.done = None;
            }
            return self.keep_and_fail(format!("merge {step}"));
        }
        let mut chosen = match self.choose() {
            Ok(chosen) => chosen,
            Err(error) => return self.keep_and_fail(error),
        };
        let finished: Vec<_> = std::mem::take(&mut self.model.tasks);
        let mut routing = self.routing();
        for (rank, task) in (0..).zip(&finished) {
            if let Some((_, way)) = &task.done {
                routing.leave(rank, task, way, &mut chosen);
            }
        }
        routing.form();
        self.merged += 1;
        self.keep_results();
        self.model.step += 1;
        self.model.origin = None;
        self.told.push((step, self.model.pending(), self.model.facts.clone()));
        self.commit()
    }

    fn keep_and_fail(&mut self, error: String) -> Result<(), Stop> {
        self.model.origin = self.frontier_made_by;
        self.commit()?;
        failed(error)
    }

    /// The next commit must say exactly this.
    pub(super) fn commit(&mut self) -> Result<(), Stop> {
        if self.oracle.plan.store.is_none() {
            return Ok(());
        }
        let Some(commit) = self.trace.noted.commits.get(self.commits) else {
            return Err(match self.trace.dropped {
                true => Stop::Dropped,
                false => Stop::Broken(format!("I1 a commit of step {} is missing", self.model.step)),
            });
        };
        self.commits += 1;
        self.check_commit(commit)?;
        self.model.wrote.clear();
        if commit.fault != Some(Fault::Refused) {
            self.oracle.ids.insert(commit.id);
            self.oracle.head = Some(commit.id);
            if self.model.origin.is_none() {
                self.frontier_made_by = Some(commit.id);
            }
            self.oracle.durable = self.model.clone();
            self.oracle.known.clear();
        }
        match commit.fault {
            None => Ok(()),
            Some(fault) => {
                let lost = fault == Fault::Lost;
                self.oracle.coverage.hit(if lost { Construct::AnswerLost } else { Construct::CommitFailed });
                failed("store")
            }
        }
    }

    /// I8: what readers saw.
    fn check_events(&mut self, dropped: bool) -> Result<(), String> {
        let cut_off = super::super::invariants::readers(self.trace)?;
        if cut_off {
            self.oracle.coverage.hit(Construct::CutOff);
        }
        let seen = super::super::invariants::steps(self.trace);
        let told = if dropped { &self.told[..seen.len().min(self.told.len())] } else { &self.told[..] };
        same("I2 what was told after each super-step", &told.to_vec(), &seen)?;
        super::super::invariants::nodes(self.trace)
    }
}
