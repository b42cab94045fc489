//! Rows 28 and 29: whole processes, their time from start to end and the most memory they had.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use graph_engine::MemoryStore;

use crate::heap;
use crate::limit::sqlite::deltas;
use crate::measure::{Timed, times};
use crate::peak;
use crate::suite::{Law, Row, Suite};
use crate::workloads::chat::{Chat, growing};
use crate::workloads::{Here, turn};

const RUNS: u64 = 20;
const ONE_NODE: &str = env!("CARGO_BIN_EXE_one-node");

fn output(program: &Path, words: &[&str]) -> Vec<u8> {
    let output = heap::fresh(Command::new(program).args(words)).output().expect("a process");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn started(words: &'static [&'static str]) -> Timed<'static> {
    times(RUNS, move || drop(output(Path::new(ONE_NODE), words)))
}

/// What a process says its peak was. The median of five: the system hands out memory in lots.
fn peak_of(program: &Path, words: &[&str]) -> f64 {
    let bytes = |_| {
        let said = String::from_utf8(output(program, words)).expect("UTF-8");
        said.trim().parse::<u64>().expect("a number")
    };
    let mut peaks: Vec<u64> = (0..5).map(bytes).collect();
    peaks.sort_unstable();
    peaks[2] as f64
}

fn this() -> PathBuf {
    std::env::current_exe().expect("this program")
}

fn peak_of_loop(side: &str, steps: u64) -> f64 {
    peak_of(&this(), &["--child", side, &steps.to_string()])
}

/// A child of row 29: so many super-steps with a message each, and the peak.
#[expect(clippy::print_stdout, reason = "a child answers the row that started it")]
pub(crate) fn child(side: &str, steps: u64) {
    let here = Here::new();
    match side {
        "limit" => drop(black_box(deltas(steps))),
        _ => drop(black_box(here.run(turn(&growing().store(MemoryStore::new()), Chat::update().limit(steps))))),
    }
    println!("{}", peak::bytes());
}

pub(crate) fn rows(suite: &mut Suite) {
    let row = Row::new(28, "import", 1, "start to end").unit("run", RUNS).wall().most(5e6);
    suite.pair(row, || (started(&["nothing"]), started(&[])));
    let one_node = Path::new(ONE_NODE);
    suite.bytes(Row::new(28, "import", 1, "peak memory").unit("process", 1).most(8e6), || {
        (peak_of(one_node, &["nothing", "peak"]), peak_of(one_node, &["peak"]))
    });
    let row = Row::new(29, "ckpt_loop", 2_000, "memory-grow, peak memory").unit("process", 1).most(10e6);
    suite.bytes(row, || (peak_of_loop("limit", 2_000), peak_of_loop("engine", 2_000)));
}

pub(crate) fn laws(suite: &mut Suite) {
    let name = "memory: memory-grow of 2,000, 4,000, above a process of one super-step";
    suite.law_of_bytes(&Law { rows: &[29], name, unit: "process", units: (1, 1), most: 2.1 }, || {
        let base = peak_of_loop("engine", 1);
        (peak_of_loop("engine", 2_000) - base, peak_of_loop("engine", 4_000) - base)
    });
}
