//! Runs the plan on the engine, turn by turn, and keeps everything that could be seen from outside.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, join, join3, select};
use graph_engine::{Parallel, Runner, Seams, Slow, StreamOptions, Thread, Turn, TurnEnd, TurnError};
use tokio::time::sleep;

use super::build::Built;
use super::plan::{SeedPlan, TurnEnv};
use super::readers::{read_all, read_slowly, read_some};
use super::state::{Facts, Sim, update};
use super::store::{Noted, SimStore};
use super::trace::{After, Intent, MODES, Result as Outcome, Trace, TurnTrace};
use super::world::{SimClock, World};

/// The only thread of a session.
pub(super) const THREAD: &str = "simulated";

/// Longer than any turn, in milliseconds.
const ROUND: u64 = 1 << 24;

/// Runs all turns of a seed in one mode of parallelism.
///
/// # Errors
/// What is wrong with the thread after a turn, apart from what the oracle judges.
pub(super) async fn run(
    plan: &SeedPlan,
    built: &Built,
    world: &Arc<World>,
    parallel: Parallel,
) -> Result<Trace, String> {
    let seams = Seams::default().clock(SimClock(world.clone())).seed(plan.seed).numbered_turns();
    let limits = built.0.runner().step_limit(plan.step_limit).stay_limit(plan.stay_limit);
    let mut runner = limits.parallel(parallel).seams(seams);
    let store = plan.store.map(|outlives| SimStore::new(outlives, plan.commit_delay));
    if let Some(store) = &store {
        runner = runner.store(store.clone());
    }
    let thread = runner.thread(THREAD);
    let mut session = Session { thread, runner, store, world, idle: true };
    let mut trace = Trace::default();
    for (number, env) in (0..).zip(&plan.turns) {
        world.begin_turn(number);
        let turn = session.turn(env).await?;
        let over = matches!(&turn.after, Some(after) if after.completed) && turn.intent == Intent::Run;
        trace.turns.push(turn);
        if over {
            break;
        }
    }
    if session.store.is_some() {
        session.thread.delete().await.map_err(|error| format!("I9 the idle thread can't be deleted: {error}"))?;
    }
    Ok(trace)
}

struct Session<'w> {
    thread: Thread<Sim>,
    runner: Runner<Sim>,
    store: Option<SimStore>,
    world: &'w Arc<World>,
    /// The thread has nothing to do.
    idle: bool,
}

