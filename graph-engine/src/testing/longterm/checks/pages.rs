//! Where a search looks, and in which order and pages things come.

use serde_json::json;

use crate::longterm::{Condition, Order, Search};
use crate::testing::longterm::kit::{Kit, keys, ns, put_all};

pub async fn a_search_finds_the_namespace_and_what_is_inside_of_it(kit: Kit) {
    let store = kit.store().await;
    for labels in [&["users"][..], &["users", "1"], &["users", "1", "x"], &["users", "10"], &["users1"], &["other"]] {
        let namespace = crate::longterm::Namespace::new(labels).unwrap();
        store.put(&namespace, &labels.join("."), json!(1)).await.unwrap();
    }
    let under = async |search| keys(&store, search).await;
    assert_eq!(under(Search::under(&ns(["users", "1"]))).await, ["users.1", "users.1.x"]);
    assert_eq!(under(Search::under(&ns(["users"]))).await, ["users", "users.1", "users.1.x", "users.10"]);
    assert_eq!(under(Search::default()).await.len(), 6);
    assert_eq!(under(Search::under(&ns(["user"]))).await, [""; 0]);
}

pub async fn a_search_finds_ten_unless_told_otherwise(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["many"]);
    for n in 0..12 {
        store.put(&all, &format!("{n:02}"), json!(n)).await.unwrap();
    }
    assert_eq!(keys(&store, Search::under(&all)).await.len(), 10);
    assert_eq!(keys(&store, Search::under(&all).limit(100)).await.len(), 12);
    assert_eq!(keys(&store, Search::under(&all).limit(0)).await.len(), 0);
    assert_eq!(keys(&store, Search::under(&all).limit(usize::MAX).offset(11)).await, ["11"]);
    assert_eq!(keys(&store, Search::under(&all).offset(usize::MAX)).await, [""; 0]);
}

pub async fn pages_are_complete_and_never_overlap(kit: Kit) {
    let store = kit.store().await;
    let mut expected = Vec::new();
    for n in 0..25 {
        // All were put at one time, in no order of theirs.
        let key = format!("{:02}", (n * 7) % 25);
        store.put(&ns(["many", "x"]), &key, json!({"text": "room", "n": n})).await.unwrap();
        expected.push(key);
    }
    expected.sort();
    let searches = [
        Search::default(),
        Search::default().order(Order::Key),
        Search::default().order(Order::Updated),
        Search::default().order(Order::Created),
        Search::default().text("room"),
    ];
    for search in searches {
        let mut paged = Vec::new();
        for page in 0..4 {
            paged.extend(keys(&store, search.clone().limit(7).offset(page * 7)).await);
        }
        assert_eq!(paged, expected, "{search:?}");
    }
}

pub async fn items_come_in_the_order_that_was_asked_for(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    for key in ["b", "c", "a"] {
        put_all(&store, &all, [(key, json!(1))]).await;
        kit.advance(10);
    }
    store.put(&all, "b", json!(2)).await.unwrap();
    let ordered = async |order| keys(&store, Search::under(&all).order(order)).await;
    assert_eq!(ordered(Order::Best).await, ["a", "b", "c"]);
    assert_eq!(ordered(Order::Key).await, ["a", "b", "c"]);
    assert_eq!(ordered(Order::Updated).await, ["b", "a", "c"]);
    assert_eq!(ordered(Order::Created).await, ["a", "c", "b"]);
}

pub async fn a_filter_is_looked_at_before_the_page_is_cut(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["many"]);
    for n in 0..30 {
        store.put(&all, &format!("{n:02}"), json!({"even": n % 2 == 0})).await.unwrap();
    }
    let even = Search::under(&all).filter(Condition::eq("even", true)).limit(3).offset(2);
    assert_eq!(keys(&store, even).await, ["04", "06", "08"]);
}
