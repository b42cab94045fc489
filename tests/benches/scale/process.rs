//! What the system says of this process, and times of it.

use std::time::Instant;

use cpu_time::ProcessTime;

/// Resident bytes now.
pub(crate) fn resident() -> u64 {
    status("VmRSS:")
}

/// The most resident bytes so far.
pub(crate) fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("memory is read from Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field of the status");
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kib * 1_024
}

/// How much larger this process has become since, for each of so many.
pub(crate) fn each(before: u64, count: u64) -> f64 {
    (resident() as f64 - before as f64) / count as f64
}

/// Time that passes, and CPU time of all threads of the process.
pub(crate) struct Since {
    wall: Instant,
    cpu: ProcessTime,
}

impl Since {
    pub(crate) fn now() -> Self {
        Self { wall: Instant::now(), cpu: ProcessTime::now() }
    }

    /// Seconds that passed, seconds of CPU.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), self.cpu.elapsed().as_secs_f64())
    }
}

/// The middle of them.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
