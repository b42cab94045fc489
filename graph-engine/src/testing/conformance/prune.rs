//! What pruning drops and keeps.

use super::Store;
use super::make::{chain, commit, fork, ids, is_conflict, link, meaning, result};
use crate::{CheckpointId, Encoding, Filter, Keep, Place};

/// Whatever pruning keeps means what it meant before.
pub async fn pruning_keeps_every_kept_checkpoint_whole(store: &Store) {
    for keep in [0, 1, 2, 3, 5, 8, 12, 99] {
        let place = Place::thread(format!("t{keep}"));
        let made = chain(&**store, &place, 12).await;
        store.save(&place, made[11], &[result(12, 0, b"saved")]).await.unwrap();
        let mut fork = commit(Some(made[4]), "fork", 5, &[("log", Encoding::Delta, 5..6, "[55]")]);
        fork.fork = true;
        // A branch that is not the head's.
        let mut back = commit(Some(made[11]), "turn", 12, &[("log", Encoding::Base, 0..1, "[0]")]);
        back.fork = true;
        store.commit(&place, &fork).await.unwrap();
        store.commit(&place, &back).await.unwrap();
        let head: Vec<CheckpointId> = made.iter().copied().chain([back.id]).collect();
        let mut before = Vec::new();
        for id in &head {
            before.push(meaning(&**store, &place, Some(*id)).await);
        }
        let infos = store.list(&place, &Filter::default()).await.unwrap();
        let dropped = store.prune(&place, Keep::Last(keep)).await.unwrap();
        let kept = keep.clamp(1, 13);
        assert_eq!(dropped, 14 - kept as u64, "{keep}");
        let left = ids(&**store, &place, Filter::default()).await;
        assert!(left.iter().eq(head.iter().rev().take(kept)), "{keep}");
        for (at, id) in head.iter().enumerate() {
            let now = meaning(&**store, &place, Some(*id)).await;
            if at >= 13 - kept { assert_eq!(now, before[at], "{keep}, {at}") } else { assert_eq!(now, None) }
        }
        let known: Vec<_> = infos.iter().filter(|info| left.contains(&info.id)).cloned().collect();
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), known, "infos stay, parents included");
        assert_eq!(store.prune(&place, Keep::Last(keep)).await.unwrap(), 0, "again there is nothing to do");
    }
}

/// Pruning by time keeps what is young, whole, and the head.
pub async fn pruning_by_time_keeps_what_is_young_and_the_head(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 6).await;
    let old = commit(Some(made[5]), "turn", 0, &[("log", Encoding::Delta, 6..7, "[6]")]);
    store.commit(&place, &old).await.unwrap();
    let young = commit(Some(old.id), "turn", 9, &[("log", Encoding::Delta, 7..8, "[7]")]);
    store.commit(&place, &young).await.unwrap();
    let (five, nine) =
        (meaning(&**store, &place, Some(made[5])).await, meaning(&**store, &place, Some(young.id)).await);
    assert_eq!(store.prune(&place, Keep::Since(4)).await.unwrap(), 5);
    assert_eq!(ids(&**store, &place, Filter::default()).await, [young.id, made[5], made[4]]);
    assert_eq!(meaning(&**store, &place, Some(made[5])).await, five);
    assert_eq!(meaning(&**store, &place, Some(young.id)).await, nine, "its parent is gone and it is whole");
    assert_eq!(store.prune(&place, Keep::Since(u64::MAX)).await.unwrap(), 2);
    assert_eq!(meaning(&**store, &place, None).await, nine, "the head stays");
}

/// A pruned thread keeps what was saved and takes the next commit.
pub async fn a_pruned_thread_goes_on(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 7).await;
    store.save(&place, made[6], &[result(7, 0, b"saved")]).await.unwrap();
    store.prune(&place, Keep::Last(1)).await.unwrap();
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().saved.len(), 1, "saved results of the head stay");
    let next = commit(Some(made[6]), "turn", 7, &[("log", Encoding::Delta, 7..8, "[7]")]);
    store.commit(&place, &next).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,3,4,5,6,7]"));
    assert!(is_conflict(store.commit(&place, &commit(Some(made[3]), "late", 4, &[])).await));
}

/// Pruning by time may leave gaps: each checkpoint behind a gap has taken over what it needs, and says so as a row.
pub async fn what_is_kept_behind_a_gap_is_whole(store: &Store) {
    let place = Place::thread("t");
    let mut made = Vec::new();
    for step in 0..10_u64 {
        let mut next = link(made.last().copied(), step);
        next.time_ms = if step % 3 == 1 { 100 } else { step };
        store.commit(&place, &next).await.unwrap();
        made.push(next.id);
    }
    let mut branch = fork(Some(made[5]), "fork", 6, &[("log", Encoding::Delta, 6..7, "[66]")]);
    branch.time_ms = 0;
    store.commit(&place, &branch).await.unwrap();
    let kept = [branch.id, made[7], made[4], made[1]];
    let mut before = Vec::new();
    for id in kept {
        before.push(meaning(&**store, &place, Some(id)).await.unwrap());
    }
    assert_eq!(store.prune(&place, Keep::Since(100)).await.unwrap(), 7);
    assert_eq!(ids(&**store, &place, Filter::default()).await, kept);
    for (id, before) in kept.into_iter().zip(before) {
        assert_eq!(meaning(&**store, &place, Some(id)).await.unwrap(), before);
        let row = store.row(&place, id).await.unwrap().unwrap();
        let stored = store.load(&place, Some(id)).await.unwrap().unwrap();
        let mut own: Vec<_> = row
            .fields
            .iter()
            .map(|field| (field.name.to_string(), field.items.clone(), row.field_bytes(field)))
            .collect();
        let mut all: Vec<_> =
            stored.fields.iter().map(|field| (field.name.to_owned(), field.items.clone(), field.bytes)).collect();
        own.sort_by(|one, two| one.0.cmp(&two.0));
        all.sort_by(|one, two| one.0.cmp(&two.0));
        assert_eq!((own, row.position()), (all, &*stored.position), "the row has taken over everything");
    }
    let next = commit(Some(branch.id), "fork", 7, &[("log", Encoding::Delta, 7..8, "[67]")]);
    store.commit(&place, &next).await.unwrap();
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,3,4,5,66,67]"));
    assert_eq!(store.prune(&place, Keep::Last(1)).await.unwrap(), 4);
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2,3,4,5,66,67]"));
}

/// Pruning touches one namespace, keeps everything when there is nothing to drop, and what was dropped is unknown.
pub async fn pruning_drops_what_it_says_and_nothing_else(store: &Store) {
    let (top, child) = (Place::thread("t"), Place::new("t", "child"));
    let made = chain(&**store, &top, 5).await;
    chain(&**store, &child, 5).await;
    assert_eq!(store.prune(&top, Keep::Since(0)).await.unwrap(), 0);
    assert_eq!(store.prune(&top, Keep::Last(usize::MAX)).await.unwrap(), 0);
    assert_eq!(store.prune(&top, Keep::Last(2)).await.unwrap(), 3);
    assert_eq!(ids(&**store, &child, Filter::default()).await.len(), 5);
    assert!(store.load(&top, Some(made[2])).await.unwrap().is_none());
    assert!(store.row(&top, made[2]).await.unwrap().is_none());
    assert!(store.field(&top, Some(made[2]), "log", 0..9).await.unwrap().is_empty());
    assert!(is_conflict(store.commit(&top, &fork(Some(made[2]), "fork", 3, &[])).await), "its parent is gone");
    assert!(ids(&**store, &top, Filter::default().before(made[2])).await.is_empty());
}
