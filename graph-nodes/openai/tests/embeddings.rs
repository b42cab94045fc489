//! Vectors of texts, and a long-term store that searches with them.

use graph_engine::longterm::{Embedder, LongTermSettings, LongTermStore, MemoryLongTerm, Namespace, Search};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{ApiKey, BuildError, EmbedError, OpenAi};
use serde_json::json;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn failed(body: serde_json::Value) -> String {
    let server = Server::start([Reply::json(body.to_string())]).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").build_embedder(2).unwrap();
    let error = embedder.embed(&texts(&["a", "b"])).await.unwrap_err();
    error.downcast_ref::<EmbedError>().unwrap().to_string()
}

#[tokio::test]
async fn texts_go_out_in_batches_and_vectors_come_back_in_order() {
    let two = json!({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [0, 1]}]});
    // Some servers don't number them.
    let one = json!({"object": "list", "data": [{"embedding": [0.5, 3]}], "usage": {"total_tokens": 1}});
    let server = Server::start([Reply::json(two.to_string()), Reply::json(one.to_string())]).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").key("sk-canary").build_embedder(2).unwrap().batch(2);
    let vectors = embedder.embed(&texts(&["a", "b", "c"])).await.unwrap();
    assert_eq!(vectors, [[0.0, 1.0], [0.0, 2.0], [0.5, 3.0]]);
    assert_eq!(embedder.dims(), 2);
    let asked = server.requests();
    assert_eq!(asked.iter().map(|asked| asked.path.as_str()).collect::<Vec<_>>(), ["/v1/embeddings"; 2]);
    assert_eq!(asked[0].json(), json!({"model": "mini", "input": ["a", "b"], "encoding_format": "float"}));
    assert_eq!(asked[1].json()["input"], json!(["c"]));
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-canary"));
    assert!(!format!("{embedder:?}").contains("canary"));
}

#[tokio::test]
async fn no_texts_are_no_request() {
    let server = Server::start([]).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").build_embedder(2).unwrap();
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn a_server_that_echoes_the_key_in_place_of_vectors_is_not_repeated() {
    let key = "sk-Canary-4711";
    let replies = [json!({ "data": key }), json!({"data": [{"embedding": [key]}]}), json!(key)];
    let server = Server::start(replies.map(|body| Reply::json(body.to_string()))).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").key(key).build_embedder(2).unwrap();
    for _ in 0..3 {
        let error = embedder.embed(&texts(&["a"])).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("[secret]") && !text.contains("Canary"), "{text}");
    }
}

#[tokio::test]
async fn vectors_that_are_not_what_was_asked_for_are_refused() {
    let vector = |index: usize| json!({"index": index, "embedding": [1, 2]});
    let check = "; check that its base URL has an OpenAI-compatible `embeddings`";
    for (data, reason) in [
        (json!([vector(0)]), "1 vectors came for 2 texts"),
        (json!([vector(0), vector(0)]), "two vectors are for text 0"),
        (json!([vector(0), vector(2)]), "there is a vector for text 2 of 2"),
    ] {
        assert_eq!(
            failed(json!({ "data": data })).await,
            format!("the server's vectors can't be read ({reason}){check}")
        );
    }
    assert!(failed(json!({"data": "none"})).await.starts_with("the server's vectors can't be read (invalid type"));
    assert_eq!(
        failed(json!({"data": [vector(0), {"index": 1, "embedding": [1, 2, 3]}]})).await,
        "the vector of text 1 has 3 numbers instead of 2; name the model that the store was made for"
    );
    let none = OpenAi::new("http://127.0.0.1:9/v1", "mini").build_embedder(0).unwrap_err();
    assert_eq!(none, BuildError::NoDims);
}

#[tokio::test]
async fn a_refused_request_is_the_same_error_as_of_a_model_without_the_key() {
    let refused = Reply::status(401).body(r#"{"error":{"message":"the key sk-canary is wrong"}}"#);
    let server = Server::start([refused]).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").key(ApiKey::new("sk-canary")).build_embedder(2).unwrap();
    let error = embedder.embed(&texts(&["a"])).await.unwrap_err();
    let Some(EmbedError::Model(model)) = error.downcast_ref() else { panic!("{error}") };
    assert_eq!(model.kind(), graph_nodes::model::ModelErrorKind::Authentication);
    assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
}

#[tokio::test]
async fn a_store_finds_by_meaning_what_the_server_says_is_near() {
    let vectors = |vectors: serde_json::Value| Reply::json(json!({ "data": vectors }).to_string());
    let sea = json!([{"embedding": [1, 0]}]);
    let city = json!([{"embedding": [0, 1]}]);
    let beach = json!([{"embedding": [0.9, 0.1]}]);
    let server = Server::start([vectors(sea), vectors(city), vectors(beach)]).await.unwrap();
    let embedder = OpenAi::new(server.base_url(), "mini").build_embedder(2).unwrap();
    let memories = MemoryLongTerm::with(LongTermSettings::new().embed_fields(embedder, ["/likes"]));
    let user = Namespace::new(["users", "7"]).unwrap();
    memories.put(&user, "a", json!({"likes": "swimming in the sea"})).await.unwrap();
    memories.put(&user, "b", json!({"likes": "a big city"})).await.unwrap();
    let found = memories.search(Search::under(&user).near("a beach").limit(1)).await.unwrap();
    assert_eq!(found[0].key, "a");
}
