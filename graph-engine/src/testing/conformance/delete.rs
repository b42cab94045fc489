//! Deleting threads and clearing namespaces.

use super::Store;
use super::make::{chain, is_conflict, link, result, saved};
use crate::{Filter, Keep, Place, ThreadFilter};

/// Deleting takes all namespaces of one thread.
pub async fn deleting_takes_all_namespaces_and_nothing_else(store: &Store) {
    chain(&**store, &Place::thread("t"), 2).await;
    chain(&**store, &Place::new("t", "child"), 2).await;
    chain(&**store, &Place::thread("tt"), 2).await;
    assert!(store.delete("t").await.unwrap());
    assert!(!store.delete("t").await.unwrap());
    assert!(store.load(&Place::thread("t"), None).await.unwrap().is_none());
    assert!(store.load(&Place::new("t", "child"), None).await.unwrap().is_none());
    assert!(store.load(&Place::thread("tt"), None).await.unwrap().is_some());
    assert_eq!(chain(&**store, &Place::thread("t"), 3).await.len(), 3, "the id is free again");
}

/// After a deletion nothing is left in any answer, and a new thread of that name begins with nothing.
pub async fn deletion_leaves_nothing(store: &Store) {
    let (top, child) = (Place::thread("t"), Place::new("t", "child"));
    for round in 0..3 {
        let made = chain(&**store, &top, 3).await;
        let inner = chain(&**store, &child, 2).await;
        assert!(saved(&**store, &top).await.is_empty(), "round {round}");
        store.save(&top, made[2], &[result(3, 0, b"0")]).await.unwrap();
        store.save(&child, inner[1], &[result(2, 0, b"0")]).await.unwrap();
        assert!(store.delete("t").await.unwrap());
        for (place, ids) in [(&top, &made), (&child, &inner)] {
            assert!(store.load(place, None).await.unwrap().is_none());
            assert!(store.list(place, &Filter::default()).await.unwrap().is_empty());
            for id in ids {
                assert!(store.load(place, Some(*id)).await.unwrap().is_none());
                assert!(store.row(place, *id).await.unwrap().is_none());
                assert!(store.field(place, Some(*id), "log", 0..99).await.unwrap().is_empty());
            }
            assert!(store.field(place, None, "log", 0..99).await.unwrap().is_empty());
            assert_eq!(store.prune(place, Keep::Last(1)).await.unwrap(), 0);
            assert!(!store.clear(place).await.unwrap());
        }
        assert!(store.namespaces("t").await.unwrap().is_empty());
        assert!(store.threads(&ThreadFilter::default()).await.unwrap().is_empty());
        assert!(is_conflict(store.commit(&top, &link(Some(made[2]), 3)).await), "nothing to follow");
        assert!(is_conflict(store.save(&top, made[2], &[result(3, 0, b"0")]).await));
    }
    chain(&**store, &Place::thread("u"), 1).await;
    store.copy("u", "t").await.unwrap();
}

/// `clear` drops one namespace with what was saved in it, and a thread that has lost its last one is gone.
pub async fn clearing_drops_one_namespace(store: &Store) {
    let (top, child) = (Place::thread("t"), Place::new("t", "child"));
    chain(&**store, &top, 2).await;
    let inner = chain(&**store, &child, 3).await;
    chain(&**store, &Place::new("t", "child/b"), 1).await;
    store.save(&child, inner[2], &[result(3, 0, b"0")]).await.unwrap();
    assert!(!store.clear(&Place::new("t", "chil")).await.unwrap());
    assert!(!store.clear(&Place::new("u", "")).await.unwrap());
    assert!(store.clear(&child).await.unwrap());
    assert!(!store.clear(&child).await.unwrap());
    assert!(store.load(&child, None).await.unwrap().is_none());
    assert_eq!(store.namespaces("t").await.unwrap(), ["", "child/b"]);
    chain(&**store, &child, 3).await;
    assert!(saved(&**store, &child).await.is_empty());
    assert!(store.clear(&top).await.unwrap());
    assert_eq!(store.namespaces("t").await.unwrap(), ["child", "child/b"]);
    assert!(store.threads(&ThreadFilter::default()).await.unwrap().is_empty(), "it has no checkpoint of its own");
    assert!(store.clear(&child).await.unwrap() && store.clear(&Place::new("t", "child/b")).await.unwrap());
    assert!(!store.delete("t").await.unwrap(), "it lost its last namespace");
    assert!(is_conflict(store.copy("t", "v").await));
    chain(&**store, &Place::thread("u"), 1).await;
    store.copy("u", "t").await.unwrap();
}
