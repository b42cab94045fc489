//! Rows 25 to 27: whole runs that a reader reads along, kept nowhere or in memory at their end. The reader is told of every
//! end of a node; it doesn't ask for the values as JSON, because the other engines hand them over by pointer.

use std::hint::black_box;

use graph_engine::{Durability, MemoryStore, Mode, Runner, State};

use crate::limit::runs::{fanout_to_subgraph as fan_by_hand, react_agent as react_by_hand};
use crate::measure::{Timed, times, with};
use crate::suite::{Row, Suite};
use crate::workloads::Here;
use crate::workloads::events::{is_finished, streamed};
use crate::workloads::hotel::Said;
use crate::workloads::react::{Talk, react_agent};
use crate::workloads::subgraph::{Top, fanout_to_subgraph, topics};
use crate::workloads::wide::{Wide, payload, wide};

const N: u64 = 100;
const RUNS: u64 = 4;

/// Runs that end after so many nodes; the input and the store are made outside of the time.
fn engine<S: State + Default>(
    here: &Here,
    runner: Runner<S>,
    kept: bool,
    input: impl Fn() -> S::Update + 'static,
    nodes: u64,
) -> Timed<'static> {
    let here = here.clone();
    let make = move || {
        let stored = || runner.clone().store(MemoryStore::new()).durability(Durability::Exit);
        let one = || (if kept { stored() } else { runner.clone() }, Some(input()));
        (0..RUNS).map(|_| one()).collect::<Vec<_>>()
    };
    with(make, move |runs| {
        for (runner, input) in runs {
            let input = input.take().expect("one run each");
            assert_eq!(here.run(streamed(runner, input, Mode::Nodes, is_finished)), nodes);
        }
    })
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    for (variant, kept, most) in [("", false, 2e6), ("ckpt", true, 4e6)] {
        let row = |number, workload| Row::new(number, workload, N, variant).unit("run", RUNS).most(most);
        suite.pair(row(25, "lg_fanout_to_subgraph"), || {
            let input = || Top::update().topics(topics(N));
            (fan_limit(here, kept), engine(here, fanout_to_subgraph(), kept, input, N))
        });
        suite.pair(row(26, "lg_react_agent"), || {
            let input = || Talk::update().messages([Said::Human("hello".to_owned())]);
            (react_limit(here, kept), engine(here, react_agent(N), kept, input, 2 * N + 1))
        });
    }
    // Lists grow threefold a round; a round has six nodes.
    for (n, rounds) in [(300, 6), (600, 7), (1_200, 7)] {
        for (variant, kept, most) in [("dict", false, 2e5), ("dict-ckpt", true, 1e6)] {
            let row = Row::new(27, "lg_wide", n, variant).unit("run", RUNS).most(most);
            suite.alone(row, || {
                let payload = payload(n);
                let input = move || Wide::update().size(n as usize).l0([payload.clone()]);
                engine(here, wide(), kept, input, 6 * rounds)
            });
        }
    }
}

fn fan_limit(here: &Here, kept: bool) -> Timed<'static> {
    let (here, topics) = (here.clone(), topics(N));
    times(RUNS, move || {
        let lines = here.run(fan_by_hand(&topics));
        if kept {
            black_box(serde_json::to_vec(&(&topics, &lines)).expect("JSON"));
        }
        assert_eq!(lines.len() as u64, N);
    })
}

fn react_limit(here: &Here, kept: bool) -> Timed<'static> {
    let here = here.clone();
    times(RUNS, move || {
        let said = here.run(react_by_hand(N));
        if kept {
            black_box(serde_json::to_vec(&said).expect("JSON"));
        }
        assert_eq!(said.len() as u64, 2 * N + 2);
    })
}
