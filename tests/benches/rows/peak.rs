//! The most memory that this process had.

/// Bytes, as the system counts them.
pub(crate) fn bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("rows 28 and 29 need Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak of the resident memory");
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kib * 1_024
}
