//! Pairs of measurements, and the lines that are printed of them.

use std::time::Duration;

use cpu_time::ProcessTime;

const PAIRS: usize = 9;

/// Work that says itself how much CPU time of it counts.
pub(crate) type Timed<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Work of which everything counts, done so many times.
pub(crate) fn times<'a>(count: u64, mut work: impl FnMut() + 'a) -> Timed<'a> {
    Box::new(move || cpu(|| (0..count).for_each(|_| work())))
}

/// Work on things that are made beforehand, outside of the time.
pub(crate) fn on_each<'a, T>(count: u64, make: impl Fn() -> T + 'a, work: impl Fn(T) + 'a) -> Timed<'a> {
    Box::new(move || {
        let things: Vec<T> = (0..count).map(|_| make()).collect();
        cpu(|| things.into_iter().for_each(&work))
    })
}

/// CPU time of the process.
pub(crate) fn cpu(work: impl FnOnce()) -> Duration {
    let start = ProcessTime::now();
    work();
    start.elapsed()
}

/// One line of the table: what is compared, and what is asked of the second.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// Units of one run of each side.
    pub(crate) units: (u64, u64),
    pub(crate) target: Target,
}

/// What is asked of a row.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// At most so many nanoseconds a unit.
    Nanoseconds(f64),
    /// At most so many times the first side.
    Ratio(f64),
    /// Shown beside the others, without a target of its own.
    Shown,
}

impl Row {
    /// Measures both sides in turn and prints the line, if its name is asked for.
    pub(crate) fn pair(&self, mut first: Timed<'_>, mut second: Timed<'_>) {
        if !asked_for(&self.name) {
            return;
        }
        first();
        second();
        let per_unit = |took: Duration, units: u64| took.as_nanos() as f64 / units as f64;
        let pairs: Vec<(f64, f64)> =
            (0..PAIRS).map(|_| (per_unit(first(), self.units.0), per_unit(second(), self.units.1))).collect();
        let ratio = median(pairs.iter().map(|(first, second)| second / first));
        let (first, second) = (median(pairs.iter().map(|pair| pair.0)), median(pairs.iter().map(|pair| pair.1)));
        let (target, verdict) = self.target.judge(second, ratio);
        let Self { name, unit, .. } = self;
        print(&format!("| {name} | {unit} | {first:.0} ns | {second:.0} ns | {ratio:.2} | {target} | {verdict} |"));
    }
}

impl Target {
    fn judge(self, nanoseconds: f64, ratio: f64) -> (String, String) {
        match self {
            Self::Nanoseconds(target) if nanoseconds <= target => (format!("{target:.0} ns"), "reached".to_owned()),
            Self::Nanoseconds(target) => {
                (format!("{target:.0} ns"), format!("short by {:.0} ns", nanoseconds - target))
            }
            Self::Ratio(target) if ratio <= target => (format!("{target:.2}"), "reached".to_owned()),
            Self::Ratio(target) => (format!("{target:.2}"), format!("short by {:.2}", ratio - target)),
            Self::Shown => ("-".to_owned(), "-".to_owned()),
        }
    }
}

/// Whether an argument of the command names the row; without arguments all are asked for.
fn asked_for(name: &str) -> bool {
    let mut wanted = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).peekable();
    wanted.peek().is_none() || wanted.any(|part| name.contains(&part))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
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
