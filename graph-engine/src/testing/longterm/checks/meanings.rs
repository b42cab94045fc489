//! Search by meaning.

use std::sync::Mutex;

use serde_json::json;

use crate::error::BoxError;
use crate::longterm::{Condition, Embedder, LongTermError, Op, Order, Put, Search};
use crate::testing::longterm::WordEmbedder;
use crate::testing::longterm::kit::{Kit, keys, ns, put_all};

pub async fn the_nearest_item_comes_first_with_its_cosine(kit: Kit) {
    let store = kit.store_with(|settings| settings.embed(WordEmbedder::new(512))).await;
    let all = ns(["x"]);
    put_all(&store, &all, [("a", json!("sea")), ("b", json!("sea city")), ("c", json!("city"))]).await;
    let found = store.search(Search::under(&all).near("sea")).await.unwrap();
    let scores: Vec<(&str, f64)> = found.iter().map(|found| (found.key.as_str(), found.score.unwrap())).collect();
    let between = 1.0 / 2.0_f64.sqrt();
    assert_eq!(scores, [("a", 1.0), ("b", between), ("c", 0.0)]);
    assert_eq!(keys(&store, Search::under(&all).near("sea").limit(1).offset(1)).await, ["b"]);
    assert_eq!(keys(&store, Search::under(&all).near("sea").order(Order::Key).limit(1)).await, ["a"]);
    let mut vector = WordEmbedder::new(512).embed(&["city".to_owned()]).await.unwrap();
    assert_eq!(keys(&store, Search::under(&all).near_vector(vector.remove(0))).await, ["c", "b", "a"]);
}

pub async fn only_the_named_fields_count_and_the_nearest_decides(kit: Kit) {
    let fields = ["/likes", "/rooms/0"];
    let store = kit.store_with(|settings| settings.embed_fields(WordEmbedder::new(512), fields)).await;
    let all = ns(["x"]);
    put_all(
        &store,
        &all,
        [
            ("a", json!({"likes": "city", "rooms": ["sea"]})),
            ("b", json!({"likes": "sea city"})),
            ("c", json!({"other": "sea", "likes": "", "rooms": []})),
        ],
    )
    .await;
    let found = store.search(Search::under(&all).near("sea")).await.unwrap();
    let scores: Vec<(&str, f64)> = found.iter().map(|found| (found.key.as_str(), found.score.unwrap())).collect();
    assert_eq!(scores, [("a", 1.0), ("b", 1.0 / 2.0_f64.sqrt())]);
}

pub async fn an_item_without_a_vector_is_not_found_by_meaning(kit: Kit) {
    let store = kit.store_with(|settings| settings.embed(WordEmbedder::new(64))).await;
    let all = ns(["x"]);
    store.put(&all, "a", json!("sea")).await.unwrap();
    store.put_with(Put::new(&all, "b", "sea").embed(false)).await.unwrap();
    assert_eq!(keys(&store, Search::under(&all).near("sea")).await, ["a"]);
    assert_eq!(keys(&store, Search::under(&all)).await, ["a", "b"]);
}

pub async fn without_an_embedder_a_search_by_meaning_is_refused(kit: Kit) {
    let store = kit.store().await;
    for search in [Search::default().near("sea"), Search::default().near_vector([1.0])] {
        assert!(matches!(store.search(search).await, Err(LongTermError::NoEmbedder)));
    }
}

pub async fn vectors_follow_puts_and_deletes(kit: Kit) {
    let store = kit.store_with(|settings| settings.embed(WordEmbedder::new(512))).await;
    let all = ns(["x"]);
    put_all(&store, &all, [("a", json!("sea")), ("b", json!("city")), ("a", json!("city")), ("b", json!("sea"))]).await;
    assert_eq!(keys(&store, Search::under(&all).near("sea")).await, ["b", "a"]);
    store.delete(&all, "b").await.unwrap();
    assert_eq!(keys(&store, Search::under(&all).near("sea")).await, ["a"]);
    store.put_with(Put::new(&all, "a", "sea").embed(false)).await.unwrap();
    assert_eq!(keys(&store, Search::under(&all).near("sea")).await, [""; 0]);
}

