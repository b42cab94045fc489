//! A turn from its beginning to its end: lease, checkpoint, machine, report.

use std::any::Any;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::Instrument;

use super::child::Hosting;
use super::end::{Status, TurnEnd};
use super::turn::Turn;
use crate::driver::{Bench, Durability, EventKind, Keep, Live, LocalDriver, Origin, Relay, Spans};
use crate::graph::Graph;
use crate::machine::{Machine, Start, Stopped};
use crate::name::Name;
use crate::panic::{no_panic_in, text_of};
use crate::report::RunReport;
use crate::run_error::{RunError, TurnError};
use crate::state::State;
use crate::store::{Place, Stored};
use crate::task::{Cause, Keeper, Resources, Sink, Snap, TurnContext};

impl<S: State> Turn<S> {
    pub(super) async fn drive(mut self) -> Result<TurnEnd<S>, TurnError> {
        let again = self.again.as_ref().map(|again| again.turn.clone());
        let turn: Name = again.unwrap_or_else(|| self.runner.seams_ref().0.ids.turn().into());
        let names = self.runner.graph().inner().names.clone();
        let clock = self.runner.seams_ref().0.clock.clone();
        let live = Arc::new(Live::new(turn.clone(), names, clock, self.cancel.clone()));
        for (options, queue) in self.readers.drain(..) {
            live.add(options, queue);
        }
        let (thread, stored) = (self.thread.clone(), self.runner.checkpoints().is_some());
        let runner = self.runner.clone();
        let (spans, graph) = (runner.spans(), runner.graph().name());
        let span = spans.turn(graph, &thread, &turn);
        let metered = runner.metrics_ref().map(|metrics| (metrics, runner.seams_ref().0.clock.elapsed()));
        let mut step = 0;
        let ended = {
            let mut run = pin!(self.run_to_end(turn, &live, spans, &mut step));
            let run = no_panic_in(run.as_mut());
            if spans.on { run.instrument(span.clone()).await } else { run.await }
        };
        let mut ended = ended.unwrap_or_else(|what| {
            let error = RunError::Panicked { thread, step, what };
            Err(TurnError::new(error, RunReport::default(), stored))
        });
        let outcome = match &ended {
            Ok(end) => end.status.as_str(),
            Err(failed) => failed.error.kind(),
        };
        spans.end_turn(&span, outcome, ended.as_ref().err());
        if let Some((metrics, began)) = metered {
            let took = runner.seams_ref().0.clock.elapsed().saturating_sub(began);
            metrics.turn(graph, outcome, took);
        }
        let report = match &mut ended {
            Ok(end) => &mut end.report,
            Err(failed) => &mut *failed.report,
        };
        report.warnings.append(&mut live.take_warnings());
        if let Some(hub) = live.hub() {
            let outcome = match &ended {
                Ok(end) => end.status.as_str().to_owned(),
                Err(failed) => text_of(failed),
            };
            hub.send(Origin::step(step), EventKind::Ended { outcome }).await;
        }
        ended
    }

