//! One thread as a pure machine: no clock, no random number, no I/O, no spawning, no await.
//!
//! A driver gives it an [`Answer`] and gets an [`Ask`]:
//!
//! ```text
//! Start -> merge input, route from START -> Commit -> Run -> place outcomes -+- all done: merge, route -> Commit -> Run ..
//!                                                                            +- else: Commit (pending) -> Stop
//! ```
//!
//! Batch and commit go out full and come back with the answer, boxed, so that a steady state allocates nothing. What
//! comes next is a function of the frontier alone: after a crash the machine is restored and told `Recover`.

mod breaks;
mod edit;
mod embed;
mod end;
mod fault;
mod fields;
mod frontier;
mod joins;
mod lone;
mod merge;
mod migrate;
mod outcome;
mod pause;
mod place;
mod plan;
mod position;
mod renew;
mod routing;
mod trace;
mod wrote;

pub(crate) use edit::EditBy;
pub(crate) use embed::{Enter, kept_child};
pub(crate) use fault::fault;
pub(crate) use fields::ReadFields;
pub(crate) use lone::Lone;
pub(crate) use outcome::{Failure, TaskOutcome};
pub(crate) use position::{CHILD, call_of, decode_outcome, encode_outcome};
pub(crate) use wrote::{EDIT, Writings, WroteRow};

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint_id::{CheckpointId, IdPrefix};
use crate::graph::Graph;
use crate::name::Name;
use crate::report::RunReport;
use crate::run_error::{RunError, TaskFailure, TaskRef};
use crate::state::State;
use crate::store::{CheckpointKind, Commit, Tags};
use crate::task::{Answers, Held, Outcome, Shared, Task};
use crate::task_id::TaskId;
use breaks::Breaks;
use embed::Embedded;
use fields::Changes;
use frontier::{Frontier, Slot};
use position::Tails;
use wrote::Wrote;

/// What the machine wants next: two words, whatever it carries.
pub(crate) enum Ask<S: State> {
    /// Start these tasks beside those that run; answer once a task failed or none is left.
    Run(Box<Batch<S>>),
    /// Make this durable; answer with the same commit.
    Commit(Box<Commit>),
    Stop(Stopped),
}

/// What the machine is told.
pub(crate) enum Answer<S: State> {
    Start(Start<S>),
    Ran(Box<Batch<S>>),
    Committed(Box<Commit>),
}

/// How a turn begins.
pub(crate) enum Start<S: State> {
    Input(S::Update),
    /// After a failure, a cancellation or the step limit: runs what is unfinished.
    Proceed,
    /// Answers open questions and runs what waited for them.
    Resume(Answers),
    /// Answers by their defaults the questions whose time is over at this time.
    Expire(u64),
    /// Drops what is unfinished, and stops.
    Abandon,
    /// A call of a child graph begins or goes on.
    Enter(Enter<S>),
    /// After a crash: the same turn goes on where the last commit left it.
    Recover,
}

/// Goes out with tasks and comes back with outcomes, in any order.
pub(crate) struct Batch<S: State> {
    /// One attempt each. A task owns one reference to the snapshot.
    pub(crate) tasks: Vec<Task<S>>,
    pub(crate) outcomes: Vec<(TaskId, TaskOutcome<S>)>,
    /// What still runs is to be stopped, because a sibling has failed.
    pub(crate) stop: bool,
}

impl<S: State> Default for Batch<S> {
    fn default() -> Self {
        Self { tasks: Vec::new(), outcomes: Vec::new(), stop: false }
    }
}

/// Why the machine stopped.
pub(crate) enum Stopped {
    /// Nothing is left to run.
    Done,
    Cancelled,
    /// At the boundary of a super-step, because somebody asked for it.
    Drained,
    /// It waits, for an answer or at a breakpoint, and all else is over.
    Paused,
    Failed(Box<RunError>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) step_limit: u64,
    pub(crate) stay_limit: u32,
    pub(crate) durable: bool,
    /// Each super-step is a checkpoint of its own, so its tasks descend from it; else from the one that began the turn.
    pub(crate) every_step: bool,
    /// Tasks that may be sent in one super-step.
    pub(crate) fan_out_limit: usize,
    /// Bytes that the stored state may have.
    pub(crate) state_limit: Option<u64>,
    /// Whether the turn's path is recorded.
    pub(crate) record: bool,
    /// From which the jitter of retries is derived.
    pub(crate) seed: u64,
}

