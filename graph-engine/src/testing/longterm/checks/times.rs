//! How long things are remembered.

use serde_json::json;

use crate::longterm::{Listing, Op, Put, Search};
use crate::testing::longterm::kit::{Kit, keys, ns};

pub async fn an_item_is_gone_when_its_time_is_over(kit: Kit) {
    let store = kit.store_with(|settings| settings.ttl_ms(500)).await;
    let user = ns(["users", "7"]);
    store.put(&user, "code", json!("open sesame")).await.unwrap();
    kit.advance(499);
    assert!(store.get(&user, "code").await.unwrap().is_some());
    assert_eq!(keys(&store, Search::under(&user).text("sesame")).await, ["code"]);
    kit.advance(1);
    assert_eq!(store.get(&user, "code").await.unwrap(), None);
    assert_eq!(keys(&store, Search::under(&user)).await, [""; 0]);
    assert_eq!(keys(&store, Search::under(&user).text("sesame")).await, [""; 0]);
    assert!(store.list_namespaces(Listing::default()).await.unwrap().is_empty());
    assert!(!store.delete(&user, "code").await.unwrap());
}

pub async fn a_put_says_for_itself_how_long(kit: Kit) {
    let store = kit.store_with(|settings| settings.ttl_ms(500)).await;
    let user = ns(["users", "7"]);
    store.put_with(Put::new(&user, "short", 1).ttl_ms(100)).await.unwrap();
    store.put_with(Put::new(&user, "long", 1).ttl_ms(1_000)).await.unwrap();
    store.put_with(Put::new(&user, "ever", 1).forever()).await.unwrap();
    store.put_with(Put::new(&user, "never", 1).ttl_ms(0)).await.unwrap();
    store.put(&user, "default", json!(1)).await.unwrap();
    let mut seen = Vec::new();
    for millis in [0, 100, 400, 500] {
        kit.advance(millis);
        seen.push(keys(&store, Search::under(&user)).await);
    }
    assert_eq!(seen[0], ["default", "ever", "long", "short"]);
    assert_eq!(seen[1], ["default", "ever", "long"]);
    assert_eq!(seen[2], ["ever", "long"]);
    assert_eq!(seen[3], ["ever"]);
}

pub async fn a_put_begins_the_time_anew_or_ends_it(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    for key in ["anew", "ever"] {
        store.put_with(Put::new(&user, key, 1).ttl_ms(100)).await.unwrap();
    }
    kit.advance(60);
    store.put_with(Put::new(&user, "anew", 2).ttl_ms(100)).await.unwrap();
    store.put_with(Put::new(&user, "ever", 2)).await.unwrap();
    kit.advance(60);
    let item = store.get(&user, "anew").await.unwrap().unwrap();
    assert_eq!((item.created_ms, item.updated_ms), (1_000, 1_060));
    kit.advance(60);
    assert_eq!(keys(&store, Search::under(&user)).await, ["ever"]);
}

pub async fn a_read_refreshes_only_if_asked(kit: Kit) {
    let user = ns(["users", "7"]);
    let refreshing = kit.store_with(|settings| settings.ttl_ms(100).refresh_on_read(true)).await;
    let plain = kit.store_with(|settings| settings.ttl_ms(100)).await;
    let get = |refresh| Op::Get { namespace: user.clone(), key: "b".into(), refresh: Some(refresh) };
    for store in [&refreshing, &plain] {
        for key in ["a", "b", "c", "d"] {
            store.put(&user, key, json!({ "name": key })).await.unwrap();
        }
    }
    kit.advance(60);
    refreshing.get(&user, "a").await.unwrap().unwrap();
    refreshing.batch(vec![get(false)]).await.unwrap();
    assert_eq!(keys(&refreshing, Search::under(&user).text("c")).await, ["c"]);
    assert_eq!(keys(&refreshing, Search::under(&user).text("d").refresh(false)).await, ["d"]);
    plain.get(&user, "a").await.unwrap().unwrap();
    plain.batch(vec![get(true)]).await.unwrap();
    assert_eq!(keys(&plain, Search::under(&user).text("c").refresh(true)).await, ["c"]);
    assert_eq!(keys(&plain, Search::under(&user).text("d")).await, ["d"]);
    kit.advance(60);
    let still = |store| keys(store, Search::under(&user).refresh(false));
    assert_eq!(still(&refreshing).await, ["a", "c"]);
    assert_eq!(still(&plain).await, ["b", "c"]);
    let item = plain.get(&user, "b").await.unwrap().unwrap();
    assert_eq!((item.created_ms, item.updated_ms), (1_000, 1_000), "reading is no update");
    kit.advance(40);
    assert_eq!(still(&refreshing).await, [""; 0]);
}

pub async fn a_sweep_clears_away_what_is_over_and_counts_it(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    for (key, ttl) in [("a", 100), ("b", 100), ("c", 300)] {
        store.put_with(Put::new(&user, key, 1).ttl_ms(ttl)).await.unwrap();
    }
    store.put(&user, "d", json!(1)).await.unwrap();
    assert_eq!(store.sweep(1_099).await.unwrap(), 0);
    assert_eq!(store.sweep(1_100).await.unwrap(), 2);
    assert_eq!(store.sweep(1_100).await.unwrap(), 0);
    assert_eq!(keys(&store, Search::under(&user)).await, ["c", "d"]);
    assert_eq!(store.sweep(u64::MAX).await.unwrap(), 1);
    assert_eq!(keys(&store, Search::under(&user)).await, ["d"]);
}

pub async fn what_is_over_is_put_as_new(kit: Kit) {
    let store = kit.store_with(|settings| settings.ttl_ms(100)).await;
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!(1)).await.unwrap();
    kit.advance(100);
    store.put(&user, "a", json!(2)).await.unwrap();
    let item = store.get(&user, "a").await.unwrap().unwrap();
    assert_eq!((item.value, item.created_ms, item.updated_ms), (json!(2), 1_100, 1_100));
}

pub async fn a_write_clears_away_what_is_over(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    for n in 0..5 {
        store.put_with(Put::new(&user, n.to_string(), 1).ttl_ms(100)).await.unwrap();
    }
    kit.advance(100);
    store.put(&user, "other", json!(1)).await.unwrap();
    assert_eq!(store.sweep(1_100).await.unwrap(), 0, "nothing is left to sweep");
}

pub async fn the_longest_time_is_no_error(kit: Kit) {
    let store = kit.store_with(|settings| settings.ttl_ms(u64::MAX)).await;
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!(1)).await.unwrap();
    store.put_with(Put::new(&user, "b", 1).ttl_ms(u64::MAX - 1)).await.unwrap();
    kit.advance(1 << 50);
    let get = Op::Get { namespace: user.clone(), key: "a".into(), refresh: Some(true) };
    store.batch(vec![get]).await.unwrap();
    assert_eq!(keys(&store, Search::under(&user)).await, ["a", "b"]);
}
