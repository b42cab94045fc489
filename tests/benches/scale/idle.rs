//! Threads whose turns are over, kept in memory: what a longer history of each takes.

use futures_util::future::join_all;
use graph_engine::MemoryStore;

use crate::case::{Case, Figure};
use crate::process::{each, peak, resident};
use crate::talk::id;
use crate::workloads::Here;
use crate::workloads::chat::{Chat, growing};

pub(crate) fn cases() -> Vec<Case> {
    let case = |turns: u64, size| Case::new(format!("idle memory, {turns} turns"), size);
    vec![case(1, 100_000), case(10, 20_000), case(100, 2_000)]
}

/// A turn is one super-step, which adds a message of 100 bytes.
pub(crate) fn measure(case: &Case) -> Vec<Figure> {
    let turns = case.name.split(' ').find_map(|word| word.parse().ok()).expect("a number of turns");
    let (here, store) = (Here::new(), MemoryStore::new());
    let runner = growing().store(store.clone());
    let before = resident();
    here.run(async {
        for turn in 1..=turns {
            for first in (0..case.size).step_by(1_000) {
                let run = |i| runner.thread(id(i)).run(Chat::update().limit(turn)).into_future();
                for end in join_all((first..first + 1_000).map(run)).await {
                    assert_eq!(end.expect("it ends").state.messages.len() as u64, turn);
                }
            }
        }
    });
    vec![
        Figure::new("resident", each(before, case.size), "bytes a thread"),
        Figure::new("stored, as the store counts", store.bytes(&id(0)) as f64, "bytes a thread"),
        Figure::new("process peak", peak() as f64, "bytes"),
    ]
}
