//! The Rust peers: one workload a process, one JSON line. `peers PEER cold` is a whole process with one node.
//!
//! ```text
//! peers PEER WORKLOAD N VARIANT SAMPLES FOLDER
//! ```

mod adk;
mod flow;
mod juncture;

use measure::Asked;
use tokio::runtime::{Builder, Runtime};

/// The one thread that everything runs on.
pub(crate) struct Here(Runtime);

impl Here {
    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

fn main() {
    let here = Here(Builder::new_current_thread().enable_all().build().expect("a runtime"));
    let peer = std::env::args().nth(1).expect("PEER");
    if std::env::args().nth(2).as_deref() == Some("cold") {
        match peer.as_str() {
            "adk-graph" => adk::cold(&here),
            "juncture-core" => juncture::cold(&here),
            _ => flow::cold(&here),
        }
        return measure::cold_answer();
    }
    let asked = Asked::from_args(2);
    let (times, bytes) = match peer.as_str() {
        "adk-graph" => adk::workload(&here, &asked),
        "juncture-core" => (juncture::workload(&here, &asked), None),
        "graph-flow" => (flow::workload(&here, &asked), None),
        other => panic!("no peer `{other}`"),
    };
    asked.answer(&peer, times, bytes);
}

fn name(i: u64) -> String {
    format!("n{i}")
}

/// Messages that are in the state from the beginning: `..-1m` means 10,000 of them.
fn history(asked: &Asked) -> Vec<serde_json::Value> {
    (0..if asked.variant.ends_with("1m") { 10_000 } else { 0 }).map(measure::message).collect()
}
