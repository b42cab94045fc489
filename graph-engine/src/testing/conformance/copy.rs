//! Copies of threads.

use std::sync::Arc;

use super::Store;
use super::make::{chain, commit, fork, is_conflict, meaning, result, saved};
use crate::{Encoding, Filter, Keep, Place, ThreadFilter};

/// A copy has everything of its original and nothing in common with it.
pub async fn a_copy_is_a_thread_of_its_own(store: &Store) {
    let (place, child) = (Place::thread("t"), Place::new("t", "child"));
    let made = chain(&**store, &place, 5).await;
    chain(&**store, &child, 2).await;
    store.save(&place, made[4], &[result(5, 0, b"saved")]).await.unwrap();
    store.copy("t", "u").await.unwrap();
    let (copy, copied_child) = (Place::thread("u"), Place::new("u", "child"));
    for id in &made {
        assert_eq!(meaning(&**store, &copy, Some(*id)).await, meaning(&**store, &place, Some(*id)).await);
    }
    assert_eq!(meaning(&**store, &copied_child, None).await, meaning(&**store, &child, None).await);
    assert_eq!(store.load(&copy, None).await.unwrap().unwrap().saved.len(), 1);
    let next = commit(Some(made[4]), "turn", 5, &[("log", Encoding::Delta, 5..6, "[5]")]);
    store.commit(&copy, &next).await.unwrap();
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[4]);
    store.delete("t").await.unwrap();
    assert!(meaning(&**store, &copy, None).await.unwrap().ends_with("log=[0,1,2,3,4,5]"));
    assert!(is_conflict(store.copy("t", "v").await), "nothing to copy");
    chain(&**store, &place, 1).await;
    assert!(is_conflict(store.copy("t", "u").await), "the target exists");
    assert!(is_conflict(store.copy("t", "t").await), "it is the target itself");
    assert!(store.load(&Place::thread("v"), None).await.unwrap().is_none());
}

/// Lists, rows, branches and what is saved are the same in a copy.
pub async fn a_copy_has_everything(store: &Store) {
    let (place, copy) = (Place::thread("t"), Place::thread("u"));
    let made = chain(&**store, &place, 6).await;
    let mut branch = fork(Some(made[2]), "fork", 3, &[("log", Encoding::Delta, 3..4, "[33]")]);
    branch.tags = Arc::new([("tenant".to_owned(), "acme".to_owned())].into());
    branch.due_ms = Some(77);
    store.commit(&place, &branch).await.unwrap();
    store.save(&place, branch.id, &[result(4, 0, b"0"), result(4, 1, b"1")]).await.unwrap();
    for namespace in ["child", "child/grand child", "🦀"] {
        chain(&**store, &Place::new("t", namespace), 3).await;
    }
    store.copy("t", "u").await.unwrap();
    assert_eq!(store.namespaces("u").await.unwrap(), store.namespaces("t").await.unwrap());
    let infos = store.list(&place, &Filter::default()).await.unwrap();
    assert_eq!(store.list(&copy, &Filter::default()).await.unwrap(), infos);
    assert_eq!(store.list(&copy, &Filter::default().tag("tenant", "acme")).await.unwrap(), infos[..1]);
    for info in &infos {
        let (one, two) = (store.row(&place, info.id).await.unwrap(), store.row(&copy, info.id).await.unwrap());
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
        assert_eq!(meaning(&**store, &copy, Some(info.id)).await, meaning(&**store, &place, Some(info.id)).await);
    }
    assert_eq!(saved(&**store, &copy).await, saved(&**store, &place).await);
    let due = store.threads(&ThreadFilter::default().due_by(77)).await.unwrap();
    assert_eq!(due.iter().map(|info| info.thread.as_str()).collect::<Vec<_>>(), ["t", "u"]);
}

/// Original and copy go on apart, and so does a copy of a copy; a failed copy leaves nothing.
pub async fn copies_share_nothing(store: &Store) {
    let made = chain(&**store, &Place::thread("t"), 3).await;
    store.copy("t", "u").await.unwrap();
    store.copy("u", "v").await.unwrap();
    for (thread, item) in [("t", "[30]"), ("u", "[31]"), ("v", "[32]")] {
        let next = commit(Some(made[2]), "turn", 3, &[("log", Encoding::Delta, 3..4, item)]);
        store.commit(&Place::thread(thread), &next).await.unwrap();
    }
    assert!(store.delete("u").await.unwrap());
    store.prune(&Place::thread("t"), Keep::Last(1)).await.unwrap();
    assert!(meaning(&**store, &Place::thread("t"), None).await.unwrap().ends_with("log=[0,1,2,30]"));
    assert!(meaning(&**store, &Place::thread("v"), None).await.unwrap().ends_with("log=[0,1,2,32]"));
    assert_eq!(store.list(&Place::thread("v"), &Filter::default()).await.unwrap().len(), 4);
    assert!(is_conflict(store.copy("u", "w").await));
    assert!(is_conflict(store.copy("v", "t").await));
    assert!(store.namespaces("w").await.unwrap().is_empty());
    assert!(meaning(&**store, &Place::thread("t"), None).await.unwrap().ends_with("log=[0,1,2,30]"));
}
