//! The SQLite store beside the least that can be done with SQLite by hand, in one process: CPU time (wall time in row
//! 9), limit and store in turn, the ratio of each pair, the median of nine.
//!
//! ```text
//! cargo bench -p graph-engine-sqlite
//! ```

mod limit;
mod measure;
mod threads;

use graph_engine::Durability;
use graph_engine_sqlite::{Format, Synchronous};

use crate::measure::{Clock, heading, line, pair};
use crate::threads::{Bench, DELTA, STEPS};

fn main() {
    let bench = Bench::new();
    heading(&["row", "unit", "limit", "store", "ratio", "target"]);
    let limit = |synchronous| move || limit::commits(synchronous, STEPS, DELTA);
    let store = |synchronous, durability| {
        let bench = &bench;
        move |clock| bench.turn(synchronous, Format::Json, durability, STEPS, clock).0
    };
    let steps = |name, clock, synchronous, durability, target| {
        pair(name, "super-step", STEPS, clock, limit(synchronous), store(synchronous, durability), target);
    };
    steps("9 grow, full sync, wall", Clock::Wall, Synchronous::Full, Durability::Sync, 1.15);
    steps("10 grow, normal sync", Clock::Cpu, Synchronous::Normal, Durability::Sync, 1.5);
    steps("10 grow, no sync", Clock::Cpu, Synchronous::Off, Durability::Sync, 1.5);
    steps("11 grow, normal sync, async durability", Clock::Cpu, Synchronous::Normal, Durability::Async, 2.0);
    bench.resume();
    bench.go_on();
    bench.many_threads();
    heading(&["row 12", "steps", "limit", "store", "ratio", "target"]);
    for format in [Format::Json, Format::MessagePack] {
        for steps in [1_000, 2_000, 4_000] {
            let (limit, store) = (limit::bytes(steps, DELTA), bench.bytes(format, steps));
            line(&format!("{format:?}"), steps, limit / steps, store / steps, store as f64 / limit as f64, 1.6);
        }
    }
    bench.laws();
}
