//! Several operations at once.

use futures_util::future::join_all;
use serde_json::json;

use crate::longterm::{Answer, Condition, Listing, LongTermError, Namespace, Op, Put, Search};
use crate::testing::longterm::kit::{Kit, keys_of, ns};

pub async fn each_operation_sees_what_those_before_it_did(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let answers = store
        .batch(vec![
            Op::get(&user, "a"),
            Put::new(&user, "a", 1).into(),
            Op::get(&user, "a"),
            Search::under(&user).into(),
            Listing::default().into(),
            Op::delete(&user, "a"),
            Op::delete(&user, "a"),
            Op::get(&user, "a"),
        ])
        .await
        .unwrap();
    let [before, put, between, found, namespaces, deleted, again, after] = answers.try_into().unwrap();
    assert_eq!((before, put), (Answer::Item(None), Answer::Put));
    assert!(matches!(between, Answer::Item(Some(item)) if item.value == json!(1)));
    assert!(matches!(found, Answer::Found(found) if keys_of(&found) == ["a"]));
    assert_eq!(namespaces, Answer::Namespaces(vec![user]));
    assert_eq!((deleted, again, after), (Answer::Deleted(true), Answer::Deleted(false), Answer::Item(None)));
}

/// Everything that can be asked and makes no sense.
fn impossible(user: &Namespace) -> Vec<Op> {
    vec![
        Put::new(user, "", 1).into(),
        Put::new(user, "a\0b", 1).into(),
        Op::get(user, ""),
        Op::delete(user, "\0"),
        Search::under(user).filter(Condition::gt("score", json!(null))).into(),
        Search::under(user).filter(Condition::lte("score", json!([1]))).into(),
        Search::under(user).text(" ?! ").into(),
        Search::under(user).near("the sea").into(),
    ]
}

pub async fn nothing_of_a_batch_is_done_if_one_operation_is_impossible(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    store.put(&user, "old", json!(1)).await.unwrap();
    for wrong in impossible(&user) {
        let batch = vec![Put::new(&user, "new", 1).into(), Op::delete(&user, "old"), wrong.clone()];
        let error = store.batch(batch).await.unwrap_err();
        assert!(matches!(error, LongTermError::Invalid { .. } | LongTermError::NoEmbedder), "{wrong:?}: {error}");
        assert_eq!(store.get(&user, "new").await.unwrap(), None, "{wrong:?}");
        assert!(store.get(&user, "old").await.unwrap().is_some(), "{wrong:?}");
    }
}

pub async fn single_calls_and_batches_refuse_the_same(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    for wrong in impossible(&user) {
        let batch = store.batch(vec![wrong.clone()]).await.unwrap_err();
        let single = match wrong.clone() {
            Op::Put(put) => store.put_with(put).await.unwrap_err(),
            Op::Get { namespace, key, .. } => store.get(&namespace, &key).await.unwrap_err(),
            Op::Delete { namespace, key } => store.delete(&namespace, &key).await.unwrap_err(),
            Op::Search(search) => store.search(search).await.unwrap_err(),
            Op::List(listing) => store.list_namespaces(listing).await.unwrap_err(),
        };
        assert_eq!(single.to_string(), batch.to_string(), "{wrong:?}");
    }
}

pub async fn an_empty_batch_has_no_answers(kit: Kit) {
    assert_eq!(kit.store().await.batch(Vec::new()).await.unwrap(), []);
}

pub async fn many_writers_lose_nothing(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let writer = |writer: usize| {
        let (store, user) = (store.clone(), user.clone());
        async move {
            for n in 0..10 {
                let both = [format!("{writer}-{n}"), "shared".to_owned()];
                let ops = both.map(|key| Op::Put(Put::new(&user, key, json!([writer, n]))));
                store.batch(ops.into()).await.unwrap();
            }
        }
    };
    join_all((0..8).map(writer)).await;
    let found = store.search(Search::under(&user).limit(1_000)).await.unwrap();
    assert_eq!(found.len(), 81);
    assert!(found.iter().any(|found| found.key == "shared" && found.value[1] == json!(9)));
}

pub async fn the_last_of_two_puts_of_one_key_stands(kit: Kit) {
    let store = kit.store().await;
    let user = ns(["users", "7"]);
    let puts = ["first", "last"].map(|word| Op::Put(Put::new(&user, "a", word)));
    assert_eq!(store.batch(puts.into()).await.unwrap(), [Answer::Put, Answer::Put]);
    assert_eq!(store.get(&user, "a").await.unwrap().unwrap().value, json!("last"));
    assert!(store.search(Search::under(&user).text("first")).await.unwrap().is_empty());
    assert_eq!(keys_of(&store.search(Search::under(&user).text("last")).await.unwrap()), ["a"]);
}
