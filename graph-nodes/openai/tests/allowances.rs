//! Calls wait for their turn, and what can't be sent isn't.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ModelErrorKind, Request, TokenEstimate};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{Limits, OpenAi, Tiktoken};

const WHOLE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi!\"},\"finish_reason\":\"stop\"}]}\n\n";

fn hello() -> Request {
    Request::new([Message::user("hello")])
}

#[tokio::test]
async fn a_place_is_taken_until_the_answer_has_ended_or_nobody_reads_on() {
    let silent = Reply::stream(WHOLE).pause_at(10, Duration::from_secs(600));
    let server = Server::start([silent, Reply::stream(WHOLE), Reply::stream(WHOLE)]).await.unwrap();
    let limits = Limits::new().at_once(1);
    let model = || OpenAi::new(server.base_url(), "local").limits(&limits).build().unwrap();
    let first = model().stream(hello()).await.unwrap();
    let other = model();
    let mut second = Box::pin(other.complete(hello()));
    // The first one has its headers and no chunk yet.
    assert!(futures_util::poll!(&mut second).is_pending());
    assert_eq!(server.requests().len(), 1);
    drop(first);
    assert_eq!(second.await.unwrap().text, "Hi!");

    // An answer that was read to its end keeps no place, though the stream is still there.
    let mut third = model().stream(hello()).await.unwrap();
    while third.next().await.is_some() {}
    server.push(Reply::stream(WHOLE));
    assert_eq!(model().complete(hello()).await.unwrap().text, "Hi!");
    drop(third);
}

#[tokio::test]
async fn a_key_in_a_header_of_its_own_has_an_account_of_its_own() {
    let server = Server::start([Reply::stream(WHOLE), Reply::stream(WHOLE)]).await.unwrap();
    let limits = Limits::new().at_once(1);
    let model = |key: &str| {
        OpenAi::new(server.base_url(), "local").secret_header("api-key", key).limits(&limits).build().unwrap()
    };
    let (one, same, other) = (model("one-key"), model("one-key"), model("other-key"));
    let _first = one.stream(hello()).await.unwrap();
    assert!(futures_util::poll!(Box::pin(same.complete(hello()))).is_pending());
    assert_eq!(other.complete(hello()).await.unwrap().text, "Hi!");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_call_that_fails_keeps_no_place() {
    let server = Server::start([Reply::status(500), Reply::stream(WHOLE)]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").limits(&Limits::new().at_once(1)).build().unwrap();
    assert_eq!(model.complete(hello()).await.unwrap_err().kind(), ModelErrorKind::Provider);
    assert_eq!(model.complete(hello()).await.unwrap().text, "Hi!");
}

#[tokio::test]
async fn a_request_beyond_the_context_is_not_sent() {
    let server = Server::start([]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").context(5).build().unwrap();
    let error = model.complete(hello()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextTooLong);
    assert_eq!(
        error.to_string(),
        "the request is too long for the model (about 6 tokens, where `OpenAi::context` allows 5; nothing was sent); \
         send fewer or shorter messages"
    );
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn a_request_that_no_minute_has_room_for_is_not_sent() {
    let server = Server::start([]).await.unwrap();
    let limits = Limits::new().tokens_per_minute(5);
    let model = OpenAi::new(server.base_url(), "local").limits(&limits).build().unwrap();
    let error = model.complete(hello()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::BadRequest);
    assert!(error.to_string().contains("about 6 tokens, where `Limits::tokens_per_minute` allows 5"), "{error}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn the_estimate_is_the_users_choice() {
    struct Letters;
    impl TokenEstimate for Letters {
        fn text(&self, text: &str) -> u64 {
            text.chars().count() as u64
        }
    }
    let server = Server::start([]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").context(8).estimate(Letters).build().unwrap();
    let error = model.complete(hello()).await.unwrap_err().to_string();
    assert!(error.contains("about 9 tokens"), "{error}");
}

#[test]
fn a_known_vocabulary_counts_exactly() {
    let tokens = Tiktoken::of("gpt-4o").unwrap();
    assert_eq!(tokens.text("hello world"), 2);
    assert_eq!(tokens.text(""), 0);
    // What looks like a control mark is text, like any other.
    assert!(tokens.text("<|endoftext|>") > 1);
    let shared: Arc<dyn TokenEstimate> = Arc::new(tokens);
    assert_eq!(shared.request(&hello()), 1 + 4);
}
