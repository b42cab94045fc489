//! Single items.

use serde_json::{Value, json};

use crate::longterm::{Item, Listing, LongTermError, Search};
use crate::testing::longterm::kit::{Kit, keys, ns};

pub async fn what_was_put_is_given_back_with_its_times(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    store.put(&user, "language", json!({"name": "Norwegian"})).await.unwrap();
    kit.advance(50);
    let expected = Item::new(user.clone(), "language", json!({"name": "Norwegian"}), 1_000);
    assert_eq!(store.get(&user, "language").await.unwrap(), Some(expected.clone()));
    let found = store.search(Search::under(&user)).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].item, found[0].score), (&expected, None));
}

pub async fn a_second_put_keeps_the_time_of_creation_and_moves_that_of_the_update(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    store.put(&user, "language", json!("no")).await.unwrap();
    kit.advance(250);
    store.put(&user, "language", json!("en")).await.unwrap();
    let item = store.get(&user, "language").await.unwrap().unwrap();
    assert_eq!((item.value, item.created_ms, item.updated_ms), (json!("en"), 1_000, 1_250));
    assert_eq!(keys(&store, Search::under(&user)).await, ["language"]);
}

pub async fn a_value_that_was_given_back_and_changed_changes_nothing_stored(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let mut given = json!({"seats": [1, 2]});
    store.put(&user, "booking", given.clone()).await.unwrap();
    given["seats"] = json!(99);
    let mut first = store.get(&user, "booking").await.unwrap().unwrap();
    first.value["seats"] = json!(99);
    let mut found = store.search(Search::under(&user)).await.unwrap();
    found[0].item.value = Value::Null;
    let again = store.get(&user, "booking").await.unwrap().unwrap();
    assert_eq!(again.value, json!({"seats": [1, 2]}));
}

pub async fn values_of_all_kinds_come_back_as_they_were_put(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["kinds"]);
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-0.0),
        json!(1.0),
        json!(1e16),
        json!(5e-324),
        json!(f64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(""),
        json!("a\0b \u{1F3E8} \u{FEFF}\\u0000 '; DROP TABLE items; --"),
        json!([]),
        json!({}),
        json!({"": {"z": 1, "a": [null, {"k": "v"}]}, "\0": "\0"}),
    ];
    for (at, value) in values.iter().enumerate() {
        store.put(&all, &at.to_string(), value.clone()).await.unwrap();
    }
    for (at, value) in values.iter().enumerate() {
        let item = store.get(&all, &at.to_string()).await.unwrap().unwrap();
        assert_eq!(item.value.to_string(), value.to_string());
        assert_eq!(&item.value, value);
    }
    assert_eq!(keys(&store, Search::under(&all).limit(100)).await.len(), values.len());
}

pub async fn reads_create_nothing(kit: Kit) {
    let store = kit.store().await;
    let nobody = ns(["users", "nobody"]);
    assert_eq!(store.get(&nobody, "language").await.unwrap(), None);
    assert!(store.search(Search::under(&nobody)).await.unwrap().is_empty());
    assert!(!store.delete(&nobody, "language").await.unwrap());
    assert!(store.list_namespaces(Listing::default().prefix(&nobody)).await.unwrap().is_empty());
    assert!(store.list_namespaces(Listing::default()).await.unwrap().is_empty());
}

pub async fn a_deleted_item_is_gone_and_a_second_delete_says_so(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!(1)).await.unwrap();
    store.put(&user, "b", json!(2)).await.unwrap();
    assert!(store.delete(&user, "a").await.unwrap());
    assert!(!store.delete(&user, "a").await.unwrap());
    assert_eq!(store.get(&user, "a").await.unwrap(), None);
    assert_eq!(keys(&store, Search::under(&user)).await, ["b"]);
}

pub async fn an_item_that_is_put_again_after_a_delete_is_a_new_one(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    store.put(&user, "a", json!(1)).await.unwrap();
    store.delete(&user, "a").await.unwrap();
    kit.advance(10);
    store.put(&user, "a", json!(2)).await.unwrap();
    let item = store.get(&user, "a").await.unwrap().unwrap();
    assert_eq!((item.created_ms, item.updated_ms), (1_010, 1_010));
}

pub async fn keys_and_namespaces_are_data(kit: Kit) {
    let store = kit.store().await;
    let hostile = [
        "a.b",
        "a/b",
        "a~b",
        "a~1b",
        "%",
        "_",
        "*",
        "'",
        "\"",
        "; DROP TABLE items",
        "\\",
        "\n",
        "\u{1}",
        "ß",
        "SS",
        "ss",
        "\u{E9}",
        "e\u{301}",
        "\u{10FFFF}",
        " ",
        "..",
        "--",
        "$1",
        "?1",
        "{}",
    ];
    for text in hostile {
        store.put(&ns(["odd", text]), text, json!(text)).await.unwrap();
    }
    for text in hostile {
        let item = store.get(&ns(["odd", text]), text).await.unwrap().unwrap();
        assert_eq!((item.value, item.key.as_str()), (json!(text), text));
        assert_eq!(item.namespace.labels().collect::<Vec<_>>(), ["odd", text]);
        assert_eq!(keys(&store, Search::under(&ns(["odd", text]))).await, [text], "{text:?}");
    }
    let mut expected: Vec<_> = hostile.iter().map(|text| ns(["odd", text])).collect();
    expected.sort();
    assert_eq!(store.list_namespaces(Listing::default()).await.unwrap(), expected);
    // Labels are whole: a dot or a slash is no border between two.
    assert_eq!(store.get(&ns(["odd", "a", "b"]), "a/b").await.unwrap(), None);
    assert_eq!(keys(&store, Search::under(&ns(["odd", "a"]))).await, [""; 0]);
}

pub async fn equal_keys_of_two_namespaces_are_two_items(kit: Kit) {
    let store = kit.store().await;
    let (one, two, inner) = (ns(["users", "1"]), ns(["users", "2"]), ns(["users", "1", "x"]));
    for (namespace, value) in [(&one, 1), (&two, 2), (&inner, 3)] {
        store.put(namespace, "k", json!(value)).await.unwrap();
    }
    assert!(store.delete(&one, "k").await.unwrap());
    assert_eq!(store.get(&one, "k").await.unwrap(), None);
    assert_eq!(store.get(&two, "k").await.unwrap().unwrap().value, json!(2));
    assert_eq!(store.get(&inner, "k").await.unwrap().unwrap().value, json!(3));
}

pub async fn a_large_item_is_kept_whole(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let words: Vec<String> = (0..150_000).map(|n| format!("word{n}")).collect();
    let value = json!({ "text": words.join(" ") });
    let key = "k".repeat(1_000);
    store.put(&user, &key, value.clone()).await.unwrap();
    assert!(store.get(&user, &key).await.unwrap().is_some_and(|item| item.value == value));
    assert_eq!(keys(&store, Search::under(&user).text("word17")).await, [key]);
}

pub async fn a_value_that_is_too_deep_is_refused(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let deep = |levels: usize| (0..levels).fold(json!("sea"), |value, _| Value::Array(vec![value]));
    store.put(&user, "a", deep(100)).await.unwrap();
    assert_eq!(store.get(&user, "a").await.unwrap().unwrap().value, deep(100));
    assert_eq!(keys(&store, Search::under(&user).text("sea")).await, ["a"]);
    for levels in [101, 1_000] {
        let error = store.put(&user, "b", deep(levels)).await.unwrap_err();
        assert!(matches!(error, LongTermError::Invalid { .. }), "{error}");
    }
}