    async fn run_to_end(
        self,
        turn: Name,
        live: &Arc<Live<S>>,
        spans: Spans,
        step: &mut u64,
    ) -> Result<TurnEnd<S>, TurnError> {
        let lease = Arc::new(self.runner.take(&self.thread, Some(live.clone())).await?);
        let mut resources = self.runner.resources().clone();
        resources.extend(&self.resources);
        let graph = self.runner.graph().clone();
        if !matches!(self.start, Start::Abandon) {
            check_needs(&graph, &self.thread, &resources)?;
        }
        let store = self.runner.checkpoints().cloned();
        let operation = match self.start {
            Start::Proceed => Some("proceed"),
            Start::Resume(_) => Some("resume"),
            _ => None,
        };
        if let (None, Some(operation)) = (&store, operation) {
            return Err(RunError::NoStore { thread: self.thread, operation }.into());
        }
        if store.is_none() && self.at.is_some() {
            return Err(RunError::NoStore { thread: self.thread, operation: "at" }.into());
        }
        let (before, after) = self.breaks.resolve(graph.inner(), &self.thread, store.is_some())?;
        let seams = self.runner.seams_ref().clone();
        let names = graph.inner().names.clone();
        let mut context = TurnContext::of(self.thread.clone(), turn, names, self.cancel.clone());
        context.resources = resources;
        context.offload = seams.offload();
        let sink: Arc<dyn Sink> = live.clone();
        context.sink = Some(Arc::downgrade(&sink));
        context.durable = store.is_some();
        let place = Place::thread(&self.thread);
        let keep = store.clone().map(|store| {
            let saves = self.durability != Durability::Exit;
            Keep::new(store, place.clone(), saves, seams.0.spawn.clone(), Some(lease.clone()))
        });
        let keeper: Option<Arc<dyn Keeper>> = keep.clone().filter(|keep| keep.saves()).map(|keep| keep as _);
        context.keeper = keeper.as_ref().map(Arc::downgrade);
        let whole_lease: Arc<dyn Any + Send + Sync> = lease.clone();
        let relay: Arc<dyn Relay> = live.clone();
        let mut options = self.runner.options();
        options.every_step = self.durability == Durability::Sync;
        let tags = Arc::new(self.tags);
        let host = Arc::new(Hosting {
            store: store.clone(),
            private: OnceLock::new(),
            durability: self.durability,
            seams: seams.clone(),
            parallel: self.runner.parallel_mode(),
            options,
            concurrency: self.runner.concurrency(),
            cache: self.runner.cache_ref().clone(),
            measure: self.runner.measures(),
            metrics: self.runner.metrics_ref().cloned(),
            spans,
            tags: tags.clone(),
            lease: Arc::downgrade(&whole_lease),
            relay: Some(Arc::downgrade(&relay)),
            made: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            ledger: Mutex::default(),
        });
        context.host = Some(host.clone());
        let context = Arc::new(context);
        let mut machine = Machine::new(graph.clone(), options, context.clone(), tags);
        if let Some(store) = &store {
            match self.at {
                None => drop(self.runner.restore_head(&**store, &self.thread, &mut machine).await?),
                Some(id) => {
                    let stored = store.load(&place, Some(id)).await;
                    let stored = stored.map_err(|cause| RunError::Store { thread: self.thread.clone(), cause })?;
                    let unknown = || RunError::UnknownCheckpoint { thread: self.thread.clone(), id };
                    // What was saved since belongs to the old branch.
                    machine.restore(Stored { saved: Vec::new(), ..stored.ok_or_else(unknown)? })?;
                    machine.branch();
                }
            }
        }
        machine.break_at(before, after);
        if let Some(again) = &self.again {
            machine.run_until(again.until);
        }
        *step = machine.step();
        if let Some(hub) = live.hub() {
            hub.send(Origin::step(*step), EventKind::Started).await;
        }
        let mut bench = Bench::new(graph, context, seams, self.runner.guards());
        bench.live = Some(live.clone());
        bench.measure = self.runner.measures();
        bench.metrics = self.runner.metrics_ref().cloned();
        bench.spans = spans;
        let bench = Arc::new(bench);
        let mut driver = LocalDriver {
            keep,
            durability: self.durability,
            parallel: self.runner.parallel_mode(),
            watched: bench.metrics.is_some() || spans.on,
            stays: 0,
            in_step: false,
            node_time: Vec::new(),
            bench: bench.clone(),
        };
        let stopped = driver.drive(&mut machine, self.start).await;
        *step = machine.step();
        let mut report = report(&mut machine, &driver);
        host.finish(machine.step(), &mut report).await;
        let ended = match stopped {
            Ok(Stopped::Done) => Ok(if machine.frontier().completed { Status::Completed } else { Status::Done }),
            Ok(Stopped::Drained) => Ok(Status::Drained),
            Ok(Stopped::Paused) => Ok(Status::Paused),
            Ok(Stopped::Cancelled) => match (self.cancel.cause(), self.deadline) {
                (Some(Cause::Deadline), Some(limit)) => {
                    let (thread, step, pending) = (self.thread, machine.step(), report.pending.clone());
                    Err(RunError::Deadline { thread, step, limit, pending })
                }
                _ => Ok(Status::Cancelled),
            },
            Ok(Stopped::Failed(error)) | Err(error) => Err(error),
        };
        match ended {
            Ok(status) => Ok(TurnEnd {
                status,
                replies: machine.frontier().replies.clone(),
                state: Snap::shared(machine.snapshot().clone()),
                report,
            }),
            Err(error) => Err(TurnError::new(error, report, driver.keep.is_some())),
        }
    }
}

/// What the machine counted, and what only the driver knows.
fn report<S: State>(machine: &mut Machine<S>, driver: &LocalDriver<S>) -> RunReport {
    let mut report = machine.take_report();
    let bench = &driver.bench;
    let times = bench.graph.inner().names.iter().zip(&driver.node_time).filter(|(_, took)| !took.is_zero());
    report.node_time = times.map(|(name, took)| (name.clone(), *took)).collect();
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
