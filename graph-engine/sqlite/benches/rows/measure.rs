//! Pairs of measurements, and the lines that are printed of them.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

const PAIRS: usize = 9;

/// Which time counts.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    /// CPU time of the process, all its threads together.
    Cpu,
    Wall,
}

impl Clock {
    pub(crate) fn time(self, work: impl FnOnce()) -> Duration {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        work();
        match self {
            Self::Cpu => cpu.elapsed(),
            Self::Wall => wall.elapsed(),
        }
    }
}

/// Measures both sides in turn. The first one is timed here; the second says itself how long its part took.
pub(crate) fn pair<'a>(
    name: &str,
    unit: &str,
    units: u64,
    clock: Clock,
    first: impl Fn() -> Box<dyn FnOnce() + 'a>,
    second: impl Fn(Clock) -> Duration,
    target: f64,
) {
    let per_unit = |took: Duration| took.as_nanos() as f64 / units as f64;
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for _ in 0..PAIRS {
        let limit = first();
        pairs.push((per_unit(clock.time(limit)), per_unit(second(clock))));
    }
    let median = |value: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (one, two, ratio) = (median(&|pair| pair.0), median(&|pair| pair.1), median(&|pair| pair.1 / pair.0));
    print(&format!(
        "| {name} | {unit} | {:.2} us | {:.2} us | {ratio:.2} | {target:.2} |",
        one / 1_000.0,
        two / 1_000.0
    ));
}

/// A line of sizes.
pub(crate) fn line(name: &str, steps: u64, limit: u64, store: u64, ratio: f64, target: f64) {
    print(&format!("| {name} | {steps} | {limit} B | {store} B | {ratio:.2} | {target:.2} |"));
}

/// Begins a table.
pub(crate) fn heading(columns: &[&str]) {
    print(&format!("\n| {} |", columns.join(" | ")));
    print(&format!("|{}", " --- |".repeat(columns.len())));
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
fn print(line: &str) {
    println!("{line}");
}
