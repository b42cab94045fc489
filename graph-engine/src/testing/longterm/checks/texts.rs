//! Search by text.

use serde_json::json;

use crate::longterm::{Condition, LongTermError, Search};
use crate::testing::longterm::kit::{Kit, keys, ns, put_all};

pub async fn all_words_have_to_occur_whatever_their_case(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["hotels"]);
    put_all(
        &store,
        &all,
        [
            ("a", json!({"name": "Harbour Inn", "about": "Quiet rooms by the sea."})),
            ("b", json!({"name": "City Inn", "about": ["no sea", {"more": "but QUIET"}]})),
            ("c", json!("a loud place by the sea")),
        ],
    )
    .await;
    let found = async |text: &str| {
        let mut found = keys(&store, Search::under(&all).text(text)).await;
        found.sort();
        found
    };
    assert_eq!(found("sea").await, ["a", "b", "c"]);
    assert_eq!(found("quiet SEA").await, ["a", "b"]);
    assert_eq!(found("sea, quiet; harbour!").await, ["a"]);
    assert_eq!(found("sea mountains").await, [""; 0]);
    assert_eq!(found("sea sea sea").await, ["a", "b", "c"]);
}

pub async fn words_are_whole_and_keys_are_none(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    put_all(&store, &all, [("house", json!({"room": "seaside view", "n": 42}))]).await;
    for text in ["sea", "side", "room", "house", "42", "n", "x"] {
        assert_eq!(keys(&store, Search::under(&all).text(text)).await, [""; 0], "{text}");
    }
    assert_eq!(keys(&store, Search::under(&all).text("seaside")).await, ["house"]);
}

pub async fn the_words_of_other_scripts_are_found(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    let texts =
        ["Ålesund", "café", "ΑΘΗΝΑ", "Москва", "東京都", "हिन्दी", "ﷺ", "x2y", "1e5", "007", "İstanbul", "straße"];
    for text in texts {
        store.put(&all, text, json!(format!("before {text} behind"))).await.unwrap();
    }
    for text in texts {
        assert_eq!(keys(&store, Search::under(&all).text(text)).await, [text]);
    }
    for (text, expected) in
        [("ålesund", &["Ålesund"][..]), ("alesund", &[]), ("cafe", &[]), ("東京", &[]), ("हिन", &[])]
    {
        assert_eq!(keys(&store, Search::under(&all).text(text)).await, expected, "{text}");
    }
}

pub async fn signs_of_query_languages_are_no_signs(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    put_all(&store, &all, [("a", json!("sea or and not near text")), ("b", json!("sea"))]).await;
    let queries =
        ["\"sea\"", "sea*", "sea'", "(sea)", "sea:", "-sea", "text : sea", "sea & (", "sea | !", "^sea", "sea <->"];
    for query in queries {
        let found = keys(&store, Search::under(&all).text(query)).await;
        assert!(found.contains(&"a".to_owned()), "{query}: {found:?}");
    }
    assert_eq!(keys(&store, Search::under(&all).text("sea OR mountains")).await, [""; 0]);
    assert_eq!(keys(&store, Search::under(&all).text("sea NOT near AND or")).await, ["a"]);
    assert_eq!(keys(&store, Search::under(&all).text("se*")).await, [""; 0]);
}

pub async fn a_text_without_a_word_is_refused(kit: Kit) {
    let store = kit.store().await;
    for text in ["", " ", "?!", "\u{1F3E8}"] {
        let error = store.search(Search::default().text(text)).await.unwrap_err();
        assert!(matches!(error, LongTermError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("no word to search for"), "{error}");
    }
}

pub async fn words_follow_puts_and_deletes(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    let found = async |text: &str| keys(&store, Search::under(&all).text(text)).await;
    store.put(&all, "a", json!("sea")).await.unwrap();
    store.put(&all, "a", json!("mountain")).await.unwrap();
    assert_eq!((found("sea").await, found("mountain").await), (vec![], vec!["a".to_owned()]));
    store.delete(&all, "a").await.unwrap();
    assert_eq!(found("mountain").await, [""; 0]);
    store.put(&all, "b", json!(1)).await.unwrap();
    store.put(&all, "c", json!("sea")).await.unwrap();
    assert_eq!((found("sea").await, found("mountain").await), (vec!["c".to_owned()], vec![]));
}

pub async fn a_search_by_text_has_scores_and_the_best_comes_first(kit: Kit) {
    let store = kit.store().await;
    let all = ns(["x"]);
    for n in 0..8 {
        store.put(&all, &format!("{n}"), json!(format!("nothing of it {n}"))).await.unwrap();
    }
    store.put(&all, "a", json!("sea and many other words that have nothing to do with it at all")).await.unwrap();
    store.put(&all, "b", json!("sea")).await.unwrap();
    let found = store.search(Search::under(&all).text("sea")).await.unwrap();
    let scores: Vec<f64> = found.iter().map(|found| found.score.unwrap()).collect();
    assert_eq!(found.len(), 2);
    assert!(scores.iter().all(|score| score.is_finite()) && scores[0] >= scores[1], "{scores:?}");
}

pub async fn a_text_and_a_filter_narrow_together(kit: Kit) {
    let store = kit.store().await;
    let (one, two) = (ns(["x", "1"]), ns(["x", "2"]));
    put_all(
        &store,
        &one,
        [("a", json!({"t": "sea", "n": 1})), ("b", json!({"t": "sea", "n": 2})), ("c", json!({"n": 2}))],
    )
    .await;
    put_all(&store, &two, [("d", json!({"t": "sea", "n": 2}))]).await;
    let search = Search::under(&one).text("sea").filter(Condition::eq("n", 2));
    assert_eq!(keys(&store, search).await, ["b"]);
}
