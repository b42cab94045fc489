//! Conditions on fields.

use serde_json::{Value, json};

use crate::longterm::{Condition, LongTermError, Search, Test};
use crate::testing::longterm::kit::{Kit, keys, ns, put_all};

/// Which of these values have a field `f` that passes, by their place.
async fn passing(kit: &Kit, values: &[Value], cases: &[(Test, &[usize])]) {
    let store = kit.store().await;
    let all = ns(["values"]);
    for (at, value) in values.iter().enumerate() {
        store.put(&all, &format!("{at:02}"), value.clone()).await.unwrap();
    }
    for (test, expected) in cases {
        let condition = Condition::new("f", test.clone());
        let expected: Vec<String> = expected.iter().map(|at| format!("{at:02}")).collect();
        let search = Search::under(&all).filter(condition.clone()).limit(100);
        assert_eq!(keys(&store, search).await, expected, "{test:?}");
        let here = values.iter().enumerate().filter(|(_, value)| condition.passes(value));
        assert_eq!(here.map(|(at, _)| format!("{at:02}")).collect::<Vec<_>>(), expected, "{test:?} in this process");
    }
}

pub async fn an_item_without_the_field_does_not_match_and_is_no_error(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["games"]);
    put_all(
        &store,
        &all,
        [("a", json!({"score": 9})), ("b", json!({"other": 9})), ("c", json!(9)), ("d", json!(null))],
    )
    .await;
    assert_eq!(keys(&store, Search::under(&all).filter(Condition::gt("score", 5))).await, ["a"]);
    assert_eq!(keys(&store, Search::under(&all).filter(Condition::lt("score", 5))).await, [""; 0]);
}

pub async fn comparisons_are_typed(kit: Kit) {
    let values = [
        json!({"f": 5}),
        json!({"f": "5"}),
        json!({"f": true}),
        json!({"f": null}),
        json!({"f": [5]}),
        json!({"f": {"f": 5}}),
        json!({}),
    ];
    let cases: &[(Test, &[usize])] = &[
        (Test::Gte(json!(1)), &[0]),
        (Test::Lte(json!(9)), &[0]),
        (Test::Gte(json!("")), &[1]),
        (Test::Lte(json!("9")), &[1]),
        (Test::Eq(json!(5)), &[0]),
        (Test::Eq(json!("5")), &[1]),
        (Test::Eq(json!(true)), &[2]),
        (Test::Eq(json!(1)), &[]),
        (Test::Eq(json!(null)), &[3]),
        (Test::Eq(json!([5])), &[4]),
        (Test::Eq(json!({"f": 5})), &[5]),
    ];
    passing(&kit, &values, cases).await;
}

pub async fn numbers_are_compared_by_their_exact_worth(kit: Kit) {
    let values = [
        json!({"f": 1}),
        json!({"f": 1.0}),
        json!({"f": 1.5}),
        json!({"f": -1e300}),
        json!({"f": 9_007_199_254_740_992_i64}),
        json!({"f": 9_007_199_254_740_993_i64}),
        json!({"f": u64::MAX}),
        json!({"f": 10}),
        json!({"f": -0.0}),
    ];
    let cases: &[(Test, &[usize])] = &[
        (Test::Eq(json!(1)), &[0, 1]),
        (Test::Eq(json!(0)), &[8]),
        (Test::Gt(json!(1)), &[2, 4, 5, 6, 7]),
        (Test::Lt(json!(1.25)), &[0, 1, 3, 8]),
        (Test::Gt(json!(9_007_199_254_740_992_i64)), &[5, 6]),
        (Test::Gte(json!(u64::MAX)), &[6]),
        (Test::In(vec![json!(1.5), json!(10.0)]), &[2, 7]),
    ];
    passing(&kit, &values, cases).await;
}

pub async fn texts_are_compared_by_their_bytes(kit: Kit) {
    let values =
        ["a", "B", "b", "\u{E9}", "z", "\u{10000}", "\u{FFFD}", "b\0c", "b2", "b10"].map(|text| json!({"f": text}));
    let cases: &[(Test, &[usize])] = &[
        (Test::Lt(json!("a")), &[1]),
        (Test::Gt(json!("z")), &[3, 5, 6]),
        (Test::Gt(json!("\u{FFFD}")), &[5]),
        (Test::Lt(json!("b2")), &[0, 1, 2, 7, 9]),
        (Test::Eq(json!("b\0c")), &[7]),
        (Test::Contains(json!("\0")), &[7]),
    ];
    // How a NUL is ordered among other characters is left open: not every database can hold one.
    let cases: Vec<_> = cases.iter().map(|(test, at)| (test.clone(), *at)).collect();
    let (ordered, whole): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(test, _)| *test == Test::Lt(json!("b2")));
    passing(&kit, &values, &whole).await;
    let without: Vec<Value> =
        values.iter().enumerate().filter(|(at, _)| *at != 7).map(|(_, value)| value.clone()).collect();
    let shifted: Vec<(Test, &[usize])> = ordered.into_iter().map(|(test, _)| (test, [0, 1, 2, 8].as_slice())).collect();
    passing(&kit, &without, &shifted).await;
}

