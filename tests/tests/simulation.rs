//! The whole engine, seed by seed. `SIMULATE_FROM`, `SIMULATE_SEEDS` and `SIMULATE_EXPLAIN` choose the seeds; see
//! `docs/simulation.md`.

use std::env;
use std::io::{Write, stderr};
use std::time::Instant;

use behaviour_tests::simulation::{explain, simulate_range};

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
    let coverage = simulate_range(from, count, progress).unwrap_or_else(|failure| {
        let seed = failure.seed;
        let text = env::var("SIMULATE_EXPLAIN").map(|_| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(explain(seed))
        });
        say(text.unwrap_or_default());
        panic!("seed {seed}: {}\nreproduce it with: scripts/simulate --seed {seed}", failure.why);
    });
    say(format!("{coverage}{:.1} s\n", began.elapsed().as_secs_f64()));
    assert_eq!(coverage.refused * 50 / count.max(1), 0, "more than 2 % of the graphs were refused");
    if count >= ENOUGH {
        let rare = coverage.below(PERCENT);
        assert!(rare.is_empty(), "in less than {PERCENT} % of the seeds: {rare:#?}");
    }
}