impl Session<'_> {
    async fn turn(&mut self, env: &TurnEnv) -> Result<TurnTrace, String> {
        let intent = self.intent(env);
        let began = self.world.now();
        if let Some(store) = &self.store {
            store.arm(env.commit_fault, env.load_fault);
        }
        let mut trace = match intent {
            Intent::Abandon => {
                let ended = self.thread.abandon().await;
                TurnTrace {
                    result: Some(
                        ended.map(|()| None).map_err(|error| (error.to_string(), Some(Arc::new(error)), None)),
                    ),
                    ..TurnTrace::default()
                }
            }
            _ => self.run(env, &intent).await?,
        };
        (trace.intent, trace.began) = (intent, began);
        trace.noted = self.store.as_ref().map_or_else(Noted::default, SimStore::disarm);
        self.settle().await?;
        trace.records = self.world.take_records();
        trace.after = self.after().await?;
        self.idle = trace.after.as_ref().is_none_or(|after| after.next.is_empty());
        // The next turn begins at a round moment, whenever the slowest reader of this one was done.
        sleep(Duration::from_millis(ROUND - self.world.now() % ROUND)).await;
        Ok(trace)
    }

    /// What to do with the thread as it is now.
    fn intent(&self, env: &TurnEnv) -> Intent {
        if self.store.is_none() {
            return if env.choice < 95 { Intent::Run } else { Intent::Proceed };
        }
        match (self.idle, env.choice) {
            (true, 0..92) => Intent::Run,
            (true, 92..97) | (false, 0..77) => Intent::Proceed,
            (true, _) | (false, 77..92) => Intent::Abandon,
            (false, _) => Intent::Run,
        }
    }

    async fn run(&self, env: &TurnEnv, intent: &Intent) -> Result<TurnTrace, String> {
        let mut turn = match intent {
            Intent::Proceed => self.thread.proceed(),
            _ => self.thread.run(update(&env.input)),
        };
        let (cancelled, drained) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let signal = |at: u64, moment: &Arc<OnceLock<u64>>| {
            let (world, moment) = (self.world.clone(), moment.clone());
            async move {
                sleep(Duration::from_millis(at)).await;
                let _ = moment.set(world.now());
            }
        };
        let began = self.world.now();
        if let Some(at) = env.cancel_at {
            turn = turn.cancel_on(signal(at, &cancelled));
        }
        if let Some(at) = env.drain_at {
            turn = turn.drain_on(signal(at, &drained));
        }
        if let Some(at) = env.deadline {
            turn = turn.deadline(Duration::from_millis(at));
        }
        let options = || StreamOptions::default().modes(MODES).buffer(100_000);
        let slow = env.slow_reader.then(|| turn.reader(options().buffer(2).slow(Slow::Disconnect)));
        let leaver = env.leaver.map(|events| (events, turn.reader(options())));
        let others = async { (read_slowly(slow).await, read_some(leaver).await) };
        let intruder = env.intruder.then(|| self.runner.thread(THREAD));
        let ended_at = OnceLock::new();
        let (ended, events, others) = if env.streamed && env.drop_at.is_none() {
            let stream = turn.stream_with(options());
            let both = async {
                let mut stream = stream;
                let mut events = Vec::new();
                while let Some(event) = stream.next().await {
                    events.push(event);
                }
                let _ = ended_at.set(self.world.now());
                (stream.end().await, events)
            };
            let ((ended, events), others) = join(both, others).await;
            (Some(ended), events, others)
        } else {
            let reader = turn.reader(options());
            let body = async {
                let Some(at) = env.drop_at else { return Some(self.timed(turn, &ended_at).await) };
                match select(turn.into_future(), Box::pin(sleep(Duration::from_millis(at)))).await {
                    Either::Left((ended, _)) => Some(ended),
                    Either::Right(_) => None,
                }
            };
            join3(body, read_all(reader, intruder), others).await
        };
        let dropped = ended.is_none();
        let late = env.deadline.map(|at| began + at).filter(|at| ended_at.get().is_none_or(|ended| ended >= at));
        let cancelled = cancelled.get().copied().or(late);
        let result = ended.map(judged);
        Ok(TurnTrace {
            dropped,
            cancelled,
            drained: drained.get().copied(),
            result,
            events,
            slow: others.0,
            leaver: others.1,
            ..TurnTrace::default()
        })
    }

    async fn timed(&self, turn: Turn<Sim>, ended_at: &OnceLock<u64>) -> Ended {
        let ended = turn.await;
        let _ = ended_at.set(self.world.now());
        ended
    }

    /// I10: whatever was left behind is gone after a few rounds of the runtime.
    async fn settle(&self) -> Result<(), String> {
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let nodes = self.world.alive();
        if tasks > 0 || nodes > 0 {
            return Err(format!("I10 {tasks} tasks and {nodes} nodes are alive after the turn"));
        }
        Ok(())
    }

    async fn after(&self) -> Result<Option<After>, String> {
        if self.store.is_none() {
            return Ok(None);
        }
        let state = self.thread.state().await.map_err(|error| format!("the state can't be read: {error}"))?;
        Ok(Some(After {
            facts: Facts::from(&*state.state),
            next: state.next.iter().map(ToString::to_string).collect(),
            replies: state.replies,
            completed: state.completed,
            step: state.step,
            head: state.checkpoint,
        }))
    }
}

type Ended = Result<TurnEnd<Sim>, TurnError>;

fn judged(ended: Ended) -> Outcome {
    match ended {
        Ok(TurnEnd { status, state, replies, report, .. }) => Ok(Some((status, Facts::from(&*state), replies, report))),
        Err(TurnError { error, report, .. }) => Err((error.to_string(), Some(Arc::new(*error)), Some(report))),
    }
}
