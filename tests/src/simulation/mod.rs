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
mod readers;
mod rng;
mod route;
mod session;
mod state;
mod store;
mod trace;
mod world;

pub use coverage::{Construct, Coverage};
pub use ranges::{Failure, explain, simulate_range};

use graph_engine::Parallel;
use oracle::Oracle;
use plan::SeedPlan;
use trace::{Trace, TurnTrace};
use world::World;

/// What nodes and routers panic with, so that their panics can be told from those of a broken test.
pub const PANIC: &str = "a simulated panic";

/// How much is done with each seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One session in one mode of parallelism; now and then both, and now and then one of them twice.
    Quick,
    /// Both modes for every seed, and one of them twice for some.
    Thorough,
}

/// Runs and judges one seed. Needs a runtime of its own with one thread and paused time.
///
/// # Errors
/// The first invariant that doesn't hold.
pub async fn simulate(seed: u64, effort: Effort) -> Result<Coverage, String> {
    let plan = generator::generate(seed);
    let (mut coverage, mut other) = (Coverage::default(), Coverage::default());
    let (one, two) = match seed % 2 {
        0 => (Parallel::Joined, Parallel::Spawned),
        _ => (Parallel::Spawned, Parallel::Joined),
    };
    let Some(first) = run(&plan, one, &mut coverage).await? else { return Ok(coverage) };
    let rare = effort == Effort::Quick && !seed.is_multiple_of(3);
    if !rare
        && (seed / 2).is_multiple_of(4)
        && let Some(again) = run(&plan, one, &mut Coverage::default()).await?
        && !again.equals(&first)
    {
        let (first, second) = difference(&first, &again);
        return Err(format!("I12 the same seed ran differently: first\n{first}\nthen\n{second}"));
    }
    if rare {
        return Ok(coverage);
    }
    let Some(second) = run(&plan, two, &mut other).await? else { return Ok(coverage) };
    let tied = |trace: &Trace| trace.turns.iter().zip(&plan.turns).any(|(turn, env)| turn.is_tied(env));
    // A store that keeps results of single tasks, and siblings that are cancelled: both look at who finished first, and
    // of tasks that finish at one moment either may.
    let saves = first.turns.iter().any(TurnTrace::has_saves);
    let stopped = [&coverage, &other].iter().any(|seen| seen.has(Construct::SiblingsCancelled));
    if !tied(&first) && !tied(&second) && !saves && !stopped {
        coverage.compared += 1;
        if !first.equals(&second) {
            let (first, second) = difference(&first, &second);
            return Err(format!("I12 the modes of parallelism differ: {one:?}\n{first}\n{two:?}\n{second}"));
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

/// The plan of a seed, what happened, and what is wrong with it.
async fn explained(seed: u64) -> String {
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
    match simulate(seed, Effort::Thorough).await {
        Ok(_) => text + "\nall invariants hold",
        Err(why) => text + "\n" + &why,
    }
}
