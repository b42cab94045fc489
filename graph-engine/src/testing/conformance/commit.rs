//! What a commit stores and which commits are refused.

use std::sync::Arc;

use super::Store;
use super::make::{chain, commit, ids, is_conflict, link, meaning, result, saved};
use crate::{CheckpointId, CheckpointKind, Encoding, Filter, Keep, Place, Segment, StoreError, ThreadFilter};

/// Fields, position, ids, times and tags come back as they were committed.
pub async fn a_checkpoint_comes_back_as_it_was(store: &Store) {
    let place = Place::thread("t");
    let mut first =
        commit(None, "turn-1", 7, &[("a", Encoding::Base, 0..2, "[1,2]"), ("b", Encoding::Base, 0..0, "\"x\"")]);
    first.time_ms = 1_234;
    first.tags = Arc::new([("tenant".to_owned(), "acme \0'\"".to_owned())].into());
    store.commit(&place, &first).await.unwrap();
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert_eq!((stored.info.id, stored.info.parent, stored.info.step), (first.id, None, 7));
    assert_eq!((&*stored.info.turn, stored.info.time_ms, &stored.info.tags), ("turn-1", 1_234, &*first.tags));
    assert_eq!(stored.position, b"{\"step\":7}");
    let mut fields: Vec<Segment> = stored.fields.into_iter().collect();
    fields.sort_by(|one, two| one.name.cmp(&two.name));
    let a = Segment::new("a", Encoding::Base, 0..2, b"[1,2]".to_vec());
    let b = Segment::new("b", Encoding::Base, 0..0, b"\"x\"".to_vec());
    assert_eq!(fields, [a, b]);
    assert!(stored.saved.is_empty());
    assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), [stored.info]);
}

/// A repeated commit succeeds and changes nothing, whatever its time.
pub async fn a_repeated_commit_with_equal_content_is_a_success_that_changes_nothing(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 5).await;
    let before = store.list(&place, &Filter::default()).await.unwrap();
    for step in [4_usize, 2, 0] {
        // Made again from nothing, at another time.
        let mut again = link((step > 0).then(|| made[step - 1]), step as u64);
        again.time_ms = 99_999;
        store.commit(&place, &again).await.unwrap();
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), before);
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[4], "the head stays");
    }
}

/// A known id with other content is refused.
pub async fn a_repeated_commit_with_other_content_is_a_conflict(store: &Store) {
    let place = Place::thread("t");
    let row = ("log", Encoding::Base, 0..1, "[1]");
    let first = commit(None, "turn", 0, std::slice::from_ref(&row));
    store.commit(&place, &first).await.unwrap();
    let second = commit(Some(first.id), "turn", 1, &[("log", Encoding::Delta, 1..2, "[2]")]);
    store.commit(&place, &second).await.unwrap();
    let others = [
        commit(None, "turn", 0, &[("log", Encoding::Base, 0..1, "[2]")]),
        commit(None, "turn", 0, &[("log", Encoding::Delta, 0..1, "[1]")]),
        commit(None, "turn", 0, &[("gol", Encoding::Base, 0..1, "[1]")]),
        commit(None, "turn", 0, &[row.clone(), ("more", Encoding::Base, 0..0, "1")]),
        commit(None, "turn", 0, &[]),
        commit(None, "turn", 9, std::slice::from_ref(&row)),
    ];
    for (at, mut other) in others.into_iter().enumerate() {
        for fork in [false, true] {
            (other.id, other.fork) = (first.id, fork);
            assert!(is_conflict(store.commit(&place, &other).await), "{at}, fork: {fork}");
        }
    }
    assert_eq!(ids(&**store, &place, Filter::default()).await, [second.id, first.id]);
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[1,2]"));
}

/// A known id is refused even if what it names as its parent is the head.
pub async fn a_known_id_is_a_conflict_even_if_its_parent_is_the_head(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 3).await;
    for known in &made {
        let mut other = commit(Some(made[2]), "turn", 3, &[]);
        other.id = *known;
        assert!(is_conflict(store.commit(&place, &other).await));
    }
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 3);
}

