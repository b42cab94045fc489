//! Which threads and namespaces a store lists.

use super::Store;
use super::make::{chain, commit, fork, link};
use crate::{Keep, Place, ThreadFilter};

async fn names(store: &Store, filter: ThreadFilter) -> Vec<String> {
    store.threads(&filter).await.unwrap().iter().map(|info| info.thread.to_string()).collect()
}

/// Threads come in the order of their bytes, from any place on, so many as asked for.
pub async fn threads_are_listed_in_order(store: &Store) {
    let mut all =
        ["a", "A", "", "a/b", "a%", "a_", "ab", "a\0", "b", "B/1", "B/2", "é", "🦀", "\u{FFFD}x", "a'", "\u{10FFFF}"];
    for thread in all {
        chain(&**store, &Place::thread(thread), 2).await;
    }
    all.sort_unstable();
    assert_eq!(names(store, ThreadFilter::default()).await, all);
    for (at, thread) in all.iter().enumerate() {
        assert_eq!(names(store, ThreadFilter::default().after(*thread)).await, all[at + 1..], "after {thread:?}");
        let next: Vec<&str> = all[at + 1..].iter().take(2).copied().collect();
        assert_eq!(names(store, ThreadFilter::default().after(*thread).limit(2)).await, next);
        let begins: Vec<&str> = all.iter().filter(|other| other.starts_with(thread)).copied().collect();
        assert_eq!(names(store, ThreadFilter::default().prefix(*thread)).await, begins, "prefix {thread:?}");
    }
    assert_eq!(names(store, ThreadFilter::default().prefix("B/").after("B/1")).await, ["B/2"]);
    assert_eq!(names(store, ThreadFilter::default().prefix("B/").after("a")).await, [""; 0]);
    assert_eq!(names(store, ThreadFilter::default().prefix("a").limit(1)).await, ["a"]);
    assert_eq!(names(store, ThreadFilter::default().prefix("🦁")).await, [""; 0]);
    assert_eq!(names(store, ThreadFilter::default().after("nobody").prefix("é")).await, ["é"]);
    assert_eq!(names(store, ThreadFilter::default().limit(0)).await, [""; 0]);
}

/// A thread is listed with its newest checkpoint, whichever branch that is on, and only if it has one of its own.
pub async fn a_thread_is_listed_with_its_head(store: &Store) {
    let place = Place::thread("t");
    chain(&**store, &Place::new("only a child", "child"), 3).await;
    let made = chain(&**store, &place, 4).await;
    chain(&**store, &Place::new("t", "child"), 9).await;
    let threads = store.threads(&ThreadFilter::default()).await.unwrap();
    let head = store.load(&place, None).await.unwrap().unwrap().info;
    assert_eq!((threads.len(), threads[0].thread.as_str(), &threads[0].head), (1, "t", &head));
    let branch = fork(Some(made[1]), "fork", 2, &[]);
    store.commit(&place, &branch).await.unwrap();
    let threads = store.threads(&ThreadFilter::default()).await.unwrap();
    assert_eq!((threads[0].head.id, threads[0].head.parent), (branch.id, Some(made[1])));
}

/// A thread is found by when its first question expires: what its head says, not an older checkpoint or a child.
pub async fn threads_are_found_by_what_is_due(store: &Store) {
    for (thread, due) in [("never", None), ("early", Some(10)), ("late", Some(u64::MAX)), ("zero", Some(0))] {
        let mut first = link(None, 0);
        first.due_ms = due;
        store.commit(&Place::thread(thread), &first).await.unwrap();
        let mut inner = link(None, 0);
        inner.due_ms = Some(1);
        store.commit(&Place::new(thread, "child"), &inner).await.unwrap();
    }
    assert_eq!(names(store, ThreadFilter::default().due_by(0)).await, ["zero"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(9)).await, ["zero"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(10)).await, ["early", "zero"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(u64::MAX)).await, ["early", "late", "zero"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(10).after("early")).await, ["zero"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(10).prefix("ear")).await, ["early"]);
    assert_eq!(names(store, ThreadFilter::default().due_by(u64::MAX).limit(1)).await, ["early"]);
    let place = Place::thread("early");
    let head = store.load(&place, None).await.unwrap().unwrap().info.id;
    store.commit(&place, &commit(Some(head), "turn", 1, &[])).await.unwrap();
    assert_eq!(names(store, ThreadFilter::default().due_by(10)).await, ["zero"], "the question was answered");
    let mut back = fork(Some(head), "back", 1, &[]);
    back.due_ms = Some(5);
    store.commit(&place, &back).await.unwrap();
    let due = store.threads(&ThreadFilter::default().due_by(10)).await.unwrap();
    assert_eq!((due[0].thread.as_str(), due[0].due_ms, due[0].head.id), ("early", Some(5), back.id));
    store.prune(&place, Keep::Last(1)).await.unwrap();
    assert_eq!(names(store, ThreadFilter::default().due_by(10)).await, ["early", "zero"]);
    store.delete("early").await.unwrap();
    assert_eq!(names(store, ThreadFilter::default().due_by(10)).await, ["zero"]);
}

/// Namespaces come in the order of their bytes, the empty one first, and those of one thread only.
pub async fn namespaces_are_listed_in_order(store: &Store) {
    let mut all = ["plan:1", "plan", "plan:10", "", "Plan", "plan/x", "🦀", "é", "%", "plan\0"];
    for namespace in all {
        chain(&**store, &Place::new("t", namespace), 1).await;
    }
    chain(&**store, &Place::new("u", "other"), 1).await;
    all.sort_unstable();
    assert_eq!(store.namespaces("t").await.unwrap(), all);
    assert_eq!(store.namespaces("u").await.unwrap(), ["other"]);
    assert!(store.namespaces("%").await.unwrap().is_empty());
}
