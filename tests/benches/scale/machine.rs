//! The machine that it was measured on.

use std::fs::read_to_string;

/// Model and number of its processors, its memory, and how busy it is.
pub(crate) fn describe() -> String {
    let value = |file: &str, field: &str| {
        let text = read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(field)).and_then(|line| line.split_once(':'));
        line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{}, {cores} cores, {} of memory, load average {}",
        value("/proc/cpuinfo", "model name"),
        value("/proc/meminfo", "MemTotal"),
        load(),
    )
}

/// Runnable processes on average of one, five and fifteen minutes.
pub(crate) fn load() -> String {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(", ")
}
