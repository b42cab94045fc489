//! Secrets where a type allows no text.

use std::path::PathBuf;
use std::sync::Arc;

use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::{Cassette, ChatModel, ModelError, Request, ScriptedModel, Turn};

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("graph-nodes-review-{name}-{}.jsonl", std::process::id()))
}

async fn recorded(name: &str, secret: &str, turn: Turn) -> String {
    let path = file(name);
    let model = Cassette::record(&path, Arc::new(ScriptedModel::new([turn]))).secret(secret).open().unwrap();
    let _ = model.complete(Request::new([Message::user("hi")])).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let _ = Cassette::replay(&path).open().unwrap().complete(Request::new([Message::user("hi")])).await;
    std::fs::remove_file(&path).unwrap();
    text
}

#[tokio::test]
async fn a_secret_number_beside_the_same_number_of_tokens_is_hidden() {
    let call = ToolCall::from_text("call-4711", "pay", "{}");
    let text = recorded("tokens", "4711", Turn::calls([call]).with_usage(4711, 5)).await;
    assert!(!text.contains("call-4711"), "{text}");
}

#[tokio::test]
async fn a_secret_that_is_the_name_of_a_field_is_hidden_in_texts() {
    for secret in ["message", "transport", "index", "chunk", "id", "text"] {
        let call = ToolCall::from_text(format!("c-{secret}-1"), "pay", "{}");
        let text = recorded("field", secret, Turn::calls([call])).await;
        assert!(!text.contains(&format!("c-{secret}-1")), "{secret}: {text}");
        let error = ModelError::transport(format!("bad {secret} key"));
        let text = recorded("error", secret, Turn::error(error)).await;
        assert!(!text.contains(&format!("bad {secret} key")), "{secret}: {text}");
    }
}

#[tokio::test]
async fn a_talk_is_found_again_though_a_pattern_finds_its_own_mark() {
    let path = file("mark");
    let pattern = "[a-z]+[0-9]+|secret";
    let turns = [Turn::text("it is key77 and secret"), Turn::text("done")];
    let model = Cassette::record(&path, Arc::new(ScriptedModel::new(turns))).secret_pattern(pattern).open().unwrap();
    let talk = |model: graph_nodes::model::RecordedModel| async move {
        let first = model.complete(Request::new([Message::user("hi")])).await.unwrap();
        let said = Message::assistant(&*first.text);
        let second = model.complete(Request::new([Message::user("hi"), said, Message::user("go")])).await;
        (first.text, second.map(|response| response.text))
    };
    assert_eq!(talk(model).await.0, "it is key77 and secret");
    let replayed = Cassette::replay(&path).secret_pattern(pattern).open().unwrap();
    let (first, second) = talk(replayed).await;
    std::fs::remove_file(&path).unwrap();
    assert_eq!((first.as_str(), second.as_deref().ok()), ("it is [secret] and [secret]", Some("done")));
}

#[tokio::test]
async fn two_secret_keys_of_one_object_stay_two() {
    let path = file("keys");
    let turns = [Turn::text("one"), Turn::text("two")];
    let model = Cassette::record(&path, Arc::new(ScriptedModel::new(turns))).secret_pattern("sk-[0-9]").open().unwrap();
    let request = |first: u32| {
        Request::new([Message::user("hi")]).with_parameter("keys", serde_json::json!({"sk-1": first, "sk-2": 2}))
    };
    model.complete(request(1)).await.unwrap();
    model.complete(request(7)).await.unwrap();
    let replayed = Cassette::replay(&path).secret_pattern("sk-[0-9]").open().unwrap();
    let text = replayed.complete(request(7)).await.unwrap().text;
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text, "two");
}
