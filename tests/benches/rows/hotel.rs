//! Row 19: conversations with a hotel, kept nowhere, in memory and in a SQLite file.

use std::hint::black_box;

use graph_engine::MemoryStore;
use graph_engine_sqlite::{Format, Synchronous};

use crate::limit::hotel::{Hotel, conversation};
use crate::limit::sqlite::Deltas;
use crate::measure::{Timed, times, with};
use crate::suite::{Row, Suite};
use crate::workloads::Here;
use crate::workloads::hotel::{MESSAGES, Phase, STEPS, Said, TURNS, carried, hotel, stored};
use crate::workloads::sqlite::Filed;

const RUNS: u64 = 20;

fn by_hand(here: &Here, keep: &mut dyn FnMut(&[Said], &Hotel)) {
    let (steps, hotel) = here.run(conversation(keep));
    assert_eq!((steps, hotel.phase, hotel.log.len()), (STEPS, Phase::Compare, MESSAGES));
}

fn by_hand_nowhere(here: &Here) -> Timed<'static> {
    let here = here.clone();
    times(RUNS, move || by_hand(&here, &mut |_, _| {}))
}

fn by_hand_in_memory(here: &Here) -> Timed<'static> {
    let here = here.clone();
    times(RUNS, move || {
        let mut log = Vec::new();
        by_hand(&here, &mut |said, hotel| log.push(hotel.delta(said)));
        black_box(log);
    })
}

/// One commit a super-step.
fn by_hand_in_a_file(here: &Here) -> Timed<'static> {
    let here = here.clone();
    with(
        || Deltas::new(Synchronous::Normal),
        move |limit| {
            for run in 0..RUNS {
                let (thread, mut step) = (run.to_string(), 0);
                by_hand(&here, &mut |said, hotel| {
                    step += 1;
                    limit.insert(&thread, step, &hotel.delta(said));
                });
            }
        },
    )
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = |variant, ratio: f64, most: f64| {
        Row::new(19, "hotel", TURNS, variant).unit("turn", RUNS * TURNS).ratio(ratio).most(most)
    };
    suite.pair(row("none", 4.4, 5_000.0), || {
        let (runner, hotel) = (hotel(), here.clone());
        (by_hand_nowhere(here), times(RUNS, move || hotel.run(carried(&runner))))
    });
    suite.pair(row("memory", 4.1, 8_000.0), || {
        let (runner, hotel) = (hotel(), here.clone());
        let engine = times(RUNS, move || hotel.run(stored(&runner.clone().store(MemoryStore::new()), "t")));
        (by_hand_in_memory(here), engine)
    });
    suite.pair(row("sqlite, normal sync", 1.6, 70_000.0), || {
        let (runner, hotel) = (hotel(), here.clone());
        let make = || Filed::new(Synchronous::Normal, Format::Json);
        let engine = with(make, move |filed| {
            let runner = runner.clone().store(filed.store.clone());
            (0..RUNS).for_each(|run| hotel.run(stored(&runner, &run.to_string())));
        });
        (by_hand_in_a_file(here), engine)
    });
}
