//! Rows 1 to 3: one node at a time, in a loop and in a chain.

use std::hint::black_box;

use graph_engine::{MemoryStore, Runner};

use crate::limit;
use crate::measure::{Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::count::{Awaiting, Count, Noop, Telling, Tick, chain_runner, looping, noop, tick};
use crate::workloads::{Here, turn};

pub(crate) const RUNS: u64 = 20;
pub(crate) const STEPS: u64 = 10_000;

/// So many turns of a loop of so many super-steps.
fn looped(here: &Here, runner: Runner<Count>, runs: u64, steps: u64) -> Timed<'static> {
    let here = here.clone();
    times(runs, move || {
        let end = here.run(turn(&runner, Count::update().limit(steps)));
        assert_eq!(end.state.n, steps);
    })
}

/// The same, each in a fresh memory store.
pub(crate) fn stored(here: &Here, runner: Runner<Count>, runs: u64, steps: u64) -> Timed<'static> {
    let here = here.clone();
    times(runs, move || {
        let runner = runner.clone().store(MemoryStore::new());
        let end = here.run(turn(&runner, Count::update().limit(steps)));
        assert_eq!(end.state.n, steps);
    })
}

/// One boxed node and a boxed route by index.
pub(crate) fn loop_by_hand(here: &Here, steps: u64, keep: bool) -> Timed<'static> {
    type Route = Box<dyn Fn(&limit::State) -> Option<usize> + Send + Sync>;
    let here = here.clone();
    let nodes = limit::boxed(1, |_| limit::Count);
    let route: Route = Box::new(|state| (state.n < state.limit).then_some(0));
    times(RUNS, move || {
        here.run(async {
            let mut state = limit::State { limit: steps, ..limit::State::default() };
            let (mut at, mut log) = (Some(0), Vec::new());
            while let Some(node) = at {
                let update = nodes[node].run(&state).await;
                if keep {
                    log.push(serde_json::to_vec(&update.n).expect("JSON"));
                }
                state.apply(update);
                at = route(&state);
            }
            assert_eq!(state.n, steps);
            black_box(log);
        });
    })
}

pub(crate) fn chained(here: &Here, runner: Runner<Count>, runs: u64) -> Timed<'static> {
    let here = here.clone();
    times(runs, move || drop(black_box(here.run(turn(&runner, Count::update())))))
}

pub(crate) fn chain_by_hand(here: &Here, length: u64, runs: u64) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(length, |_| limit::Noop);
    times(runs, move || drop(black_box(here.run(limit::chain(&nodes)))))
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = |number, workload, n, variant, ratio: f64, most: f64| {
        let units = if n == STEPS { RUNS * STEPS } else { 100 * n };
        Row::new(number, workload, n, variant).unit("super-step", units).ratio(ratio).most(most)
    };
    let by_hand = |keep| loop_by_hand(here, STEPS, keep);
    suite.pair(row(1, "loop", STEPS, "node that borrows", 2.5, 80.0), || {
        (by_hand(false), looped(here, looping(|graph| graph.node("step", Tick)), RUNS, STEPS))
    });
    suite.pair(row(1, "loop", STEPS, "async fn with Snap", 2.5, 120.0), || {
        (by_hand(false), looped(here, looping(|graph| graph.node("step", tick)), RUNS, STEPS))
    });
    suite.pair(row(2, "chain_run", 1_000, "node that borrows", 2.6, 80.0), || {
        (chain_by_hand(here, 1_000, 100), chained(here, chain_runner(1_000, || Noop), 100))
    });
    suite.pair(row(2, "chain_run", 1_000, "async fn with Snap", 2.6, 120.0), || {
        (chain_by_hand(here, 1_000, 100), chained(here, chain_runner(1_000, || noop), 100))
    });
    suite.pair(row(3, "loop", STEPS, "memory store", 2.6, 250.0), || {
        (by_hand(true), stored(here, looping(|graph| graph.node("step", Tick)), RUNS, STEPS))
    });
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let law = |name, units, most| Law { rows: &[], name, unit: "super-step", units, most };
    suite.law(&law("graph size: chain_run of 100, 10,000 nodes", (100_000, 100_000), 1.2), || {
        let run = |length, runs| chained(here, chain_runner(length, || Noop), runs);
        (run(100, 1_000), run(10_000, 10))
    });
    suite.law(&law("history: loop with memory store, 1,000, 10,000 checkpoints", (40_000, 40_000), 1.1), || {
        let run = |steps, runs| stored(here, looping(|graph| graph.node("step", Tick)), runs, steps);
        (run(1_000, 40), run(10_000, 4))
    });
    // A node that awaits anything has a larger future than one that doesn't.
    suite.law(&law("nothing listening: loop that awaits, loop that emits", (100_000, 100_000), 1.05), || {
        let silent = looped(here, looping(|graph| graph.node("step", Awaiting)), 10, STEPS);
        (silent, looped(here, looping(|graph| graph.node("step", Telling)), 10, STEPS))
    });
}
