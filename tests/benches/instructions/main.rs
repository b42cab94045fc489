//! Work of a size, done once, for a counter of instructions: the difference between two sizes is what a unit costs, without
//! the start of the process.
//!
//! ```text
//! instructions                 the workloads: name, unit, the two sizes, units in one of the size
//! instructions NAME SIZE       does it
//! ```

#[path = "../workloads/mod.rs"]
#[expect(dead_code, reason = "the rows measure more of it")]
mod workloads;

use std::hint::black_box;
use std::process::ExitCode;

use graph_engine::{Durability, KeptStates, MemoryStore, Mode, Parallel, Runner};
use graph_engine_sqlite::{Format, Synchronous};
use graph_nodes::gate::GatePolicy;

use crate::workloads::calls::{assemble, fragments};
use crate::workloads::chat::{Chat, growing};
use crate::workloads::count::{Count, Noop, Tick, asking, chain, chain_runner, looping, tick, trips};
use crate::workloads::events::{What, emitting, is_custom, streamed};
use crate::workloads::fan::{by_edges, by_packets};
use crate::workloads::gate::{accept, five, outcome};
use crate::workloads::hotel::{hotel, stored};
use crate::workloads::sqlite::{Filed, grow};
use crate::workloads::{Here, turn};

/// One workload.
struct Work {
    name: &'static str,
    unit: &'static str,
    sizes: (u64, u64),
    /// Units in one of the size.
    per: u64,
    run: fn(&Here, u64),
}

const fn work(name: &'static str, unit: &'static str, sizes: (u64, u64), run: fn(&Here, u64)) -> Work {
    Work { name, unit, sizes, per: 1, run }
}

const WORK: &[Work] = &[
    work("loop-borrowed", "super-step", (1_000, 3_000), |here, steps| {
        looped(here, looping(|graph| graph.node("step", Tick)), steps);
    }),
    work("loop-async-fn", "super-step", (1_000, 3_000), |here, steps| {
        looped(here, looping(|graph| graph.node("step", tick)), steps);
    }),
    work("loop-memory-store", "super-step", (1_000, 3_000), |here, steps| {
        looped(here, looping(|graph| graph.node("step", Tick)).store(MemoryStore::new()), steps);
    }),
    work("grow-memory-store", "super-step", (500, 1_500), |here, steps| {
        let end = here.run(turn(&growing().store(MemoryStore::new()), Chat::update().limit(steps)));
        assert_eq!(end.state.messages.len() as u64, steps);
    }),
    work("fanout-joined", "branch", (500, 1_500), |here, width| {
        fanned(here, &by_edges(width, Parallel::Joined), width)
    }),
    work("fanout-spawned", "branch", (500, 1_500), |here, width| {
        fanned(here, &by_edges(width, Parallel::Spawned), width);
    }),
    work("send-joined", "packet", (500, 1_500), |here, width| {
        fanned(here, &by_packets(width, Parallel::Joined), width)
    }),
    work("invoke-seq", "invoke", (100, 300), |here, turns| {
        let runner = chain_runner(3, || Tick);
        here.run(async {
            for _ in 0..turns {
                assert_eq!(turn(&runner, Count::update()).await.state.n, 3);
            }
        });
    }),
    work("interrupt", "round trip", (50, 150), |here, count| here.run(trips(&asking(), count))),
    work("event", "event", (1_000, 3_000), |here, events| {
        let read = here.run(streamed(&emitting(What::Numbers), Count::update().limit(events), Mode::Custom, is_custom));
        assert_eq!(read, events);
    }),
    work("add-and-compile", "node", (500, 1_500), |_, length| {
        drop(black_box(chain(length, || Noop).compile().expect("compiles")));
    }),
    Work {
        name: "export-mermaid",
        unit: "node",
        sizes: (2, 6),
        per: 500,
        run: |_, times| {
            let graph = chain(500, || Noop).compile().expect("compiles");
            (0..times).for_each(|_| drop(black_box(graph.topology().mermaid().to_string())));
        },
    },
    Work {
        name: "assemble",
        unit: "delta",
        sizes: (2, 6),
        per: 1_000,
        run: |_, times| {
            let kept = fragments(1_000);
            (0..times).for_each(|_| assemble(&kept));
        },
    },
    work("gate", "answer", (50, 150), |here, answers| {
        let (policy, validators) = (GatePolicy::new(), five());
        (0..answers).for_each(|_| accept(here, &policy, &validators, outcome(1_000)));
    }),
    work("hotel-memory", "conversation", (2, 6), |here, conversations| {
        let runner = hotel();
        (0..conversations).for_each(|_| here.run(stored(&runner.clone().store(MemoryStore::new()), "t")));
    }),
    work("sqlite-commit", "super-step", (200, 600), |here, steps| {
        let filed = Filed::new(Synchronous::Normal, Format::Json);
        here.run(grow(&filed.growing(Durability::Sync), steps));
    }),
    work("sqlite-load", "call", (10, 30), |here, loads| {
        let filed = Filed::new(Synchronous::Off, Format::Json);
        // All of it each time.
        let runner = filed.growing(Durability::Sync).kept_states(KeptStates::none());
        here.run(grow(&runner, 200));
        for _ in 0..loads {
            let state = here.run(runner.thread("t").state()).expect("a state");
            assert_eq!(state.state.messages.len(), 200);
        }
    }),
];

fn looped(here: &Here, runner: Runner<Count>, steps: u64) {
    assert_eq!(here.run(turn(&runner, Count::update().limit(steps))).state.n, steps);
}

fn fanned(here: &Here, runner: &Runner<Count>, width: u64) {
    assert_eq!(here.run(turn(runner, Count::update())).state.out.len() as u64, width);
}

#[expect(clippy::print_stdout, reason = "a program that lists what it can do")]
fn list() {
    for Work { name, unit, sizes: (small, large), per, .. } in WORK {
        println!("{name}\t{unit}\t{small}\t{large}\t{per}");
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = words.first() else {
        list();
        return ExitCode::SUCCESS;
    };
    let found = WORK.iter().find(|work| work.name == name);
    let size = words.get(1).and_then(|size| size.parse().ok());
    let (Some(work), Some(size)) = (found, size) else { return ExitCode::from(2) };
    (work.run)(&Here::new(), size);
    ExitCode::SUCCESS
}
