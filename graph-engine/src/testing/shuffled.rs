//! A second driver over the same machine: tasks run one by one in an order chosen by a seed, attempts fail and the
//! process "crashes" where the seed says so.

use std::sync::Arc;

use crate::driver::{Bench, Guards};
use crate::machine::{Answer, Ask, Batch, Failure, Machine, Start, Stopped, TaskOutcome};
use crate::reply::Reply;
use crate::run::Runner;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointStore, MemoryStore, Place};
use crate::task::{Snap, TurnContext};

/// Runs a turn in an order that depends only on a seed.
///
/// Injected failures are retryable; once they are final the turn proceeds, and after a crash it is restored from the
/// last checkpoint. So every seed must end like an undisturbed run.
///
/// ```
/// use graph_engine::testing::Shuffled;
/// use graph_engine::{Graph, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     cities: Vec<String>,
/// }
///
/// async fn north() -> TripUpdate {
///     Trip::update().cities(["Oslo"])
/// }
///
/// async fn south() -> TripUpdate {
///     Trip::update().cities(["Porto"])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip")
///     .node("north", north)
///     .node("south", south)
///     .edge(START, "north")
///     .edge(START, "south")
///     .compile()
///     .unwrap();
/// for seed in 0..100 {
///     let run = Shuffled::new(seed).failures(5).crashes(5).run(&graph.runner(), Trip::update).await;
///     assert_eq!(run.state.cities, ["Oslo", "Porto"]);
/// }
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Shuffled {
    seed: u64,
    fail_one_in: u64,
    crash_one_in: u64,
}

/// How a shuffled turn ended, and what happened on the way.
#[derive(Debug)]
#[non_exhaustive]
pub struct ShuffledRun<S> {
    /// The state at the end.
    pub state: Snap<S>,
    /// Direct replies by (step, task).
    pub replies: Vec<Reply>,
    /// Super-steps.
    pub steps: u64,
    /// The error, for a turn that fails whatever the order.
    pub error: Option<RunError>,
    /// Attempts that were made to fail.
    pub failures: u64,
    /// Restores from the last checkpoint.
    pub crashes: u64,
}

/// What goes on: the machine with its answer, or the end.
enum Act<S: State> {
    Go(Answer<S>),
    Crash,
    End(Option<RunError>),
}

struct Run<'a, S: State> {
    bench: Bench<S>,
    runner: &'a Runner<S>,
    store: MemoryStore,
    place: Place,
    rng: Rng,
    options: Shuffled,
    failures: u64,
    crashes: u64,
}

impl Shuffled {
    /// An order without failures and crashes.
    pub fn new(seed: u64) -> Self {
        Self { seed, fail_one_in: 0, crash_one_in: 0 }
    }

    /// Makes one of so many attempts fail.
    pub fn failures(mut self, one_in: u64) -> Self {
        self.fail_one_in = one_in;
        self
    }

    /// Crashes at one of so many places: before a task, before and after a commit.
    pub fn crashes(mut self, one_in: u64) -> Self {
        self.crash_one_in = one_in;
        self
    }

    /// Runs one turn on a new thread of its own store. The input is made anew after a crash before the first commit.
    pub async fn run<S: State>(self, runner: &Runner<S>, input: impl Fn() -> S::Update) -> ShuffledRun<S> {
        let graph = runner.graph().clone();
        let mut context = TurnContext::new("shuffled".into(), "shuffled".into(), graph.inner().names.clone());
        context.resources = runner.resources().clone();
        context.durable = true;
        let turn = Arc::new(context);
        let mut run = Run {
            bench: Bench::new(
                graph,
                turn.clone(),
                runner.seams_ref().clone(),
                runner.guards().map(Guards::without_limits),
            ),
            runner,
            store: MemoryStore::new(),
            place: Place::thread("shuffled"),
            rng: Rng(self.seed),
            options: self,
            failures: 0,
            crashes: 0,
        };
        let mut machine = run.machine(turn.clone());
        let mut answer = Answer::Start(Start::Input(input()));
        let error = loop {
            let ask = machine.next(answer);
            match run.act(machine.step(), ask).await {
                Act::Go(next) => answer = next,
                Act::End(error) => break error,
                Act::Crash => {
                    run.crashes += 1;
                    machine = run.machine(turn.clone());
                    answer = match run.store.load(&run.place, None).await {
                        Ok(Some(stored)) => match machine.restore(stored) {
                            Ok(()) => Answer::Start(Start::Recover),
                            Err(error) => break Some(error),
                        },
                        Ok(None) => Answer::Start(Start::Input(input())),
                        Err(cause) => break Some(RunError::Store { thread: run.place.thread.clone(), cause }),
                    };
                }
            }
        };
        ShuffledRun {
            state: Snap::shared(machine.snapshot().clone()),
            replies: machine.frontier().replies.clone(),
            steps: machine.step(),
            error,
            failures: run.failures,
            crashes: run.crashes,
        }
    }
}

impl<S: State> Run<'_, S> {
    fn machine(&self, turn: Arc<TurnContext>) -> Machine<S> {
        let mut options = self.runner.options();
        options.durable = true;
        Machine::new(self.bench.graph.clone(), options, turn, None)
    }

    fn crash(&mut self) -> bool {
        self.rng.one_in(self.options.crash_one_in)
    }

    async fn act(&mut self, step: u64, ask: Ask<S>) -> Act<S> {
        match ask {
            Ask::Run(batch) => self.tasks(step, batch).await,
            Ask::Commit(commit) => {
                if self.crash() {
                    return Act::Crash;
                }
                if let Err(cause) = self.store.commit(&self.place, &commit).await {
                    return Act::End(Some(RunError::Store { thread: self.place.thread.clone(), cause }));
                }
                if self.crash() { Act::Crash } else { Act::Go(Answer::Committed(commit)) }
            }
            Ask::Stop(stopped) => match stopped {
                Stopped::Failed(error) => match *error {
                    RunError::Step { failures, .. }
                        if failures.iter().all(|failure| failure.source.to_string() == INJECTED) =>
                    {
                        Act::Go(Answer::Start(Start::Proceed))
                    }
                    error => Act::End(Some(error)),
                },
                Stopped::Done | Stopped::Cancelled | Stopped::Drained | Stopped::Paused => Act::End(None),
            },
        }
    }

    async fn tasks(&mut self, step: u64, mut batch: Box<Batch<S>>) -> Act<S> {
        self.bench.prepare(step, &mut batch);
        while !batch.tasks.is_empty() {
            if self.crash() {
                return Act::Crash;
            }
            let at = self.rng.below(batch.tasks.len() as u64);
            let mut task = batch.tasks.swap_remove(usize::try_from(at).unwrap_or(0));
            if self.rng.one_in(self.options.fail_one_in) {
                self.failures += 1;
                let failed = TaskOutcome::Failed(Failure::fatal(INJECTED.into()));
                batch.outcomes.push((task.id, failed));
            } else {
                let ended = self.bench.timed(&mut task).await;
                batch.outcomes.push((ended.id, ended.outcome));
            }
        }
        Act::Go(Answer::Ran(batch))
    }
}

const INJECTED: &str = "injected by the shuffled driver";

/// Splitmix64: the only source of chance.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// Never for 0.
    fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }
}