pub async fn a_batch_is_embedded_in_one_call(kit: Kit) {
    let embedder = WordEmbedder::new(512);
    let store = kit.store_with(|settings| settings.embed(embedder.clone())).await;
    let all = ns(["x"]);
    let mut ops: Vec<Op> = ["sea", "city", "fjord"].map(|word| Put::new(&all, word, word).into()).into();
    ops.extend([Search::under(&all).near("city").limit(1).into(), Search::under(&all).near("fjord").limit(1).into()]);
    let answers = store.batch(ops).await.unwrap();
    let nearest: Vec<String> = answers
        .into_iter()
        .filter_map(|answer| match answer {
            crate::longterm::Answer::Found(found) => Some(found[0].key.clone()),
            _ => None,
        })
        .collect();
    assert_eq!((nearest, embedder.calls()), (vec!["city".to_owned(), "fjord".to_owned()], 1));
    store.get(&all, "sea").await.unwrap();
    store.search(Search::under(&all).text("sea")).await.unwrap();
    store.delete(&all, "sea").await.unwrap();
    assert_eq!(embedder.calls(), 1, "nothing of that has a vector");
}

/// Answers what it was told, once each.
struct Broken(Mutex<Vec<Result<Vec<Vec<f32>>, BoxError>>>);

#[async_trait::async_trait]
impl Embedder for Broken {
    fn dims(&self) -> usize {
        2
    }

    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, BoxError> {
        self.0.lock().unwrap().pop().unwrap()
    }
}

pub async fn a_broken_embedder_stores_nothing(kit: Kit) {
    let right = Ok(vec![vec![1.0, 0.0]]);
    let answers: Vec<Result<Vec<Vec<f32>>, BoxError>> = vec![
        right,
        Err("no quota".into()),
        Ok(vec![]),
        Ok(vec![vec![1.0, 0.0], vec![1.0, 0.0]]),
        Ok(vec![vec![1.0]]),
        Ok(vec![vec![f32::NAN, 0.0]]),
    ];
    let broken = answers.len() - 1;
    let store = kit.store_with(|settings| settings.embed(Broken(Mutex::new(answers)))).await;
    let all = ns(["x"]);
    for _ in 0..broken {
        let batch = vec![Put::new(&all, "other", 1).embed(false).into(), Put::new(&all, "a", "sea").into()];
        let error = store.batch(batch).await.unwrap_err();
        assert!(matches!(error, LongTermError::Embedder { .. }), "{error}");
        assert!(store.search(Search::default()).await.unwrap().is_empty());
    }
    store.put(&all, "a", json!("sea")).await.unwrap();
    assert_eq!(keys(&store, Search::default().near_vector([1.0, 0.0])).await, ["a"]);
}

pub async fn a_filter_a_text_and_a_meaning_narrow_together(kit: Kit) {
    let store = kit.store_with(|settings| settings.embed_fields(WordEmbedder::new(512), ["t"])).await;
    let (one, two) = (ns(["x", "1"]), ns(["x", "2"]));
    let item = |text: &str, n: u32| json!({"t": text, "n": n});
    let (a, b, c, d) = (item("sea quiet", 1), item("sea loud", 1), item("city quiet", 1), item("sea quiet", 2));
    put_all(&store, &one, [("a", a.clone()), ("b", b), ("c", c), ("d", d)]).await;
    put_all(&store, &two, [("e", a)]).await;
    let search = Search::under(&one).near("sea").text("quiet").filter(Condition::eq("n", 1));
    assert_eq!(keys(&store, search).await, ["a", "c"]);
}

pub async fn a_vector_of_another_length_is_refused(kit: Kit) {
    let store = kit.store_with(|settings| settings.embed(WordEmbedder::new(4))).await;
    for vector in [vec![], vec![1.0], vec![1.0; 5], vec![f32::INFINITY; 4]] {
        let error = store.search(Search::default().near_vector(vector.clone())).await.unwrap_err();
        assert!(matches!(error, LongTermError::Invalid { .. }), "{vector:?}: {error}");
    }
}
