//! What is not stored, and what belongs to others.

use super::Store;
use super::make::{chain, ids, is_conflict, result};
use crate::{CheckpointId, Filter, Keep, Place, ThreadFilter};

/// What is not stored is empty everywhere, and asking for it makes nothing.
pub async fn an_unknown_thread_is_empty(store: &Store) {
    let place = Place::thread("t");
    let id = CheckpointId::derive("t", "", None, "turn", 0);
    assert!(store.load(&place, None).await.unwrap().is_none());
    assert!(store.load(&place, Some(id)).await.unwrap().is_none());
    assert!(store.list(&place, &Filter::default()).await.unwrap().is_empty());
    assert!(store.field(&place, None, "log", 0..9).await.unwrap().is_empty());
    assert_eq!(store.prune(&place, Keep::Last(1)).await.unwrap(), 0);
    assert!(!store.delete("t").await.unwrap());
    assert!(is_conflict(store.save(&place, id, &[result(0, 0, b"x")]).await));
    assert!(is_conflict(store.copy("t", "u").await));
    assert!(store.load(&place, None).await.unwrap().is_none(), "asking makes no thread");
}

/// Nothing of one namespace is seen in another.
pub async fn namespaces_are_apart(store: &Store) {
    let (top, child) = (Place::thread("t"), Place::new("t", "child"));
    let made = chain(&**store, &top, 4).await;
    assert!(store.load(&child, None).await.unwrap().is_none());
    let same = chain(&**store, &child, 2).await;
    assert_eq!(same, made[..2], "equal ids in another namespace are other checkpoints");
    assert_eq!(ids(&**store, &top, Filter::default()).await.len(), 4);
    store.save(&child, same[1], &[result(2, 0, b"x")]).await.unwrap();
    assert!(store.load(&top, Some(made[1])).await.unwrap().unwrap().saved.is_empty());
    assert_eq!(store.prune(&child, Keep::Last(1)).await.unwrap(), 1);
    assert_eq!(ids(&**store, &top, Filter::default()).await.len(), 4);
}

/// Ids are compared byte by byte, whatever they hold.
pub async fn thread_ids_and_namespaces_are_compared_byte_by_byte(store: &Store) {
    let long = "x".repeat(70_000);
    let names = ["", " ", "a", "A", "a ", "a/b", "a\0b", "../a", "'; --", "\"", "%", "_", "é", "e\u{301}", "🦀", &long];
    for (at, thread) in names.iter().enumerate() {
        for namespace in names.iter().take(6) {
            chain(&**store, &Place::new(*thread, *namespace), at as u64 % 3 + 1).await;
        }
    }
    for (at, thread) in names.iter().enumerate() {
        for namespace in names.iter().take(6) {
            let place = Place::new(*thread, *namespace);
            assert_eq!(ids(&**store, &place, Filter::default()).await.len(), at % 3 + 1);
        }
    }
    assert!(store.delete("").await.unwrap() && store.delete("a").await.unwrap());
    assert!(store.load(&Place::thread("A"), None).await.unwrap().is_some());
}

/// Whatever is read, of a known or an unknown thread, makes nothing that a list would show later.
pub async fn reads_create_nothing(store: &Store) {
    let id = CheckpointId::derive("t", "", None, "turn", 0);
    for known in [false, true] {
        for place in [Place::thread("t"), Place::new("t", "child"), Place::new("known", "child"), Place::thread("")] {
            assert!(store.load(&place, None).await.unwrap().is_none());
            assert!(store.load(&place, Some(id)).await.unwrap().is_none());
            assert!(store.row(&place, id).await.unwrap().is_none());
            assert!(store.field(&place, None, "log", 0..9).await.unwrap().is_empty());
            assert!(store.list(&place, &Filter::default()).await.unwrap().is_empty());
            assert_eq!(store.prune(&place, Keep::Since(9)).await.unwrap(), 0);
            assert!(!store.clear(&place).await.unwrap());
            assert!(store.namespaces("t").await.unwrap().is_empty());
            assert!(!store.delete("t").await.unwrap());
        }
        let expected: &[&str] = if known { &["known"] } else { &[] };
        let threads = store.threads(&ThreadFilter::default()).await.unwrap();
        assert_eq!(threads.iter().map(|info| info.thread.as_str()).collect::<Vec<_>>(), expected);
        if !known {
            chain(&**store, &Place::thread("known"), 1).await;
        }
        assert_eq!(store.namespaces("known").await.unwrap(), [""]);
    }
}
