//! What is sent for a request, as exact JSON.

#[path = "requests/messages.rs"]
mod messages;
#[path = "requests/refused.rs"]
mod refused;
#[path = "requests/schema_mode.rs"]
mod schema_mode;
#[path = "requests/tools.rs"]
mod tools;

use graph_nodes::model::Request;
use graph_nodes_openai::{OpenAi, OpenAiModel};
use serde_json::{Value, json};

fn model(change: impl FnOnce(OpenAi) -> OpenAi) -> OpenAiModel {
    change(OpenAi::new("http://127.0.0.1:8080/v1", "local").streaming(false)).build().unwrap()
}

/// The body without what is the same in all.
fn sent_by(model: &OpenAiModel, request: &Request) -> Value {
    let mut body: Value = serde_json::from_str(&model.body_of(request).unwrap()).unwrap();
    let map = body.as_object_mut().unwrap();
    assert_eq!((map.remove("model"), map.remove("stream")), (Some(json!("local")), Some(json!(false))));
    body
}

fn sent(request: &Request) -> Value {
    sent_by(&model(|model| model), request)
}
