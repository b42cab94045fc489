//! Many seeds on all cores: each worker has its own runtime with one thread and paused time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::coverage::Coverage;
use super::{Effort, PANIC, simulate};

/// A seed for which an invariant doesn't hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// What is wrong.
    pub why: String,
}

/// Seeds that a worker takes at a time.
const CHUNK: u64 = 50;

/// Runs seeds until one fails or all are done. `progress` is told how many are.
///
/// # Errors
/// The lowest seed that failed among those that were run.
pub fn simulate_range(
    from: u64,
    count: u64,
    effort: Effort,
    progress: impl Fn(u64) + Sync,
) -> Result<Coverage, Failure> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let (next, done) = (AtomicU64::new(from), AtomicU64::new(0));
    let total: Mutex<Result<Coverage, Failure>> = Mutex::new(Ok(Coverage::default()));
    let end = from.saturating_add(count);
    let work = || {
        quiet();
        loop {
            let first = next.fetch_add(CHUNK, Ordering::SeqCst);
            let failed = total.lock().unwrap_or_else(PoisonError::into_inner).is_err();
            if first >= end || failed {
                return;
            }
            let last = end.min(first + CHUNK);
            let ran = chunk(first, last, effort);
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *total, ran) {
                (Ok(total), Ok(ran)) => total.add(&ran),
                (Err(known), Err(new)) if new.seed < known.seed => *known = new,
                (Ok(_), Err(new)) => *total = Err(new),
                (Err(_), _) => {}
            }
            drop(total);
            progress(done.fetch_add(last - first, Ordering::SeqCst) + last - first);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn chunk(first: u64, last: u64, effort: Effort) -> Result<Coverage, Failure> {
    let mut total = Coverage::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| Failure { seed: first, why: format!("no runtime: {error}") })?;
    for seed in first..last {
        let ran = catch_unwind(AssertUnwindSafe(|| runtime.block_on(simulate(seed, effort))));
        let ran = ran.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("it panicked: {}", text.unwrap_or_default()))
        });
        match ran {
            Ok(coverage) => total.add_seed(&coverage),
            Err(why) => return Err(Failure { seed, why }),
        }
    }
    Ok(total)
}

/// The seed as people read it: the plan, what happened, and what is wrong with it.
///
/// # Panics
/// If there can be no runtime.
#[must_use]
pub fn explain(seed: u64) -> String {
    quiet();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(super::explained(seed))
}

/// Simulated panics happen by the thousand and are part of the plan: they are not printed.
fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = info.payload_as_str().unwrap_or_default();
            if text != PANIC && !text.starts_with("6666 breaks") {
                print(info);
            }
        }));
    });
}
