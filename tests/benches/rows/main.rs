//! The engine beside the least that Rust can do by hand, in one process: CPU time, limit and engine in turn, the
//! ratio of each pair, the median of nine. Then how costs grow: two sizes in turn, the median ratio of their units.
//! `docs/benchmarks.md` says how to read it.
//!
//! ```text
//! cargo bench -p behaviour-tests                     all rows and laws
//! cargo bench -p behaviour-tests -- --row 5          a row of the table of targets, and its laws
//! cargo bench -p behaviour-tests -- loop             rows and laws whose name contains `loop`
//! cargo bench -p behaviour-tests -- --json           one JSON object a line
//! cargo bench -p behaviour-tests -- --curves FOLDER  curves as SVG
//! ```

mod args;
mod assemble;
mod bar;
mod chart;
mod checkpoints;
mod curves;
mod dispatch;
mod durable;
mod fan;
mod gate;
mod heap;
mod hotel;
mod invoke;
mod limit;
mod measure;
mod pace;
mod peak;
mod process;
mod runs;
mod sequence;
mod shape;
mod state_size;
mod stream;
mod suite;
mod together;
#[path = "../workloads/mod.rs"]
mod workloads;

use std::process::ExitCode;

use crate::args::Args;
use crate::suite::Suite;
use crate::workloads::Here;

fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => return refuse(&error),
    };
    if let Some((side, steps)) = &args.child {
        process::child(side, *steps);
        return ExitCode::SUCCESS;
    }
    heap::keep();
    let here = Here::new();
    if let Some(folder) = &args.curves {
        return match curves::draw(&here, folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => refuse(&error),
        };
    }
    let pace = if args.list { 1.0 } else { pace::measure(&here, args.pairs) };
    let mut suite = Suite::new(args, pace);
    rows(&mut suite, &here);
    laws(&mut suite, &here);
    suite.end();
    ExitCode::SUCCESS
}

fn rows(suite: &mut Suite, here: &Here) {
    sequence::rows(suite, here);
    checkpoints::row_4(suite, here);
    fan::rows(suite, here);
    invoke::rows(suite, here);
    state_size::rows(suite, here);
    durable::rows(suite, here);
    checkpoints::rows(suite, here);
    stream::rows(suite, here);
    hotel::rows(suite, here);
    checkpoints::row_20(suite, here);
    assemble::rows(suite);
    shape::rows(suite);
    stream::runs(suite, here);
    runs::rows(suite, here);
    process::rows(suite);
    gate::rows(suite, here);
    dispatch::rows(suite, here);
    together::rows(suite, here);
    assemble::extras(suite);
}

fn laws(suite: &mut Suite, here: &Here) {
    sequence::laws(suite, here);
    checkpoints::laws(suite, here);
    fan::laws(suite, here);
    state_size::laws(suite, here);
    durable::laws(suite, here);
    shape::laws(suite);
    process::laws(suite);
    assemble::laws(suite);
    gate::laws(suite, here);
    dispatch::laws(suite, here);
    together::laws(suite, here);
}

#[expect(clippy::print_stderr, reason = "a program says why it does nothing")]
fn refuse(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(2)
}
