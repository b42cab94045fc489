//! Runs a graph step by step: what ran, what it wrote, what is next.

use std::fmt;
use std::sync::Arc;

use crate::driver::{Bench, Guards};
use crate::machine::{Answer, Ask, Machine, Start, Stopped, TaskOutcome};
use crate::name::Name;
use crate::reply::Reply;
use crate::run::Runner;
use crate::run_error::RunError;
use crate::state::State;
use crate::task::TurnContext;

/// A turn that stops after every super-step. Tasks of a step run one after the other, in order of their rank.
///
/// ```
/// use graph_engine::testing::Stepper;
/// use graph_engine::{Graph, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// async fn present() {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("explore", explore)
///     .node("present", present)
///     .edge(START, "explore")
///     .edge("explore", "present")
///     .compile()
///     .unwrap();
/// let mut stepper = Stepper::new(&graph.runner(), Trip::update()).unwrap();
/// let step = stepper.step().await.unwrap();
/// assert_eq!((step.ran[0].as_str(), step.wrote[0].as_str(), step.next[0].as_str()), ("explore", "city", "present"));
/// assert_eq!(stepper.state().city, "Oslo");
/// # });
/// ```
pub struct Stepper<S: State> {
    machine: Machine<S>,
    bench: Bench<S>,
    ask: Option<Ask<S>>,
}

/// One super-step.
///
/// ```
/// use graph_engine::testing::StepReport;
///
/// assert!(StepReport::default().next.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepReport {
    /// The nodes that ran, by rank; retried attempts are not listed again.
    pub ran: Vec<Name>,
    /// The fields that they wrote, by rank, each once.
    pub wrote: Vec<Name>,
    /// The nodes that run next; empty at the end.
    pub next: Vec<Name>,
}

impl<S: State> Stepper<S> {
    /// Begins a turn with this input on a new thread. The runner's store is not used.
    ///
    /// # Errors
    /// If merging the input or routing from START fails.
    pub fn new(runner: &Runner<S>, input: S::Update) -> Result<Self, RunError> {
        let graph = runner.graph().clone();
        let mut context = TurnContext::new("stepper".into(), "stepper".into(), graph.inner().names.clone());
        context.resources = runner.resources().clone();
        let turn = Arc::new(context);
        let mut options = runner.options();
        options.durable = false;
        let mut machine = Machine::new(graph.clone(), options, turn.clone(), None);
        let bench = Bench::new(graph, turn, runner.seams_ref().clone(), runner.guards().map(Guards::without_limits));
        let ask = Some(stopped(machine.next(Answer::Start(Start::Input(input))))?);
        Ok(Self { machine, bench, ask })
    }

    /// Runs one super-step. After the last one it does nothing and says so by an empty report.
    ///
    /// # Errors
    /// What a turn would fail with.
    pub async fn step(&mut self) -> Result<StepReport, RunError> {
        let mut report = StepReport::default();
        let step = self.machine.step();
        while self.machine.step() == step {
            match self.ask.take() {
                Some(Ask::Run(mut batch)) => {
                    self.bench.prepare(step, &mut batch);
                    for mut task in std::mem::take(&mut batch.tasks) {
                        if task.attempt == 1 {
                            report.ran.push(self.bench.graph.inner().name_of(task.node).clone());
                        }
                        let ended = self.bench.timed(&mut task).await;
                        drop(task);
                        if let TaskOutcome::Done(outcome) = &ended.outcome {
                            self.note_writes(&mut report, &outcome.update);
                        }
                        batch.outcomes.push((ended.id, ended.outcome));
                    }
                    self.ask = Some(stopped(self.machine.next(Answer::Ran(batch)))?);
                }
                // Nothing is durable here, and a stop is the end of the turn.
                Some(Ask::Commit(_) | Ask::Stop(_)) | None => break,
            }
        }
        report.next = self.machine.pending();
        Ok(report)
    }

    fn note_writes(&self, report: &mut StepReport, update: &S::Update) {
        let state = self.state();
        for field in state.written(update).iter() {
            let name = Name::from(&*state.fields()[field].name);
            if !report.wrote.contains(&name) {
                report.wrote.push(name);
            }
        }
    }

    /// The state after the last step.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.machine.snapshot().state
    }

    /// The replies so far.
    #[must_use]
    pub fn replies(&self) -> &[Reply] {
        &self.machine.frontier().replies
    }

    /// Whether nothing is left to run.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !matches!(self.ask, Some(Ask::Run(_)))
    }
}

/// A failure instead of the ask that carries it.
fn stopped<S: State>(ask: Ask<S>) -> Result<Ask<S>, RunError> {
    match ask {
        Ask::Stop(Stopped::Failed(error)) => Err(*error),
        other => Ok(other),
    }
}

impl<S: State> fmt::Debug for Stepper<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper").field("step", &self.machine.step()).finish_non_exhaustive()
    }
}
