//! Rows 5 and 6: many tasks at once, by edges and by packets.

use std::sync::Arc;

use futures_util::future::join_all;
use graph_engine::{Parallel, Runner};

use crate::limit::{self, Emit, Node};
use crate::measure::{Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::count::Count;
use crate::workloads::fan::{by_edges, by_packets};
use crate::workloads::{Here, turn};

const WIDTH: u64 = 1_000;
const RUNS: u64 = 100;

fn joined(here: &Here, width: u64) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(width, Emit);
    times(RUNS, move || {
        here.run(async {
            let mut state = limit::State::default();
            let updates = join_all(nodes.iter().map(|node| node.run(&state))).await;
            updates.into_iter().for_each(|update| state.apply(update));
            assert_eq!(state.out.len() as u64, width);
        });
    })
}

fn spawned(here: &Here, width: u64) -> Timed<'static> {
    let here = here.clone();
    let nodes: Vec<Arc<dyn Node>> = (0..width).map(|i| Arc::new(Emit(i)) as Arc<dyn Node>).collect();
    times(RUNS, move || {
        here.run(async {
            let mut shared = Arc::new(limit::State::default());
            let spawn = |node: &Arc<dyn Node>| {
                let (node, state) = (node.clone(), shared.clone());
                tokio::spawn(async move { node.run(&state).await })
            };
            let tasks: Vec<_> = nodes.iter().map(spawn).collect();
            let mut updates = Vec::with_capacity(tasks.len());
            for task in tasks {
                updates.push(task.await.expect("no panic"));
            }
            let state = Arc::get_mut(&mut shared).expect("every task is over");
            updates.into_iter().for_each(|update| state.apply(update));
            assert_eq!(state.out.len() as u64, width);
        });
    })
}

pub(crate) fn engine(here: &Here, runner: Runner<Count>, width: u64, runs: u64) -> Timed<'static> {
    let here = here.clone();
    times(runs, move || {
        let end = here.run(turn(&runner, Count::update()));
        assert_eq!(end.state.out.len() as u64, width);
    })
}

const MODES: [(&str, Parallel); 2] = [("joined", Parallel::Joined), ("spawned", Parallel::Spawned)];

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let by_hand = |mode| if mode == Parallel::Joined { joined(here, WIDTH) } else { spawned(here, WIDTH) };
    for ((label, mode), (ratio, most)) in MODES.into_iter().zip([(2.0, 450.0), (1.4, 700.0)]) {
        let row = Row::new(5, "fanout", WIDTH, label).unit("branch", RUNS * WIDTH).ratio(ratio).most(most);
        suite.pair(row, || (by_hand(mode), engine(here, by_edges(WIDTH, mode), WIDTH, RUNS)));
    }
    for ((label, mode), most) in MODES.into_iter().zip([450.0, 700.0]) {
        let row = Row::new(6, "send", WIDTH, label).unit("packet", RUNS * WIDTH).ratio(3.0).most(most);
        suite.pair(row, || (by_hand(mode), engine(here, by_packets(WIDTH, mode), WIDTH, RUNS)));
    }
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let names = ["width: fanout of 10, 1,000, joined", "width: fanout of 10, 1,000, spawned"];
    for (name, (_, mode)) in names.into_iter().zip(MODES) {
        suite.law(&Law { rows: &[], name, unit: "branch", units: (40_000, 40_000), most: 1.0 }, || {
            let run = |width, runs| engine(here, by_edges(width, mode), width, runs);
            (run(10, 4_000), run(WIDTH, 40))
        });
    }
}
