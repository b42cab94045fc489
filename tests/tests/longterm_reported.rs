//! What was reported of other long-term stores, with the right values.

use graph_engine::longterm::{
    Condition, Listing, LongTermError, LongTermStore, MemoryLongTerm, Namespace, Op, Put, Search,
};
use graph_engine::longterm::{LongTermSettings, Test};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn ns<const N: usize>(labels: [&str; N]) -> Namespace {
    Namespace::new(labels).unwrap()
}

#[tokio::test]
async fn report_8_a_filter_on_a_score_does_not_match_an_item_without_one() {
    let store = MemoryLongTerm::new();
    let games = ns(["games"]);
    store.put(&games, "with", json!({"score": 9})).await.unwrap();
    store.put(&games, "without", json!({"name": "x"})).await.unwrap();
    let found = store.search(Search::under(&games).filter(Condition::gt("score", 5))).await.unwrap();
    assert_eq!(found.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["with"]);
}

#[tokio::test]
async fn report_9_a_second_put_keeps_the_time_of_creation() {
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = now.clone();
    let store = MemoryLongTerm::with(LongTermSettings::new().clock(move || clock.load(Ordering::SeqCst)));
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!(1)).await.unwrap();
    now.store(5_000, Ordering::SeqCst);
    store.put(&user, "a", json!(2)).await.unwrap();
    let item = store.get(&user, "a").await.unwrap().unwrap();
    assert_eq!((item.created_ms, item.updated_ms), (1_000, 5_000));
}

#[tokio::test]
async fn report_10_a_value_that_was_read_and_changed_is_not_changed_in_the_store() {
    let store = MemoryLongTerm::new();
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!({"n": 1})).await.unwrap();
    let mut item = store.get(&user, "a").await.unwrap().unwrap();
    item.value["n"] = json!(99);
    assert_eq!(store.get(&user, "a").await.unwrap().unwrap().value, json!({"n": 1}));
}

#[tokio::test]
async fn report_11_a_read_of_an_unknown_namespace_creates_none() {
    let store = MemoryLongTerm::new();
    assert_eq!(store.get(&ns(["nobody"]), "a").await.unwrap(), None);
    assert!(store.search(Search::under(&ns(["nobody"]))).await.unwrap().is_empty());
    assert!(store.list_namespaces(Listing::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn report_12_there_is_no_unknown_test_and_a_batch_is_checked_like_a_single_put() {
    let unknown = serde_json::from_value::<Test>(json!({"$or": [{"gt": 1}]})).unwrap_err();
    assert!(unknown.to_string().contains("unknown variant `$or`"), "{unknown}");
    assert!(matches!(Namespace::new(["users", ""]), Err(LongTermError::Invalid { .. })));
    let read = serde_json::from_value::<Namespace>(json!(["users", ""])).unwrap_err();
    assert!(read.to_string().contains("label 2 of the namespace is empty"), "{read}");
    let store = MemoryLongTerm::new();
    let user = ns(["users", "7"]);
    let single = store.put(&user, "", json!(1)).await.unwrap_err();
    let batch = vec![Op::from(Put::new(&user, "a", 1)), Op::from(Put::new(&user, "", 1))];
    assert_eq!(store.batch(batch).await.unwrap_err().to_string(), single.to_string());
    assert_eq!(store.get(&user, "a").await.unwrap(), None);
}