pub(crate) struct Machine<S: State> {
    graph: Graph<S>,
    options: Options,
    /// The state, unless a lone task has it.
    shared: Held<S>,
    /// Super-steps merged since the thread began, and when this turn began.
    step: u64,
    began: u64,
    frontier: Frontier<S>,
    report: RunReport,
    /// Siblings of a failed task are being stopped.
    stopping: bool,
    /// The turn stops at the next boundary of a super-step.
    draining: bool,
    /// The time, for questions that expire.
    now_ms: u64,
    /// Commits of finished super-steps may wait.
    hold: bool,
    /// Such a commit does wait.
    unsaved: bool,
    /// Why the machine stops once that commit is made.
    ending: Option<Stopped>,
    /// The turn stops at the boundary after so many super-steps.
    until: Option<u64>,
    breaks: Breaks,
    wrote: Wrote,
    // What the next commit must hold.
    prefix: IdPrefix,
    head: Option<CheckpointId>,
    /// The checkpoint that made the frontier, and whether the next commit is that of a new one.
    origin: CheckpointId,
    fresh: bool,
    /// The next commit begins a branch.
    fork: bool,
    /// Only there in a child graph.
    embedded: Option<Box<Embedded<S>>>,
    tags: Option<Arc<Tags>>,
    changes: Changes,
    tails: Tails,
    // Recycled buffers.
    batch: Option<Box<Batch<S>>>,
    commit: Option<Box<Commit>>,
}

impl<S: State> Machine<S> {
    pub(crate) fn snapshot(&self) -> &Arc<Shared<S>> {
        &self.shared
    }

    pub(crate) fn head(&self) -> Option<CheckpointId> {
        self.head
    }

    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Stays of this turn so far.
    pub(crate) fn stays(&self) -> u64 {
        self.report.stays
    }

    pub(crate) fn frontier(&self) -> &Frontier<S> {
        &self.frontier
    }

    /// Whether commits of finished super-steps may wait, because an earlier one is under way or only the end is stored.
    pub(crate) fn hold(&mut self, hold: bool) {
        self.hold = hold;
    }

