//! What all Rust programs of the comparison share: the question on the command line, clocks, messages, the line of the
//! answer.
//!
//! ```text
//! PROGRAM WORKLOAD N VARIANT SAMPLES FOLDER
//! ```

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde_json::{Value, json};

/// A sample is at least so long: work that is shorter is done several times in one.
const SHORTEST: Duration = Duration::from_millis(50);

/// Work that takes longer needs no other work to warm up.
const LONG: Duration = Duration::from_millis(500);

/// What a program is asked for.
pub struct Asked {
    pub workload: String,
    pub n: u64,
    pub variant: String,
    samples: usize,
    folder: PathBuf,
}

/// CPU and wall time, in nanoseconds a unit.
#[derive(Default)]
pub struct Times {
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

impl Asked {
    /// Reads the command line, from the argument with this number.
    pub fn from_args(first: usize) -> Self {
        let mut args = std::env::args().skip(first);
        let mut next = |what: &str| args.next().unwrap_or_else(|| panic!("{what} is missing"));
        Self {
            workload: next("WORKLOAD"),
            n: next("N").parse().expect("N is a number"),
            variant: next("VARIANT"),
            samples: next("SAMPLES").parse().expect("SAMPLES is a number"),
            folder: next("FOLDER").into(),
        }
    }

    /// A path for a file that isn't there yet.
    pub fn fresh_file(&self, run: u64) -> PathBuf {
        let path = self.folder.join(format!("{}-{run}.sqlite", std::process::id()));
        ["", "-wal", "-shm", "-journal"].iter().for_each(|end| drop(std::fs::remove_file(with_end(&path, end))));
        path
    }

    /// Does work again and again, after once to warm up. What it needs is made, and what it leaves is dropped, outside
    /// of the time. Returns what the last work left, too.
    pub fn each_kept<T, R>(&self, units: u64, mut make: impl FnMut() -> T, mut work: impl FnMut(T) -> R) -> (Times, R) {
        let mut once = || {
            let thing = make();
            let (begin, cpu_begin) = (Instant::now(), ProcessTime::now());
            let left = work(thing);
            (cpu_begin.elapsed(), begin.elapsed(), left)
        };
        let per_unit = |time: Duration, repeats: u32| time.as_nanos() as f64 / f64::from(repeats) / units as f64;
        let mut times = Times::default();
        let (cpu, wall, mut last) = once();
        // Work that is as long as that has warmed up on its way.
        if wall > LONG {
            times.cpu.push(per_unit(cpu, 1));
            times.wall.push(per_unit(wall, 1));
        }
        let repeats = (SHORTEST.as_nanos() / wall.as_nanos().max(1)).clamp(1, 10_000) as u32;
        while times.cpu.len() < self.samples {
            let (mut cpu, mut wall) = (Duration::ZERO, Duration::ZERO);
            for _ in 0..repeats {
                drop(last);
                let (more_cpu, more_wall, left) = once();
                cpu += more_cpu;
                wall += more_wall;
                last = left;
            }
            times.cpu.push(per_unit(cpu, repeats));
            times.wall.push(per_unit(wall, repeats));
        }
        (times, last)
    }

    /// The same without what the last work left.
    pub fn each<T, R>(&self, units: u64, make: impl FnMut() -> T, work: impl FnMut(T) -> R) -> Times {
        self.each_kept(units, make, work).0
    }

    /// The same for work that needs nothing made.
    pub fn times<R>(&self, units: u64, mut work: impl FnMut() -> R) -> Times {
        self.each(units, || (), |()| work())
    }

    /// Prints the line of the answer.
    pub fn answer(&self, implementation: &str, times: Times, bytes: Option<u64>) {
        let line = json!({
            "impl": implementation, "workload": self.workload, "n": self.n, "variant": self.variant,
            "cpu": times.cpu, "wall": times.wall, "bytes": bytes, "peak_kib": peak_kib(),
        });
        println!("{line}");
    }
}

/// Prints what a whole process says of itself at its end.
pub fn cold_answer() {
    println!("{}", json!({"peak_kib": peak_kib()}));
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut whole = path.as_os_str().to_owned();
    whole.push(end);
    whole.into()
}

/// The largest size that the process had so far.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// Bytes of the file of a store that was dropped, and of the log beside it if it is still there after five seconds.
pub fn stored_bytes(path: &Path) -> u64 {
    let size = |end| std::fs::metadata(with_end(path, end)).map_or(0, |file| file.len());
    for _ in 0..100 {
        if size("-wal") == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    size("") + size("-wal")
}

/// So many letters that no store can compress.
pub fn letters(seed: u64, size: usize) -> String {
    let mut x = (seed as u32).wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut letter = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abcdefghijklmnopqrstuvwxyz012345"[(x >> 27) as usize])
    };
    (0..size).map(|_| letter()).collect()
}

/// The `i`th message of 100 bytes of text.
pub fn message(i: u64) -> Value {
    json!({"role": role(i), "id": i, "content": letters(i, 100)})
}

/// Who says the `i`th message.
pub fn role(i: u64) -> &'static str {
    if i % 2 == 0 { "user" } else { "assistant" }
}
