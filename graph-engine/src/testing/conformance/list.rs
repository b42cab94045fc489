//! Which checkpoints a list has, and in which order.

use std::sync::Arc;

use super::Store;
use super::make::{chain, commit, fork, steps};
use crate::{CheckpointId, Filter, Place};

/// Every filter alone and with others; the limit counts what passes.
pub async fn a_list_is_filtered(store: &Store) {
    let place = Place::thread("t");
    let mut made = Vec::new();
    for step in 0..6_u64 {
        let mut next = commit(made.last().copied(), if step < 3 { "one" } else { "two" }, step, &[]);
        let parity = if step % 2 == 0 { "even" } else { "odd" };
        next.tags = Arc::new([("parity".to_owned(), parity.to_owned()), ("k".to_owned(), "v".to_owned())].into());
        store.commit(&place, &next).await.unwrap();
        made.push(next.id);
    }
    let steps = async |filter: Filter| {
        let infos = store.list(&place, &filter).await.unwrap();
        infos.iter().map(|info| info.step).collect::<Vec<_>>()
    };
    assert_eq!(steps(Filter::default()).await, [5, 4, 3, 2, 1, 0]);
    assert_eq!(steps(Filter::default().turn("one")).await, [2, 1, 0]);
    assert_eq!(steps(Filter::default().tag("parity", "odd")).await, [5, 3, 1]);
    assert_eq!(steps(Filter::default().tag("parity", "odd").tag("k", "v").turn("two")).await, [5, 3]);
    assert_eq!(steps(Filter::default().tag("parity", "odd").tag("k", "w")).await, [0; 0]);
    assert_eq!(steps(Filter::default().steps(1..=3)).await, [3, 2, 1]);
    assert_eq!(steps(Filter::default().before(made[3])).await, [2, 1, 0]);
    assert_eq!(steps(Filter::default().before(made[3]).limit(1)).await, [2]);
    assert_eq!(steps(Filter::default().tag("parity", "even").limit(2)).await, [4, 2], "the limit counts what passes");
    assert_eq!(steps(Filter::default().limit(0)).await, [0; 0]);
    assert_eq!(steps(Filter::default().before(CheckpointId::default())).await, [0; 0]);
}

/// Filters combine: a checkpoint has to pass them all, and the limit counts those that do.
pub async fn filters_combine(store: &Store) {
    let place = Place::thread("t");
    let mut made = Vec::new();
    for step in 0..24_u64 {
        let mut next = commit(made.last().copied(), ["one", "two", "three"][step as usize % 3], step, &[]);
        let (half, parity) = (["first", "second"][step as usize / 12], ["even", "odd"][step as usize % 2]);
        let tags = [("half", half), ("parity", parity)];
        next.tags = Arc::new(tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        store.commit(&place, &next).await.unwrap();
        made.push(next.id);
    }
    let infos = store.list(&place, &Filter::default()).await.unwrap();
    for bits in 0..64_u32 {
        let on = |bit: u32| bits & (1 << bit) != 0;
        let mut filter = Filter {
            before: on(0).then_some(made[17]),
            limit: on(1).then_some(2),
            turn: on(2).then(|| "two".into()),
            steps: on(3).then_some(3..=16),
            ..Filter::default()
        };
        filter = if on(4) { filter.tag("half", "first") } else { filter };
        filter = if on(5) { filter.tag("parity", "even") } else { filter };
        let passing =
            infos.iter().filter(|info| (!on(0) || info.step < 17) && filter.passes(&info.turn, info.step, &info.tags));
        let expected: Vec<u64> = passing.map(|info| info.step).take(filter.limit.unwrap_or(99)).collect();
        assert_eq!(steps(&**store, &place, filter.clone()).await, expected, "{filter:?}");
    }
}

/// Tags and turns are compared whole, key and value, and a tag that nobody carries lists nothing.
pub async fn tags_are_compared_exactly_and_never_ignored(store: &Store) {
    let place = Place::thread("t");
    let values = ["acme", "Acme", "acme ", "acme%", "", "a\0b", "\"acme\"", "é", "e\u{301}", "null"];
    let mut parent = None;
    for (step, value) in values.iter().enumerate() {
        let mut next = commit(parent, value, step as u64, &[]);
        next.tags = Arc::new([("tenant".to_owned(), (*value).to_owned()), ((*value).to_owned(), String::new())].into());
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    for (step, value) in values.iter().enumerate() {
        let found = [step as u64];
        assert_eq!(steps(&**store, &place, Filter::default().tag("tenant", *value)).await, found, "{value:?}");
        assert_eq!(steps(&**store, &place, Filter::default().tag(*value, "")).await, found, "{value:?}");
        assert_eq!(steps(&**store, &place, Filter::default().turn(*value)).await, found, "{value:?}");
    }
    for (key, value) in [("tenant", "acm"), ("Tenant", "acme"), ("$or", "acme"), ("tenant.acme", ""), ("id", "0")] {
        for filter in [Filter::default(), Filter::default().limit(5), Filter::default().turn("acme")] {
            assert_eq!(steps(&**store, &place, filter.tag(key, value)).await, [0; 0], "{key} {value}");
        }
    }
}

/// A list has the checkpoints of all branches in the order in which they were made; any step may be named.
pub async fn a_list_has_all_branches(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 4).await;
    let branch = fork(Some(made[1]), "fork", u64::MAX, &[]);
    store.commit(&place, &branch).await.unwrap();
    let back = fork(Some(made[3]), "back", u64::MAX - 1, &[]);
    store.commit(&place, &back).await.unwrap();
    assert_eq!(steps(&**store, &place, Filter::default()).await, [u64::MAX - 1, u64::MAX, 3, 2, 1, 0]);
    assert_eq!(steps(&**store, &place, Filter::default().before(branch.id)).await, [3, 2, 1, 0]);
    assert_eq!(steps(&**store, &place, Filter::default().steps(u64::MAX..=u64::MAX)).await, [u64::MAX]);
    assert_eq!(steps(&**store, &place, Filter::default().steps(2..=u64::MAX - 1)).await, [u64::MAX - 1, 3, 2]);
    assert_eq!(steps(&**store, &place, Filter::default().steps(0..=0).limit(usize::MAX)).await, [0]);
    assert_eq!(steps(&**store, &place, Filter::default().before(CheckpointId::default()).limit(3)).await, [0; 0]);
}
