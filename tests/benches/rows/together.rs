//! Rows of the node library: keys that are loaded together, and a list of ids as one call.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::time::Duration;

use futures_util::future::join_all;
use graph_nodes::batch::BatchLookup;
use graph_nodes::coalesce::{Coalescer, CoalescerBuilder};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::measure::{Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::Here;

/// The key of a waiter.
type Key = fn(u64) -> u64;

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    for waiters in [1, 100, 10_000] {
        let rounds = 20_000 / waiters;
        let row = |what| Row::extra("coalescer", waiters, what).unit("waiter", rounds * waiters);
        suite.pair(row("different keys"), || (by_hand(here, rounds, waiters), together(here, rounds, waiters, |n| n)));
        suite.pair(row("one key"), || (by_hand(here, rounds, waiters), together(here, rounds, waiters, |_| 7)));
    }
    let row = Row::extra("batch lookup", 25, "").unit("id", 25_000);
    suite.pair(row, || (looked_up_by_hand(here, 1_000), looked_up(here, 1_000)));
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    for (name, key) in [
        ("waiters: coalescer of 100, 10,000, different keys", (|n| n) as Key),
        ("waiters: coalescer of 100, 10,000, one key", |_| 7),
    ] {
        suite.law(&Law { rows: &[], name, unit: "waiter", units: (20_000, 20_000), most: 1.5 }, || {
            (together(here, 200, 100, key), together(here, 2, 10_000, key))
        });
    }
}

/// A window that is never waited for: the batch leaves when the last key is there, or as soon as the runtime is free.
fn options(waiters: u64) -> CoalescerBuilder {
    Coalescer::builder().window(Duration::ZERO).max_keys(usize::try_from(waiters).expect("small"))
}

fn together<'a>(here: &'a Here, rounds: u64, waiters: u64, key: Key) -> Timed<'a> {
    let squares = options(waiters)
        .build(|_, keys: Vec<u64>| async move { Ok(keys.into_iter().map(|key| (key, key * key)).collect()) });
    let acme = squares.tenant("acme");
    times(rounds, move || {
        let values = here.run(join_all((0..waiters).map(|n| acme.get(key(n)))));
        assert_eq!(values.len() as u64, waiters);
        assert!(values.iter().all(|value| matches!(value, Ok(Some(_)))));
    })
}

/// A channel for every waiter, a task that makes the map, and a value sent to each.
fn by_hand<'a>(here: &'a Here, rounds: u64, waiters: u64) -> Timed<'a> {
    times(rounds, move || {
        let values = here.run(async {
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..waiters).map(|_| oneshot::channel::<u64>()).unzip();
            tokio::spawn(async move {
                let found: HashMap<u64, u64> = (0..waiters).map(|key| (key, key * key)).collect();
                for (key, sender) in (0..).zip(senders) {
                    assert!(sender.send(found[&key]).is_ok());
                }
            });
            join_all(receivers).await
        });
        assert_eq!(values.len() as u64, waiters);
    })
}

fn ids() -> Vec<String> {
    (0..25).map(|number| format!(" ORD-{number}")).collect()
}

async fn backend(ids: Vec<String>) -> HashMap<String, Value> {
    ids.into_iter().map(|id| (id, json!({"status": "shipped"}))).collect()
}

fn looked_up(here: &Here, rounds: u64) -> Timed<'_> {
    let lookup = BatchLookup::new(|ids| async move { Ok(backend(ids).await) });
    times(rounds, move || {
        let report = here.run(lookup.run(ids())).expect("ids");
        assert_eq!(black_box(report).summary.ok, 25);
    })
}

/// The same list trimmed, deduplicated, asked for in chunks and put in order.
fn looked_up_by_hand(here: &Here, rounds: u64) -> Timed<'_> {
    times(rounds, move || {
        let found = here.run(async {
            let mut known = HashSet::new();
            let ids: Vec<String> = ids().into_iter().map(|id| id.trim().to_owned()).collect();
            let unique: Vec<String> = ids.into_iter().filter(|id| known.insert(id.clone())).collect();
            let mut found = HashMap::new();
            for chunk in unique.chunks(10) {
                found.extend(backend(chunk.to_vec()).await);
            }
            unique.into_iter().map(|id| (found.remove(&id), id)).collect::<Vec<_>>()
        });
        assert_eq!(black_box(found).len(), 25);
    })
}