    /// Stops the turn before the next super-step begins.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    fn thread(&self) -> Name {
        self.shared.turn.thread.clone()
    }

    pub(crate) fn next(&mut self, answer: Answer<S>) -> Ask<S> {
        match answer {
            Answer::Start(start) => self.start(start),
            Answer::Ran(batch) => self.ran(batch),
            Answer::Committed(commit) => {
                self.stored(commit);
                match self.ending.take() {
                    Some(stopped) => Ask::Stop(stopped),
                    None => self.advance(),
                }
            }
        }
    }

    /// The commit is made: what follows descends from it.
    fn stored(&mut self, commit: Box<Commit>) {
        self.head = Some(commit.id);
        if std::mem::take(&mut self.fresh) {
            self.origin = commit.id;
        }
        self.commit = Some(commit);
    }

    fn start(&mut self, start: Start<S>) -> Ask<S> {
        match start {
            Start::Recover => self.advance(),
            Start::Enter(enter) => self.enter_child(enter),
            Start::Input(_) | Start::Proceed | Start::Resume(_) if self.frontier.completed => {
                fail(RunError::Completed { thread: self.thread() })
            }
            Start::Input(_) if self.frontier.is_unfinished() => {
                let (pending, open) = (self.pending(), self.interrupts());
                let open = open.into_iter().map(|interrupt| interrupt.id).collect();
                fail(RunError::Unfinished { thread: self.thread(), pending, open })
            }
            Start::Resume(answers) => {
                self.expire();
                match self.answer(answers) {
                    Ok(()) => self.start_again(),
                    Err(error) => fail(error),
                }
            }
            Start::Expire(now_ms) => {
                self.now_ms = now_ms;
                // Somebody has answered meanwhile.
                if self.expire() {
                    self.start_again()
                } else {
                    fail(RunError::NothingToAnswer { thread: self.thread() })
                }
            }
            Start::Proceed if !self.frontier.is_unfinished() => {
                fail(RunError::NothingToProceed { thread: self.thread() })
            }
            Start::Input(update) => {
                self.frontier.begin_turn();
                self.breaks.leave();
                self.began = self.step;
                self.fresh = true;
                let accepted = self.check_input(&update).and_then(|()| self.merge_input(update));
                if let Err(error) = accepted.and_then(|()| self.enter()) {
                    return fail(error);
                }
                self.commit(CheckpointKind::Input)
            }
            Start::Abandon if !self.frontier.is_unfinished() => stop(Stopped::Done),
            Start::Abandon => {
                self.fresh = true;
                self.shared.turn.journals.clear();
                self.frontier.abandon();
                self.breaks.leave();
                self.commit(CheckpointKind::Abandon)
            }
            Start::Proceed => {
                self.expire();
                let survey = self.frontier.survey();
                if survey.paused && !survey.waiting && !survey.failed && !survey.cancelled {
                    let open = self.interrupts().into_iter().map(|interrupt| interrupt.id).collect();
                    return fail(RunError::Waiting { thread: self.thread(), open });
                }
                self.start_again()
            }
        }
    }

    /// Says what follows from the frontier alone; asked again it says the same.
    fn advance(&mut self) -> Ask<S> {
        if let Some(error) = self.frontier.stop_with.take() {
            return stop(Stopped::Failed(error));
        }
        let survey = self.frontier.survey();
        // A failure beats a cancellation: the caller must learn of it.
        if survey.failed {
            let failures = self.failures();
            return fail(RunError::Step { thread: self.thread(), step: self.step, failures });
        }
        if survey.cancelled {
            return stop(Stopped::Cancelled);
        }
        if survey.waiting {
            let draining = self.draining || self.until == Some(self.step);
            if draining && survey.is_untouched() {
                return self.end(Stopped::Drained);
            }
            return self.breakpoint(survey).unwrap_or_else(|| self.run());
        }
        if survey.paused {
            return self.stop_paused();
        }
        if self.frontier.slots.is_empty() {
            return self.end(Stopped::Done);
        }
        self.finish_step()
    }

    /// Stops, once what waits to be stored is stored.
    fn end(&mut self, stopped: Stopped) -> Ask<S> {
        if !self.unsaved {
            return stop(stopped);
        }
        self.hold = false;
        self.ending = Some(stopped);
        self.commit(CheckpointKind::Step)
    }

    fn run(&mut self) -> Ask<S> {
        let (left, own) = self.steps_left();
        if left == 0 {
            let error = self.step_limit_error(own);
            return self.end(Stopped::Failed(Box::new(error)));
        }
        let mut batch = self.batch.take().unwrap_or_default();
        batch.tasks.reserve_exact(self.frontier.slots.len());
        self.stopping = false;
        for rank in 0..self.frontier.slots.len() {
            if self.frontier.slots[rank].done.is_none() {
                self.report.tasks += 1;
                if let Some(trace) = &mut self.frontier.trace {
                    trace.visit(self.frontier.slots[rank].node);
                }
                let task = self.task(rank, Duration::ZERO);
                batch.tasks.push(task);
            }
        }
        Ask::Run(batch)
    }

    fn task(&mut self, rank: usize, wait: Duration) -> Task<S> {
        let (left, _) = self.steps_left();
        // Tasks beside each other can't share what only one of them may use.
        let alone = !self.graph.inner().at(self.frontier.slots[rank].node).info.alone || self.is_alone(rank);
        let slot = &mut self.frontier.slots[rank];
        slot.running = true;
        Task {
            id: TaskId { step: self.step, rank: rank_of(rank) },
            node: slot.node,
            attempt: slot.attempt,
            origin: self.origin,
            wait,
            remaining_steps: left.saturating_sub(1),
            alone,
            again: self.graph.inner().at(slot.node).again,
            first_step: self.step == self.began,
            payload: slot.payload.clone(),
            extra: slot.extra.clone(),
            shared: self.shared.clone(),
            emitted: None,
            pulse: None,
        }
    }

    fn is_alone(&self, rank: usize) -> bool {
        let node = self.frontier.slots[rank].node;
        self.frontier.slots.iter().filter(|slot| slot.node == node).nth(1).is_none()
    }

    /// Places outcomes by rank, whatever order they come in; failed attempts that may be tried again go out anew.
    fn ran(&mut self, mut batch: Box<Batch<S>>) -> Ask<S> {
        let stopped = self.stopping;
        let Batch { tasks, outcomes, .. } = &mut *batch;
        for (id, outcome) in outcomes.drain(..) {
            if let Some(retry) = self.place(id, outcome) {
                tasks.push(retry);
            }
        }
        batch.stop = self.stopping && !stopped;
        let survey = self.frontier.survey();
        if !batch.tasks.is_empty() || survey.running {
            return Ask::Run(batch);
        }
        self.batch = Some(batch);
        if survey.is_complete() {
            return self.finish_step();
        }
        self.warn_of_transient_writes();
        self.commit(CheckpointKind::Pending)
    }

    /// A step that isn't complete is stored as pending, and transient fields never are.
    fn warn_of_transient_writes(&mut self) {
        let transient = self.graph.inner().transient;
        if transient.is_empty() || !self.options.durable {
            return;
        }
        let state = &self.shared.state;
        let mut warnings = Vec::new();
        for (node, _, outcome) in self.finished() {
            for field in state.written(&outcome.update).and(transient).iter() {
                let field = &state.fields()[field].name;
                warnings.push(format!(
                    "`{node}` wrote the transient field `{field}`, which is lost when `proceed` finishes the super-step"
                ));
            }
        }
        warnings.retain(|warning| !self.report.warnings.contains(warning));
        self.report.warnings.append(&mut warnings);
    }

    fn finish_step(&mut self) -> Ask<S> {
        if let Err(conflict) = self.check_conflicts() {
            return self.keep_and_fail(conflict);
        }
        if let Err(error) = self.collect() {
            return fail(error);
        }
        if let Err(unmerged) = self.merge() {
            return self.do_again(unmerged);
        }
        self.finish_merged()
    }

    /// What is left of a super-step whose updates are merged.
    fn finish_merged(&mut self) -> Ask<S> {
        if let Err(error) = self.route() {
            return self.keep_and_fail(error);
        }
        self.keep_children();
        self.frontier.plan_next(self.graph.inner(), self.step);
        self.end_step();
        self.commit(CheckpointKind::Step)
    }

    /// The super-step is merged and the next frontier stands.
    fn end_step(&mut self) {
        self.breaks.leave();
        self.step += 1;
        self.fresh = self.options.every_step;
        self.shared.turn.journals.clear();
        self.report.steps += 1;
        self.count_step();
    }

    /// Stops with an error after one commit of what the step has so far.
    fn keep_and_fail(&mut self, error: RunError) -> Ask<S> {
        self.frontier.stop_with = Some(Box::new(error));
        self.commit(CheckpointKind::Pending)
    }

    /// The nodes that have something to do, each once, in task order.
    pub(crate) fn pending(&self) -> Vec<Name> {
        let graph = self.graph.inner();
        let over = |slot: &&Slot<S>| matches!(slot.done, Some(TaskOutcome::Done(_)));
        // When every task is over, only the routing of all of them is left.
        let routing = self.frontier.slots.iter().all(|slot| over(&slot));
        let open = self.frontier.slots.iter().filter(|slot| routing || !over(slot));
        let mut names: Vec<Name> = Vec::new();
        for slot in open.chain(&self.frontier.deferred) {
            let name = graph.name_of(slot.node);
            if names.last() != Some(name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// What tasks of the super-step at hand have done, as long as others have not.
    pub(crate) fn finished(&self) -> impl Iterator<Item = (&Name, TaskId, &Outcome<S>)> {
        self.frontier.slots.iter().enumerate().filter_map(|(rank, slot)| match &slot.done {
            Some(TaskOutcome::Done(outcome)) => {
                let id = TaskId { step: self.step, rank: rank_of(rank) };
                Some((self.graph.inner().name_of(slot.node), id, outcome))
            }
            _ => None,
        })
    }

    fn task_ref(&self, rank: usize) -> TaskRef {
        let node = self.graph.inner().name_of(self.frontier.slots[rank].node).clone();
        TaskRef { node, id: TaskId { step: self.step, rank: rank_of(rank) } }
    }

    fn failures(&self) -> Vec<TaskFailure> {
        let failed = self.frontier.slots.iter().enumerate().filter_map(|(rank, slot)| match &slot.done {
            Some(TaskOutcome::Failed(failure)) => Some(TaskFailure {
                task: self.task_ref(rank),
                attempts: slot.attempt,
                kind: failure.kind,
                source: failure.source.clone(),
            }),
            _ => None,
        });
        failed.collect()
    }
}

fn rank_of(rank: usize) -> u32 {
    // A frontier of 2^32 tasks doesn't fit in memory.
    u32::try_from(rank).unwrap_or(u32::MAX)
}

#[cold]
fn stop<S: State>(stopped: Stopped) -> Ask<S> {
    Ask::Stop(stopped)
}

#[cold]
fn fail<S: State>(error: RunError) -> Ask<S> {
    stop(Stopped::Failed(Box::new(error)))
}
