//! Results of single tasks.

use super::Store;
use super::make::{chain, commit, fork, is_conflict, link, result, saved, task};
use crate::{CheckpointId, Place, SavedResult};

/// Saved results belong to the head and are gone once it moves.
pub async fn saved_results_belong_to_the_head(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 2).await;
    store.save(&place, made[1], &[result(2, 1, b"second")]).await.unwrap();
    store.save(&place, made[1], &[result(2, 0, b"first \xff\0")]).await.unwrap();
    store.save(&place, made[1], &[result(2, 1, b"too late")]).await.unwrap();
    assert!(is_conflict(store.save(&place, made[0], &[result(2, 2, b"stale")]).await));
    let mut saved = store.load(&place, None).await.unwrap().unwrap().saved;
    saved.sort_by_key(|saved| saved.task);
    let expected = [(task(2, 0), &b"first \xff\0"[..]), (task(2, 1), b"second")];
    assert_eq!(saved, expected.map(|(task, bytes)| SavedResult::new(task, "", bytes.to_vec())));
    assert!(store.load(&place, Some(made[0])).await.unwrap().unwrap().saved.is_empty());
    let next = commit(Some(made[1]), "turn", 2, &[]);
    store.commit(&place, &next).await.unwrap();
    assert!(store.load(&place, None).await.unwrap().unwrap().saved.is_empty(), "the step is over");
}

/// A task has a result of its own and others by key; the first of each stands, within one call too.
pub async fn the_first_result_of_a_task_and_key_stands(store: &Store) {
    let place = Place::thread("t");
    let head = chain(&**store, &place, 1).await[0];
    let keyed = |rank, key: &str, bytes: &str| SavedResult::new(task(1, rank), key, bytes.into());
    let first = [keyed(0, "", "0"), keyed(0, "a", "1"), keyed(0, "A", "2"), keyed(0, "a", "3"), keyed(1, "a\0", "4")];
    store.save(&place, head, &first).await.unwrap();
    store.save(&place, head, &[keyed(0, "a", "5"), keyed(1, "", "6"), keyed(0, "", "7")]).await.unwrap();
    store.save(&place, head, &first).await.unwrap();
    let expected = [keyed(0, "", "0"), keyed(0, "A", "2"), keyed(0, "a", "1"), keyed(1, "", "6"), keyed(1, "a\0", "4")];
    assert_eq!(saved(&**store, &place).await, expected);
}

/// A stale writer saves nothing, not even an empty list, and a checkpoint that is not the head has nothing saved.
pub async fn results_for_another_head_are_refused_whole(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 3).await;
    store.save(&place, made[2], &[]).await.unwrap();
    for stale in [made[0], made[1], CheckpointId::default()] {
        assert!(is_conflict(store.save(&place, stale, &[result(3, 0, b"0"), result(3, 1, b"1")]).await));
        assert!(is_conflict(store.save(&place, stale, &[]).await));
        assert!(is_conflict(store.save(&Place::new("t", "child"), stale, &[result(3, 0, b"0")]).await));
    }
    assert!(saved(&**store, &place).await.is_empty());
    assert_eq!(store.namespaces("t").await.unwrap(), [""]);
}

/// A fork ends the super-step of the old head: its results are gone, also when the head comes back to it.
pub async fn a_fork_drops_what_was_saved(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 3).await;
    store.save(&place, made[2], &[result(3, 0, b"0")]).await.unwrap();
    assert!(is_conflict(store.commit(&place, &link(Some(made[0]), 3)).await));
    assert_eq!(saved(&**store, &place).await.len(), 1, "a refused commit drops nothing");
    store.commit(&place, &fork(Some(made[0]), "fork", 1, &[])).await.unwrap();
    assert!(saved(&**store, &place).await.is_empty());
    assert!(store.load(&place, Some(made[2])).await.unwrap().unwrap().saved.is_empty());
    let back = fork(Some(made[2]), "back", 3, &[]);
    store.commit(&place, &back).await.unwrap();
    assert!(saved(&**store, &place).await.is_empty());
    store.save(&place, back.id, &[result(4, 0, b"4")]).await.unwrap();
    assert_eq!(saved(&**store, &place).await, [result(4, 0, b"4")]);
}

/// Results of 200 tasks come back, those of other namespaces are apart.
pub async fn many_results_come_back(store: &Store) {
    let (top, child) = (Place::thread("t"), Place::new("t", "child"));
    let head = chain(&**store, &top, 1).await[0];
    chain(&**store, &child, 1).await;
    let all: Vec<SavedResult> = (0..200).map(|rank| result(1, rank, format!("{{\"n\":{rank}}}").as_bytes())).collect();
    store.save(&top, head, &all[..150]).await.unwrap();
    store.save(&top, head, &all[100..]).await.unwrap();
    assert_eq!(saved(&**store, &top).await, all);
    assert!(saved(&**store, &child).await.is_empty());
    store.commit(&child, &commit(Some(head), "turn", 1, &[])).await.unwrap();
    assert_eq!(saved(&**store, &top).await.len(), 200, "a commit in another namespace ends nothing here");
}
