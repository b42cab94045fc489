//! The whole engine, seed by seed. `SIMULATE_FROM`, `SIMULATE_SEEDS` and `SIMULATE_EXPLAIN` choose the seeds; see
//! `docs/simulation.md`.

use std::env;
use std::io::{Write, stderr};
use std::time::Instant;

use behaviour_tests::simulation::{Effort, Failure, explain, simulate_range};

/// Seeds of an ordinary test run.
const SEEDS: u64 = 10_000;
/// From so many seeds on, each construct must have happened in so many percent of them.
const ENOUGH: u64 = 2_000;
const PERCENT: f64 = 5.0;

fn number(name: &str, default: u64) -> u64 {
    let text = env::var(name).unwrap_or_default();
    if text.is_empty() { default } else { text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")) }
}

#[test]
fn no_seed_breaks_an_invariant_and_every_construct_happens() {
    let (from, count) = (number("SIMULATE_FROM", 0), number("SIMULATE_SEEDS", SEEDS));
    // A chosen seed or a long run is worth the other mode of parallelism too.
    let effort = if env::var("SIMULATE_SEEDS").is_ok() { Effort::Thorough } else { Effort::Quick };
    let began = Instant::now();
    // The harness holds back what is printed by macros until the test ends.
    let say = |text: String| {
        let _ = stderr().lock().write_all(text.as_bytes());
    };
    let every = (count / 20).max(1);
    let progress = |done: u64| {
        if count > SEEDS && done / every != done.saturating_sub(50) / every {
            let seconds = began.elapsed().as_secs_f64();
            say(format!("{done} of {count} seeds, {seconds:.0} s\n"));
        }
    };
    if env::var("SIMULATE_EXPLAIN").is_ok() && count == 1 {
        say(explain(from));
    }
    let coverage = simulate_range(from, count, effort, progress).unwrap_or_else(|failure| {
        let Failure { seed, why } = failure;
        panic!("seed {seed}: {why}\nreproduce it with: scripts/simulate --seed {seed}");
    });
    say(format!("{coverage}{:.1} s\n", began.elapsed().as_secs_f64()));
    assert_eq!(coverage.refused * 50 / count.max(1), 0, "more than 2 % of the graphs were refused");
    if count >= ENOUGH {
        let rare = coverage.below(PERCENT);
        assert!(rare.is_empty(), "in less than {PERCENT} % of the seeds: {rare:#?}");
    }
}
