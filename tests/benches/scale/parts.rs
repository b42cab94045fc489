//! What there is once, or once a handle: compiled graphs, runners, threads.

use std::hint::black_box;

use graph_engine::MemoryStore;

use crate::case::{Case, Figure};
use crate::process::{each, resident};
use crate::talk::id;
use crate::workloads::count::{Noop, chain};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("part graph, chains of 10 nodes", 100_000),
        Case::new("part graph, chains of 1000 nodes", 100_000),
        Case::new("part graph, chains of 10000 nodes", 100_000),
        Case::new("part runner", 100_000),
        Case::new("part handle", 1_000_000),
    ]
}

pub(crate) fn measure(case: &Case) -> Vec<Figure> {
    let one = |length| chain(length, || Noop).compile().expect("compiles");
    let bytes = if case.has("graph") {
        let length = case.name.split(' ').find_map(|word| word.parse().ok()).expect("a number of nodes");
        // What compiling needs for a while is there before, and used again.
        drop(one(length));
        held(case.size, case.size / length, |_| one(length))
    } else {
        let runner = one(10).runner().store(MemoryStore::new());
        if case.has("runner") {
            // Each with a setting of its own, as where every tenant has one.
            held(case.size, case.size, |i| runner.clone().step_limit(i))
        } else {
            held(case.size, case.size, |i| runner.thread(id(i)))
        }
    };
    vec![Figure::new("resident", bytes, if case.has("graph") { "bytes a node" } else { "bytes each" })]
}

/// Bytes of a unit while so many things are held at once.
fn held<T>(units: u64, count: u64, make: impl Fn(u64) -> T) -> f64 {
    let mut things = Vec::with_capacity(count as usize);
    let before = resident();
    things.extend((0..count).map(make));
    let bytes = each(before, units);
    drop(black_box(things));
    bytes
}
