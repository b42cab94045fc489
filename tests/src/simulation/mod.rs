//! The whole engine in simulation: for each seed a random graph in a random environment, run on the local driver with
//! paused time, and judged by a second, simple model of what the engine promises.
//!
//! Everything follows from the seed: the graph and what its nodes do (`generator`, `behave`), what happens around the
//! turns (`plan`), and so every failure can be repeated. A session (`session`) leaves a trace of what could be seen from
//! outside; the oracle (`oracle`) follows it commit by commit, and `invariants` looks at the events.

mod behave;
mod build;
mod coverage;
mod generator;
mod invariants;
mod node;
mod oracle;
mod plan;
mod ranges;
mod rng;
mod route;
mod session;
mod state;
mod store;
mod trace;
mod world;

pub use coverage::{Construct, Coverage};
pub use ranges::{Failure, simulate_range};

use graph_engine::Parallel;
use oracle::Oracle;
use plan::SeedPlan;
use trace::{Trace, TurnTrace};
use world::World;

/// What nodes and routers panic with, so that their panics can be told from those of a broken test.
pub const PANIC: &str = "a simulated panic";

/// One seed in both modes of parallelism, and now and then the first once more. Needs a runtime of its own with one
/// thread and paused time.
///
/// # Errors
/// The first invariant that doesn't hold.
pub async fn simulate(seed: u64) -> Result<Coverage, String> {
    let plan = generator::generate(seed);
    let mut coverage = Coverage::default();
    let Some(joined) = run(&plan, Parallel::Joined, &mut coverage).await? else { return Ok(coverage) };
    let mut other = Coverage::default();
    let Some(spawned) = run(&plan, Parallel::Spawned, &mut other).await? else { return Ok(coverage) };
    if seed.is_multiple_of(8)
        && let Some(again) = run(&plan, Parallel::Joined, &mut Coverage::default()).await?
        && !again.equals(&joined)
    {
        let (first, second) = difference(&joined, &again);
        return Err(format!("I12 the same seed ran differently: first\n{first}\nthen\n{second}"));
    }
    let tied = |trace: &Trace| trace.turns.iter().zip(&plan.turns).any(|(turn, env)| turn.is_tied(env));
    // A store that keeps results of single tasks, and siblings that are cancelled: both look at who finished first, and
    // of tasks that finish at one moment either may.
    let saves = joined.turns.iter().any(TurnTrace::has_saves);
    let stopped = [&coverage, &other].iter().any(|seen| seen.has(Construct::SiblingsCancelled));
    if !tied(&joined) && !tied(&spawned) && !saves && !stopped {
        coverage.compared += 1;
        if !joined.equals(&spawned) {
            let (first, second) = difference(&joined, &spawned);
            return Err(format!("I12 the modes of parallelism differ: joined\n{first}\nspawned\n{second}"));
        }
    }
    Ok(coverage)
}

/// The first lines in which two sessions differ.
fn difference(one: &Trace, other: &Trace) -> (String, String) {
    let (one, other) = (one.text(), other.text());
    let lines = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    lines.map_or((one.clone(), other.clone()), |(one, other)| (one.to_owned(), other.to_owned()))
}

/// One session and its judgement. Nothing when the graph was refused.
async fn run(plan: &SeedPlan, parallel: Parallel, coverage: &mut Coverage) -> Result<Option<Trace>, String> {
    let world = World::new(plan.seed);
    let Ok(built) = build::build(&plan.graph, &world, &mut coverage.repaired) else {
        coverage.refused += 1;
        return Ok(None);
    };
    let trace = session::run(plan, &built, &world, parallel).await.map_err(|why| format!("{parallel:?}: {why}"))?;
    let mut oracle = Oracle::new(plan, &built.1);
    oracle.judge(&trace).map_err(|why| format!("{parallel:?}, {why}"))?;
    let repaired = coverage.repaired;
    *coverage = oracle.coverage;
    coverage.repaired = repaired;
    Ok(Some(trace))
}

/// The seed as people read it: the plan, what happened, and what is wrong with it.
pub async fn explain(seed: u64) -> String {
    let plan = generator::generate(seed);
    let mut text = format!("{plan:#?}\n");
    let world = World::new(plan.seed);
    match build::build(&plan.graph, &world, &mut 0) {
        Ok(built) => match session::run(&plan, &built, &world, Parallel::Joined).await {
            Ok(trace) => text += &trace.text(),
            Err(why) => text += &why,
        },
        Err(refused) => text += &refused.to_string(),
    }
    match simulate(seed).await {
        Ok(_) => text + "\nall invariants hold",
        Err(why) => text + "\n" + &why,
    }
}