/// A commit that follows another checkpoint than the head is refused, and nothing of it is stored.
pub async fn a_stale_parent_is_a_conflict_and_nothing_is_stored(store: &Store) {
    let place = Place::thread("t");
    let unknown = CheckpointId::derive("t", "", None, "other", 9);
    let orphan = commit(Some(unknown), "turn", 0, &[]);
    assert!(is_conflict(store.commit(&place, &orphan).await), "a first checkpoint has no parent");
    assert!(store.load(&place, None).await.unwrap().is_none());
    let made = chain(&**store, &place, 3).await;
    for parent in [None, Some(made[0]), Some(made[1]), Some(unknown)] {
        let stale = commit(parent, "late", 1, &[("log", Encoding::Base, 0..1, "[9]")]);
        assert!(is_conflict(store.commit(&place, &stale).await), "{parent:?}");
    }
    let mut fork = commit(Some(unknown), "fork", 1, &[]);
    fork.fork = true;
    assert!(is_conflict(store.commit(&place, &fork).await), "a fork needs a stored parent");
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 3);
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[2]);
    let Err(StoreError::Conflict { thread, why }) = store.commit(&place, &commit(None, "late", 1, &[])).await else {
        panic!("a conflict")
    };
    assert_eq!((thread.as_str(), why), ("t", format!("the head is {}, the commit follows none", made[2])));
}

/// Why, when and with which tags a checkpoint was made come back, in a list, a load and a row.
pub async fn all_that_is_said_of_a_checkpoint_comes_back(store: &Store) {
    use CheckpointKind::{Abandon, Edit, Fork, Input, Pending, Step};
    let place = Place::thread("t");
    let mut parent = None;
    for (at, kind) in [Input, Step, Pending, Edit, Fork, Abandon].into_iter().enumerate() {
        let mut next = commit(parent, "turn", at as u64, &[]);
        next.kind = kind;
        next.due_ms = (at % 2 == 0).then_some(at as u64 * 1_000);
        next.tags = Arc::new((0..at).map(|n| (format!("key {n} %_'\""), "\0\n🦀".repeat(n))).collect());
        store.commit(&place, &next).await.unwrap();
        let info = store.load(&place, None).await.unwrap().unwrap().info;
        assert_eq!((info.kind, &info.tags, info.parent), (kind, &*next.tags, parent));
        assert_eq!(store.list(&place, &Filter::default().limit(1)).await.unwrap(), [info]);
        let row = store.row(&place, next.id).await.unwrap().unwrap();
        assert_eq!((row.kind, row.due_ms, &row.tags), (kind, next.due_ms, &next.tags));
        let threads = store.threads(&ThreadFilter::default()).await.unwrap();
        assert_eq!((threads.len(), threads[0].due_ms, threads[0].head.kind), (1, next.due_ms, kind));
        parent = Some(next.id);
    }
}

/// `row` gives what one checkpoint changed, byte for byte, and nothing for an id that is not stored.
pub async fn a_row_is_what_was_committed(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 9).await;
    for (step, id) in made.iter().enumerate() {
        let expected = link((step > 0).then(|| made[step - 1]), step as u64);
        let row = store.row(&place, *id).await.unwrap().unwrap();
        assert_eq!((row.id, row.parent, row.step, row.time_ms), (*id, expected.parent, step as u64, step as u64));
        assert_eq!((&row.turn, row.position()), (&expected.turn, expected.position()));
        assert_eq!(row.fields.len(), expected.fields.len());
        for wanted in &expected.fields {
            let field = row.fields.iter().find(|field| field.name == wanted.name).unwrap();
            assert_eq!((field.encoding, &field.items), (wanted.encoding, &wanted.items));
            assert_eq!(row.field_bytes(field), expected.field_bytes(wanted));
        }
    }
    assert!(store.row(&place, CheckpointId::default()).await.unwrap().is_none());
    assert!(store.row(&Place::new("t", "child"), made[0]).await.unwrap().is_none());
    assert!(store.row(&Place::thread("u"), made[0]).await.unwrap().is_none());
}

/// A repeated commit leaves what was saved after it, also when what came before it was pruned meanwhile.
pub async fn a_repeated_commit_keeps_what_came_after_it(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 6).await;
    store.save(&place, made[5], &[result(6, 0, b"1")]).await.unwrap();
    store.commit(&place, &link(Some(made[4]), 5)).await.unwrap();
    assert_eq!(saved(&**store, &place).await, [result(6, 0, b"1")]);
    store.prune(&place, Keep::Last(1)).await.unwrap();
    store.commit(&place, &link(Some(made[4]), 5)).await.unwrap();
    assert_eq!(saved(&**store, &place).await, [result(6, 0, b"1")]);
    let other = commit(Some(made[4]), "turn", 5, &[("log", Encoding::Delta, 5..6, "[6]")]);
    assert!(is_conflict(store.commit(&place, &other).await));
    assert_eq!(ids(&**store, &place, Filter::default()).await, [made[5]]);
}