pub async fn every_test_finds_what_it_says(kit: Kit) {
    let values = [
        json!({"f": 3}),
        json!({"f": 5}),
        json!({"f": "quiet room"}),
        json!({"f": ["quiet", 5, null]}),
        json!({"f": null}),
        json!({"g": 3}),
        json!({"f": {"quiet": 1}}),
        json!(5),
    ];
    let cases: &[(Test, &[usize])] = &[
        (Test::Eq(json!(3)), &[0]),
        (Test::Ne(json!(3)), &[1, 2, 3, 4, 5, 6, 7]),
        (Test::Gt(json!(3)), &[1]),
        (Test::Gte(json!(3)), &[0, 1]),
        (Test::Lt(json!(5)), &[0]),
        (Test::Lte(json!(5)), &[0, 1]),
        (Test::In(vec![json!(3), json!(null)]), &[0, 4]),
        (Test::In(Vec::new()), &[]),
        (Test::Exists(true), &[0, 1, 2, 3, 4, 6]),
        (Test::Exists(false), &[5, 7]),
        (Test::Contains(json!("quiet")), &[2, 3]),
        (Test::Contains(json!("et ro")), &[2]),
        (Test::Contains(json!(5.0)), &[3]),
        (Test::Contains(json!(null)), &[3]),
        (Test::Contains(json!("")), &[2]),
    ];
    passing(&kit, &values, cases).await;
}

pub async fn paths_lead_through_objects_and_lists(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["paths"]);
    let deep = json!({
        "price": {"amount": 120},
        "rooms": [{"beds": 2}, {"beds": 3}],
        "a/b": {"~": 1},
        "0": "zero",
        "-1": "minus",
        "01": "odd",
        "": {"": "empty"},
        "it's \"odd\" $.x [0]": 7,
    });
    put_all(&store, &all, [("deep", deep), ("list", json!([["x"], ["y"]])), ("plain", json!("x"))]).await;
    let cases: Vec<(Condition, &[&str])> = vec![
        (Condition::eq("/price/amount", 120), &["deep"]),
        (Condition::eq(["price", "amount"], 120), &["deep"]),
        (Condition::eq("/rooms/1/beds", 3), &["deep"]),
        (Condition::exists("/rooms/2", true), &[]),
        (Condition::exists("/rooms/-1", true), &[]),
        (Condition::exists("/rooms/01", true), &[]),
        (Condition::exists("/rooms/ 1", true), &[]),
        (Condition::exists("/rooms/beds", true), &[]),
        (Condition::exists("/rooms/99999999999999999999", true), &[]),
        (Condition::eq("/a~1b/~0", 1), &["deep"]),
        (Condition::eq("/0", "zero"), &["deep"]),
        (Condition::eq("/0/0", "x"), &["list"]),
        (Condition::eq("-1", "minus"), &["deep"]),
        (Condition::eq("01", "odd"), &["deep"]),
        (Condition::eq("//", "empty"), &["deep"]),
        (Condition::eq(["it's \"odd\" $.x [0]"], 7), &["deep"]),
        (Condition::eq("", "x"), &["plain"]),
        (Condition::exists("/price/amount/value", true), &[]),
        (Condition::exists("/price/amount/value", false), &["deep", "list", "plain"]),
    ];
    for (condition, expected) in cases {
        assert_eq!(keys(&store, Search::under(&all).filter(condition.clone())).await, expected, "{condition:?}");
    }
}

pub async fn values_of_conditions_are_data(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["data"]);
    let hostile = ["' OR 1=1 --", "\"", "$.f", "%", "_", "?1", "\\", "{\"$gt\": 0}"];
    for text in hostile {
        store.put(&all, text, json!({ text: text })).await.unwrap();
    }
    for text in hostile {
        let search = Search::under(&all).filter(Condition::eq([text], text));
        assert_eq!(keys(&store, search).await, [text]);
        let search = Search::under(&all).filter(Condition::new([text], Test::Contains(json!(text))));
        assert_eq!(keys(&store, search).await, [text]);
    }
}

pub async fn all_conditions_have_to_pass(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["hotels"]);
    let hotel = |price: u32, city: &str| json!({"price": price, "city": city});
    put_all(&store, &all, [("a", hotel(100, "Oslo")), ("b", hotel(300, "Oslo")), ("c", hotel(100, "Bergen"))]).await;
    let search = Search::under(&all).filter(Condition::eq("city", "Oslo")).filter(Condition::lt("price", 200));
    assert_eq!(keys(&store, search.clone()).await, ["a"]);
    assert_eq!(keys(&store, search.filter(Condition::gt("price", 200))).await, [""; 0]);
}

pub async fn a_comparison_with_what_has_no_order_is_refused(kit: Kit) {
    let store = kit.store().await;
    for value in [json!(null), json!(true), json!([1]), json!({"$gt": 1})] {
        let error = store.search(Search::default().filter(Condition::gt("f", value.clone()))).await.unwrap_err();
        assert!(matches!(error, LongTermError::Invalid { .. }), "{value}: {error}");
        assert!(error.to_string().contains("only numbers and texts have an order"), "{error}");
    }
}
