//! A turn from its beginning to its end: lease, checkpoint, machine, report.

use std::any::Any;
use std::future::Future;
use std::mem::take;
use std::pin::pin;
use std::sync::Arc;

use tracing::Instrument;

use super::breakpoints::Breakpoints;
use super::child::Hosting;
use super::end::{Status, TurnEnd};
use super::spare::Parts;
use super::turn::Turn;
use crate::driver::{Bench, Durability, EventKind, Keep, LocalDriver, Origin};
use crate::graph::Graph;
use crate::machine::{Machine, Start, Stopped};
use crate::name::Name;
use crate::panic::{let_go, no_panic_in, text_of};
use crate::report::RunReport;
use crate::run_error::{RunError, TurnError};
use crate::state::State;
use crate::store::{Place, Stored};
use crate::task::{Cause, Keeper, Resources, Snap};

/// How a turn ended, once it has.
type Ended<S> = Option<Result<TurnEnd<S>, TurnError>>;

impl<S: State> Turn<S> {
    #[expect(clippy::manual_async_fn, reason = "an async function would hold its arguments twice")]
    pub(super) fn drive(mut self) -> impl Future<Output = Result<TurnEnd<S>, TurnError>> + Send {
        async move {
            let Parts { bench, mut machine } = self.parts();
            if let Some(rare) = &mut self.rare {
                for (options, queue) in rare.readers.drain(..) {
                    bench.add_reader(options, queue);
                }
            }
            let stored = self.runner.checkpoints().is_some();
            let (spans, thread) = (bench.spans, &bench.turn.thread);
            let span = spans.turn(bench.graph.name(), &bench.turn);
            let metered = bench.metrics.as_ref().map(|metrics| (metrics, bench.seams.0.clock.elapsed()));
            // Written where it is, because it is large.
            let (mut step, mut place) = (0, None);
            let ran = {
                let mut run = pin!(self.run_to_end(&bench, &mut machine, &mut step, &mut place));
                let run = no_panic_in(run.as_mut());
                if spans.on { run.instrument(span.clone()).await } else { run.await }
            };
            match ran {
                Ok(Ok(())) => {}
                // What didn't come to its end is not used again.
                Ok(Err(error)) => {
                    let_go(machine.take());
                    place = Some(Err(error.into()));
                }
                Err(what) => {
                    let_go(machine.take());
                    let error = RunError::Panicked { thread: thread.clone(), step, what };
                    place = Some(Err(TurnError::new(error, RunReport::default(), stored)));
                }
            }
            // Whoever comes to the end says how it was.
            let internal = || RunError::Internal { thread: thread.clone(), what: "the turn has no end".into() };
            let ended = place.get_or_insert_with(|| Err(internal().into()));
            let outcome = match &*ended {
                Ok(end) => end.status.as_str(),
                Err(failed) => failed.error.kind(),
            };
            spans.end_turn(&span, outcome, ended.as_ref().err());
            if let Some((metrics, began)) = metered {
                let took = bench.seams.0.clock.elapsed().saturating_sub(began);
                metrics.turn(bench.graph.name(), outcome, took);
            }
            if let Some(hub) = bench.hub() {
                let report = match ended {
                    Ok(end) => &mut end.report,
                    Err(failed) => &mut *failed.report,
                };
                report.warnings.append(&mut bench.live.take_warnings());
                let outcome = match &*ended {
                    Ok(end) => end.status.as_str().to_owned(),
                    Err(failed) => text_of(failed),
                };
                hub.send(Origin::step(step), EventKind::Ended { outcome }).await;
            }
            let ended = place.unwrap_or_else(|| Err(internal().into()));
            if let Some(machine) = machine {
                self.runner.give_back(bench, machine);
            }
            ended
        }
    }

    /// All that attempts have at hand, and by which the turn is known while it runs; and perhaps a machine that rests.
    fn parts(&mut self) -> Parts<S> {
        let runner = &self.runner;
        let mut parts = runner.parts();
        // Nobody else knows of what was made just now, and of what rests only what nobody else knew of is kept.
        let bench = Arc::get_mut(&mut parts.bench).expect("a bench that nobody uses");
        let context = Arc::get_mut(&mut bench.turn).expect("a context that nobody uses");
        let rare = self.rare.as_ref();
        let again = rare.and_then(|rare| rare.again.as_ref());
        context.thread = take(&mut self.thread);
        context.turn = again.map_or_else(|| bench.seams.turn_id(), |again| again.turn.clone().into());
        context.cancel = self.cancel.cancel().clone();
        context.resources = runner.resources().clone();
        context.maker = Some(runner.host_maker());
        bench.guards = runner.guards();
        bench.spans = runner.spans();
        bench.given.durability = self.durability;
        if let Some(rare) = rare {
            context.resources.extend(&rare.resources);
            bench.given.tags = rare.tags.clone();
        }
        parts
    }