/// A refused first commit makes neither a thread nor a namespace.
pub async fn a_refused_commit_makes_no_thread(store: &Store) {
    let unknown = CheckpointId::derive("t", "", None, "other", 9);
    let orphan = commit(Some(unknown), "turn", 0, &[]);
    for place in [Place::thread("t"), Place::new("t", "child")] {
        assert!(is_conflict(store.commit(&place, &orphan).await));
        assert!(is_conflict(store.save(&place, unknown, &[result(0, 0, b"1")]).await));
    }
    assert!(store.namespaces("t").await.unwrap().is_empty());
    assert!(store.threads(&ThreadFilter::default()).await.unwrap().is_empty());
    assert!(!store.delete("t").await.unwrap());
    chain(&**store, &Place::thread("u"), 1).await;
    store.copy("u", "t").await.unwrap();
    assert!(is_conflict(store.commit(&Place::new("t", "child"), &orphan).await));
    assert_eq!(store.namespaces("t").await.unwrap(), [""]);
}

/// Times are for people: a clock that goes back orders nothing.
pub async fn a_clock_that_goes_back_orders_nothing(store: &Store) {
    let place = Place::thread("t");
    let mut made = Vec::new();
    for (step, time) in [50, 40, 90, 0, u64::MAX, 1].into_iter().enumerate() {
        let mut next = link(made.last().copied(), step as u64);
        next.time_ms = time;
        store.commit(&place, &next).await.unwrap();
        made.push(next.id);
    }
    let newest: Vec<_> = made.iter().rev().copied().collect();
    assert_eq!(ids(&**store, &place, Filter::default()).await, newest);
    assert_eq!(ids(&**store, &place, Filter::default().before(made[2])).await, [made[1], made[0]]);
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[5]);
    assert!(meaning(&**store, &place, Some(made[3])).await.unwrap().ends_with("log=[0,1,2,3]"));
    assert_eq!(store.prune(&place, Keep::Last(2)).await.unwrap(), 4);
    assert_eq!(ids(&**store, &place, Filter::default()).await, [made[5], made[4]]);
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,3,4,5]"));
    let infos = store.list(&place, &Filter::default()).await.unwrap();
    assert_eq!(infos.iter().map(|info| info.time_ms).collect::<Vec<_>>(), [1, u64::MAX]);
}

/// What a store stores at once, if it can, follows the same rules, and a handle of a thread that was deleted says so.
pub async fn what_is_stored_at_once_follows_the_same_rules(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 3).await;
    let Some(at_once) = store.at_once(&place) else { return };
    let next = commit(Some(made[2]), "turn", 3, &[("log", Encoding::Delta, 3..4, "[3]")]);
    assert!(at_once.commit(&next).unwrap().is_ok());
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, next.id);
    assert!(at_once.commit(&next).unwrap().is_ok(), "it is the same");
    let mut other = next.clone();
    other.fields.clear();
    assert!(is_conflict(at_once.commit(&other).unwrap()), "it has other content");
    let stale = commit(Some(made[2]), "late", 3, &[]);
    assert!(is_conflict(at_once.commit(&stale).unwrap()), "the head moved");
    // What others store meanwhile counts for it, too.
    let after = commit(Some(next.id), "turn", 4, &[]);
    store.commit(&place, &after).await.unwrap();
    assert!(is_conflict(at_once.commit(&commit(Some(next.id), "late", 4, &[])).unwrap()));
    let last = commit(Some(after.id), "turn", 5, &[]);
    assert!(at_once.commit(&last).unwrap().is_ok());
    assert_eq!(ids(&**store, &place, Filter::default().limit(3)).await, [last.id, after.id, next.id]);
    for cleared in [true, false] {
        let before = store.at_once(&place).unwrap();
        if cleared {
            store.clear(&place).await.unwrap();
        } else {
            store.delete("t").await.unwrap();
        }
        assert!(before.commit(&link(None, 0)).is_none(), "the thread is gone");
        assert!(store.load(&place, None).await.unwrap().is_none());
        chain(&**store, &place, 2).await;
        assert!(before.commit(&link(None, 0)).is_none(), "it is another one");
        assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 2);
    }
}
