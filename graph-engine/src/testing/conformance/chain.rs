//! How checkpoints follow each other, and branches.

use std::ops::Range;

use super::Store;
use super::make::{chain, commit, fork, ids, is_conflict, meaning, steps};
use crate::{CheckpointId, Encoding, Filter, Keep, Place, Segment};

/// A checkpoint has for each field its last base and the deltas after it, in order.
pub async fn a_base_replaces_and_deltas_are_added_in_order(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 10).await;
    for (step, id) in made.iter().enumerate() {
        let items: Vec<usize> = (0..=step).collect();
        let count = step / 3 * 3;
        let expected =
            format!("{{\"step\":{step}}} \"turn\" count=[{count}] log={}", serde_json::to_string(&items).unwrap());
        assert_eq!(meaning(&**store, &place, Some(*id)).await.unwrap(), expected);
        let segments = store.load(&place, Some(*id)).await.unwrap().unwrap().fields;
        let log: Vec<_> = segments.iter().filter(|segment| segment.name == "log").collect();
        assert_eq!(log.len(), step % 4 + 1, "nothing before the base");
    }
}

/// Every encoding comes back as it was; a base, and a field that is gone, end what is read of the field.
pub async fn every_encoding_comes_back_and_ends_what_came_before_if_it_is_whole(store: &Store) {
    let place = Place::thread("t");
    let mut parent = None;
    let mut expected: Vec<(Encoding, Vec<u8>)> = Vec::new();
    let order = [
        (Encoding::Base, "[1]"),
        (Encoding::Delta, "[2]"),
        (Encoding::Writes, "[{\"items\":[3]}]"),
        (Encoding::Writes, "[]"),
        (Encoding::Removed, "null"),
        (Encoding::Base, "[4]"),
        (Encoding::Writes, "[{\"items\":[5]}]"),
        (Encoding::Delta, "[6]"),
    ];
    for (step, (encoding, json)) in (0..).zip(order) {
        let next = commit(parent, "turn", step, &[("log", encoding, 0..0, json)]);
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
        if encoding.is_whole() {
            expected.clear();
        }
        expected.push((encoding, json.as_bytes().to_vec()));
        let fields = store.load(&place, None).await.unwrap().unwrap().fields;
        let found: Vec<_> = fields.into_iter().map(|segment| (segment.encoding, segment.bytes)).collect();
        assert_eq!(found, expected, "step {step}");
        let row = store.row(&place, next.id).await.unwrap().unwrap();
        assert_eq!(row.fields[0].encoding, encoding, "step {step}");
    }
    store.prune(&place, Keep::Last(1)).await.unwrap();
    let fields = store.load(&place, None).await.unwrap().unwrap().fields;
    let found: Vec<_> = fields.into_iter().map(|segment| (segment.encoding, segment.bytes)).collect();
    assert_eq!(found, expected, "after pruning");
}

/// A fork begins a branch of its own and leaves the old one as it was.
pub async fn a_fork_moves_the_head_and_keeps_the_old_branch(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 6).await;
    let old = meaning(&**store, &place, Some(made[5])).await;
    let mut fork = commit(Some(made[2]), "fork", 3, &[("log", Encoding::Delta, 3..4, "[77]")]);
    fork.fork = true;
    store.commit(&place, &fork).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,77]"));
    assert_eq!(meaning(&**store, &place, Some(made[5])).await, old);
    let on = commit(Some(fork.id), "fork", 4, &[("log", Encoding::Delta, 4..5, "[78]")]);
    store.commit(&place, &on).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,77,78]"));
    assert!(
        is_conflict(store.commit(&place, &commit(Some(made[5]), "turn", 6, &[])).await),
        "the old branch is no head"
    );
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 8);
}

