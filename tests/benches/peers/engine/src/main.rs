//! graph-engine: one workload a process, one JSON line. `engine cold` is a whole process with one node.
//!
//! ```text
//! engine WORKLOAD N VARIANT SAMPLES FOLDER
//! ```

mod agents;
mod react;
mod shapes;
mod state;
mod stores;
mod streams;
mod wide;

use measure::Asked;
use tokio::runtime::Builder;

use crate::state::Here;

fn main() {
    let here = Here(Builder::new_current_thread().enable_all().build().expect("a runtime"));
    if std::env::args().nth(1).as_deref() == Some("cold") {
        shapes::cold(&here);
        return measure::cold_answer();
    }
    let asked = Asked::from_args(1);
    let (times, bytes) = match asked.workload.as_str() {
        "loop" => (shapes::looped(&here, &asked), None),
        "chain_run" => (shapes::chain_run(&here, &asked), None),
        "chain_compile" => (shapes::chain_compile(&asked), None),
        "export_mermaid" => (shapes::export_mermaid(&asked), None),
        "fanout" => (shapes::fanout(&here, &asked), None),
        "send" => (shapes::send(&here, &asked), None),
        "invoke_small" => (shapes::invoke_small(&here, &asked), None),
        "state_size" => (stores::state_size(&here, &asked), None),
        "ckpt_loop" => stores::ckpt_loop(&here, &asked),
        "threads" => (stores::threads(&here, &asked), None),
        "resume" => (stores::resume(&here, &asked), None),
        "interrupt" => (stores::interrupt(&here, &asked), None),
        "stream" => (streams::custom(&here, &asked), None),
        "lg_sequential" => (streams::sequential(&here, &asked), None),
        "hotel" => (agents::hotel(&here, &asked), None),
        "lg_fanout_to_subgraph" => (agents::fanout_to_subgraph(&here, &asked), None),
        "assemble" => (react::assemble(&asked), None),
        "lg_react_agent" => (react::react(&here, &asked), None),
        "lg_wide" => (wide::wide(&here, &asked), None),
        other => panic!("no workload `{other}`"),
    };
    asked.answer("graph-engine", times, bytes);
}