    /// Writes down how the turn ended, unless it could not begin.
    async fn run_to_end(
        &mut self,
        bench: &Arc<Bench<S>>,
        machine: &mut Option<Box<Machine<S>>>,
        step: &mut u64,
        ended: &mut Ended<S>,
    ) -> Result<(), RunError> {
        let (context, graph) = (&bench.turn, &bench.graph);
        let thread = &context.thread;
        // Gives the thread back at the end, unless what is to be stored may take longer than the turn.
        let mut lease = Some(self.runner.take(thread, Some(bench.clone())).await?);
        if !matches!(self.start, Start::Abandon) {
            check_needs(graph, thread, &context.resources)?;
        }
        let store = self.runner.checkpoints();
        if store.is_none()
            && let Some(operation) = self.needs_store()
        {
            return Err(RunError::NoStore { thread: thread.clone(), operation });
        }
        let (own, breaks) = (self.rare.as_ref().map(|rare| &rare.breaks), self.runner.breakpoints());
        let breaks = match breaks.is_empty() && own.is_none_or(Breakpoints::is_empty) {
            true => None,
            false => {
                let own = own.cloned().unwrap_or_default();
                Some(breaks.resolve(&own, graph.inner(), thread, store.is_some())?)
            }
        };
        let mut options = self.runner.options();
        options.every_step = self.durability == Durability::Sync;
        let tags = self.rare.as_mut().and_then(|rare| rare.tags.take());
        let machine = &mut **match machine {
            Some(machine) => {
                machine.renew(options, context.clone(), tags);
                machine
            }
            None => machine.insert(Box::new(Machine::new(graph.clone(), options, context.clone(), tags))),
        };
        let mut keep = None;
        if let Some(store) = store {
            let place = Place::thread(thread);
            let lease: Option<Arc<dyn Any + Send + Sync>> = lease.take().map(|lease| Arc::new(lease) as _);
            if let Some(lease) = &lease {
                bench.given.lease.get_or_init(|| Arc::downgrade(lease));
            }
            let known = match self.rare.as_ref().and_then(|rare| rare.at) {
                None => self.runner.restore_head(&**store, thread, machine).await?,
                Some(id) => {
                    let stored = store.load(&place, Some(id)).await;
                    let stored = stored.map_err(|cause| RunError::Store { thread: thread.clone(), cause })?;
                    let unknown = || RunError::UnknownCheckpoint { thread: thread.clone(), id };
                    // What was saved since belongs to the old branch.
                    machine.restore(Stored { saved: Vec::new(), ..stored.ok_or_else(unknown)? })?;
                    machine.branch();
                    true
                }
            };
            let saves = self.durability != Durability::Exit;
            let keep = &*keep.insert(Keep::new(store.clone(), place, saves, bench.seams.0.spawn.clone(), lease));
            if known {
                keep.expect_known();
            }
            if keep.saves() {
                let keeper: Arc<dyn Keeper> = keep.clone();
                context.keeper.get_or_init(|| Arc::downgrade(&keeper));
            }
        }
        if let Some((before, after)) = breaks {
            machine.break_at(before, after);
        }
        if let Some(again) = self.rare.as_ref().and_then(|rare| rare.again.as_ref()) {
            machine.run_until(again.until);
        }
        *step = machine.step();
        if let Some(hub) = bench.hub() {
            hub.send(Origin::step(*step), EventKind::Started).await;
        }
        let mut driver = LocalDriver {
            keep,
            durability: self.durability,
            parallel: self.runner.parallel_mode(),
            watched: bench.metrics.is_some() || bench.spans.on,
            stays: 0,
            in_step: false,
            node_time: Vec::new(),
            bench,
        };
        let start = std::mem::replace(&mut self.start, Start::Recover);
        let stopped = driver.drive(machine, start).await;
        *step = machine.step();
        // The report is large: it is put where it stays.
        let report = report(machine, &driver);
        let (replies, state) = (machine.take_replies(), Snap::shared(self.runner.leave(machine.give_snapshot())));
        let Ok(end) = ended.insert(Ok(TurnEnd { report, replies, state, status: Status::Done })) else { return Ok(()) };
        if let Some(host) = Hosting::known(context.host.get()) {
            host.finish(machine.step(), &mut end.report).await;
        }
        let status = match stopped {
            Ok(Stopped::Done) => Ok(if machine.frontier().completed { Status::Completed } else { Status::Done }),
            Ok(Stopped::Drained) => Ok(Status::Drained),
            Ok(Stopped::Paused) => Ok(Status::Paused),
            Ok(Stopped::Cancelled) => match (context.cancel.cause(), self.deadline) {
                (Some(Cause::Deadline), Some(limit)) => {
                    let (thread, step, pending) = (thread.clone(), machine.step(), end.report.pending.clone());
                    Err(RunError::Deadline { thread, step, limit, pending })
                }
                _ => Ok(Status::Cancelled),
            },
            Ok(Stopped::Failed(error)) => Err(*error),
            Err(error) => Err(error),
        };
        match status {
            Ok(status) => end.status = status,
            Err(error) => {
                let report = take(&mut end.report);
                *ended = Some(Err(TurnError::new(error, report, driver.keep.is_some())));
            }
        }
        Ok(())
    }

    /// What can't be done without a store, if that is what was asked for.
    fn needs_store(&self) -> Option<&'static str> {
        match self.start {
            Start::Proceed => Some("proceed"),
            Start::Resume(_) => Some("resume"),
            _ => self.rare.as_ref()?.at.map(|_| "at"),
        }
    }
}

/// What the machine counted, and what only the driver knows.
#[inline]
fn report<S: State>(machine: &mut Machine<S>, driver: &LocalDriver<'_, S>) -> RunReport {
    let mut report = machine.take_report();
    let bench = driver.bench;
    if !driver.node_time.is_empty() {
        let times = bench.graph.inner().names.iter().zip(&driver.node_time).filter(|(_, took)| !took.is_zero());
        report.node_time.extend(times.map(|(name, took)| (name.clone(), *took)));
    }
    report.stuck = bench.turn.given_up.stuck();
    if let Some(guards) = &bench.guards {
        report.warnings.append(&mut guards.take_warnings());
    }
    report
}

fn check_needs<S: State>(graph: &Graph<S>, thread: &Name, resources: &Resources) -> Result<(), RunError> {
    let inner = graph.inner();
    let needs = inner.needs.iter().map(|(node, need)| (inner.name_of(*node), *need));
    match resources.missing(needs) {
        None => Ok(()),
        Some((node, need)) => {
            Err(RunError::MissingResource { thread: thread.clone(), node, resource: need.type_name() })
        }
    }
}