/// `field` gives the segments that touch a range, as of any checkpoint.
pub async fn a_range_gives_the_segments_that_touch_it(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 8).await;
    // As of the last checkpoint: base 0..5, then 5..6, 6..7, 7..8.
    let items = async |at: Option<CheckpointId>, range: Range<u64>| {
        let segments = store.field(&place, at, "log", range).await.unwrap();
        segments.into_iter().map(|segment| (segment.items.start, segment.items.end)).collect::<Vec<_>>()
    };
    assert_eq!(items(None, 0..100).await, [(0, 5), (5, 6), (6, 7), (7, 8)]);
    assert_eq!(items(None, 4..6).await, [(0, 5), (5, 6)]);
    assert_eq!(items(None, 5..6).await, [(5, 6)]);
    assert_eq!(items(None, 7..9).await, [(7, 8)]);
    assert_eq!(items(None, 8..9).await, [(0, 0); 0]);
    assert_eq!(items(Some(made[2]), 0..100).await, [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(items(Some(made[2]), 2..3).await, [(2, 3)]);
    let count = store.field(&place, None, "count", 3..4).await.unwrap();
    assert_eq!(count, [Segment::new("count", Encoding::Base, 0..0, b"6".to_vec())]);
    assert!(store.field(&place, None, "nothing", 0..9).await.unwrap().is_empty());
    assert!(store.field(&place, Some(CheckpointId::default()), "log", 0..9).await.unwrap().is_empty());
}

/// A fork of a fork of a fork, many times over, has what its own ancestors wrote and nothing else.
pub async fn forks_of_forks_are_whole(store: &Store) {
    let place = Place::thread("t");
    let first = commit(None, "turn", 0, &[("log", Encoding::Base, 0..1, "[0]"), ("still", Encoding::Base, 0..0, "9")]);
    store.commit(&place, &first).await.unwrap();
    let (mut parent, mut log) = (first.id, vec![0]);
    for round in 1..=40_u64 {
        // Two steps from here: the first is where the next branch begins, the second is left behind.
        let row = format!("[{round}]");
        let on = fork(Some(parent), "turn", round, &[("log", Encoding::Delta, round..round + 1, &row)]);
        store.commit(&place, &on).await.unwrap();
        let left = commit(Some(on.id), "left", round, &[("log", Encoding::Delta, round + 1..round + 2, "[1000]")]);
        store.commit(&place, &left).await.unwrap();
        parent = on.id;
        log.push(round);
        let text = serde_json::to_string(&log).unwrap();
        let expected = |more: &str| format!("log={}{more}] still=[9]", text.trim_end_matches(']'));
        assert!(meaning(&**store, &place, Some(on.id)).await.unwrap().ends_with(&expected("")));
        assert!(meaning(&**store, &place, None).await.unwrap().ends_with(&expected(",1000")));
    }
    assert_eq!(steps(&**store, &place, Filter::default()).await.len(), 81);
}

/// A fork that follows the head is the next checkpoint, and one that follows none begins anew.
pub async fn a_fork_may_follow_the_head_or_nothing(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 3).await;
    let next = fork(Some(made[2]), "fork", 3, &[("log", Encoding::Delta, 3..4, "[3]")]);
    store.commit(&place, &next).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,3]"));
    let anew = fork(None, "anew", 0, &[("log", Encoding::Base, 0..1, "[7]")]);
    store.commit(&place, &anew).await.unwrap();
    assert_eq!(meaning(&**store, &place, None).await.unwrap(), "{\"step\":0} \"anew\" log=[7]", "no count");
    let on = commit(Some(anew.id), "anew", 1, &[("log", Encoding::Delta, 1..2, "[8]")]);
    store.commit(&place, &on).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[7,8]"));
    assert!(meaning(&**store, &place, Some(next.id)).await.unwrap().ends_with("log=[0,1,2,3]"));
    assert_eq!(ids(&**store, &place, Filter::default()).await, [on.id, anew.id, next.id, made[2], made[1], made[0]]);
}

/// A repeated fork is a success and doesn't move the head back.
pub async fn a_repeated_fork_moves_nothing(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 4).await;
    let branch = fork(Some(made[1]), "fork", 2, &[("log", Encoding::Delta, 2..3, "[77]")]);
    store.commit(&place, &branch).await.unwrap();
    let on = commit(Some(branch.id), "fork", 3, &[]);
    store.commit(&place, &on).await.unwrap();
    store.commit(&place, &branch).await.unwrap();
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, on.id);
    let other = fork(Some(made[1]), "fork", 2, &[("log", Encoding::Delta, 2..3, "[78]")]);
    assert!(is_conflict(store.commit(&place, &other).await));
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 6);
}

/// A commit may have several segments of one field, as a row has that took over what its pruned parents wrote.
pub async fn a_field_may_have_several_segments_in_one_commit(store: &Store) {
    let place = Place::thread("t");
    let first = commit(
        None,
        "turn",
        0,
        &[
            ("log", Encoding::Base, 0..2, "[0,1]"),
            ("count", Encoding::Base, 0..0, "5"),
            ("log", Encoding::Delta, 2..3, "[2]"),
            ("log", Encoding::Delta, 3..4, "[3]"),
        ],
    );
    store.commit(&place, &first).await.unwrap();
    store.commit(&place, &first).await.unwrap();
    let on = commit(Some(first.id), "turn", 1, &[("log", Encoding::Delta, 4..5, "[4]")]);
    store.commit(&place, &on).await.unwrap();
    let branch = fork(Some(first.id), "fork", 1, &[("log", Encoding::Delta, 4..5, "[9]")]);
    store.commit(&place, &branch).await.unwrap();
    assert!(meaning(&**store, &place, Some(first.id)).await.unwrap().ends_with("count=[5] log=[0,1,2,3]"));
    assert!(meaning(&**store, &place, Some(on.id)).await.unwrap().ends_with("count=[5] log=[0,1,2,3,4]"));
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("count=[5] log=[0,1,2,3,9]"));
    let items: Vec<_> =
        store.field(&place, None, "log", 0..3).await.unwrap().iter().map(|segment| segment.items.clone()).collect();
    assert_eq!(items, [0..2, 2..3]);
    let row = store.row(&place, first.id).await.unwrap().unwrap();
    let log: Vec<_> = row.fields.iter().filter(|field| field.name == "log").map(|field| field.items.clone()).collect();
    assert_eq!((row.fields.len(), log), (4, vec![0..2, 2..3, 3..4]));
    store.copy("t", "u").await.unwrap();
    store.prune(&place, Keep::Last(1)).await.unwrap();
    for place in [place, Place::thread("u")] {
        assert!(meaning(&**store, &place, None).await.unwrap().ends_with("count=[5] log=[0,1,2,3,9]"));
    }
}
