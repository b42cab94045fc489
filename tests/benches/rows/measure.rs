//! Pairs of measurements: both sides in turn, so that a busy machine is busy for both.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Which time counts.
#[derive(Clone, Copy, PartialEq)]
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

/// Work that says itself how much of its time counts.
pub(crate) type Timed<'a> = Box<dyn FnMut(Clock) -> Duration + 'a>;

/// Work of which everything counts, done so many times.
pub(crate) fn times<'a>(count: u64, mut work: impl FnMut() + 'a) -> Timed<'a> {
    Box::new(move |clock| clock.time(|| (0..count).for_each(|_| work())))
}

/// Work on things that are made beforehand, outside of the time.
pub(crate) fn on_each<'a, T>(count: u64, make: impl Fn() -> T + 'a, work: impl Fn(T) + 'a) -> Timed<'a> {
    Box::new(move |clock| {
        let things: Vec<T> = (0..count).map(|_| make()).collect();
        clock.time(|| things.into_iter().for_each(&work))
    })
}

/// Work on one thing that is made before it and dropped after it, both outside of the time.
pub(crate) fn with<'a, T>(make: impl Fn() -> T + 'a, work: impl Fn(&mut T) + 'a) -> Timed<'a> {
    Box::new(move |clock| {
        let mut thing = make();
        clock.time(|| work(&mut thing))
    })
}

/// Nanoseconds a unit on both sides, and the median of the ratios pair by pair.
pub(crate) struct Pairs {
    pub(crate) first: f64,
    pub(crate) second: f64,
    pub(crate) ratio: f64,
}

/// Measures both sides in turn.
pub(crate) fn pairs(
    count: usize,
    clock: Clock,
    units: (u64, u64),
    mut first: Timed<'_>,
    mut second: Timed<'_>,
) -> Pairs {
    first(clock);
    second(clock);
    let per_unit = |took: Duration, units: u64| took.as_nanos() as f64 / units as f64;
    let pairs: Vec<(f64, f64)> =
        (0..count).map(|_| (per_unit(first(clock), units.0), per_unit(second(clock), units.1))).collect();
    Pairs {
        first: median(pairs.iter().map(|pair| pair.0)),
        second: median(pairs.iter().map(|pair| pair.1)),
        ratio: median(pairs.iter().map(|(first, second)| second / first)),
    }
}

/// Nanoseconds a unit of one side.
pub(crate) fn alone(count: usize, clock: Clock, units: u64, mut work: Timed<'_>) -> f64 {
    work(clock);
    median((0..count).map(|_| work(clock).as_nanos() as f64 / units as f64))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
