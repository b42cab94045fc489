//! A key is in the request and nowhere else.

use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ModelError, Request};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{ApiKey, BuildError, KeyError, OpenAi, OpenAiModel};

const KEY: &str = "sk-Canary-4711";
const TOKEN: &str = "token\"canary\\4712";

async fn served(reply: Reply) -> (Server, OpenAiModel) {
    let server = Server::start([reply]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").key(KEY).secret_header("x-token", TOKEN).header("x-team", "a");
    let shown = format!("{model:?}");
    let model = model.organisation("org-1").project("proj-1").build().unwrap();
    for text in [shown, format!("{model:?}"), format!("{model:#?}"), format!("{:?}", ApiKey::new(KEY))] {
        assert!(!text.to_lowercase().contains("canary"), "{text}");
    }
    (server, model)
}

async fn fails(reply: Reply) -> (Server, ModelError) {
    let (server, model) = served(reply).await;
    let error = model.complete(Request::new([Message::user("hi")])).await.unwrap_err();
    (server, error)
}

fn shown(error: &ModelError) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!("{inner} {inner:?}"));
        cause = inner.source();
    }
    text
}

#[tokio::test]
async fn the_request_carries_key_and_headers() {
    let (server, _) = fails(Reply::status(500)).await;
    let asked = server.requests().remove(0);
    let headers =
        ["authorization", "x-token", "x-team", "openai-organization", "openai-project"].map(|name| asked.header(name));
    let bearer = format!("Bearer {KEY}");
    assert_eq!(headers, [Some(bearer.as_str()), Some(TOKEN), Some("a"), Some("org-1"), Some("proj-1")]);
    assert!(!asked.body.to_lowercase().contains("canary"));
}

#[tokio::test]
async fn a_server_that_echoes_secrets_is_not_repeated() {
    let json =
        serde_json::json!({"error": {"message": format!("bad key {KEY}, bad {TOKEN}"), "type": KEY, "code": TOKEN}})
            .to_string();
    let event = format!("data: {json}\n\n");
    let half = "x".repeat(990);
    for reply in [
        Reply::status(401).body(json.clone()),
        Reply::status(500).body(format!("plain {KEY} and {TOKEN}")),
        Reply::status(500).body(format!("{half}{KEY}")),
        Reply::stream(event),
        Reply::stream(format!("data: no JSON {KEY} {TOKEN}\n\n")),
        Reply::stream(format!("data: {half}{KEY}\n\n")),
        Reply::stream(format!("data: {{\"choices\":\"{KEY}\"}}\n\n")),
        Reply::json(json),
        Reply::json(format!("no JSON {KEY}")),
        Reply::json(format!("{{\"choices\":\"{KEY}\"}}")),
        Reply::stream("data: {}\n\n").header("x-echo", KEY).reset_at(2),
        Reply::status(302).header("location", &format!("http://127.0.0.1:9/{KEY}")),
    ] {
        let (_server, error) = fails(reply.clone()).await;
        let text = shown(&error).to_lowercase();
        assert!(!text.contains("canary") && !text.contains("sk-c"), "{reply:?}: {text}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start([]).await.unwrap();
    let (server, error) = fails(Reply::status(307).header("location", &other.base_url())).await;
    assert_eq!(error.to_string(), "the model's provider refused the request (HTTP 307); correct the request");
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
}

#[test]
fn what_can_not_be_sent_is_found_when_the_model_is_built() {
    let build = |url: &str| OpenAi::new(url, "local").build().unwrap_err();
    let secret = "http://user:canary@127.0.0.1/v1";
    assert_eq!(build(secret), BuildError::UrlHoldsSecret);
    assert!(!format!("{} {:?}", build(secret), OpenAi::new(secret, "local")).contains("canary"));
    for url in ["", "127.0.0.1:8080", "ftp://127.0.0.1", "http://127.0.0.1/v1?key=canary", "http://127.0.0.1/#canary"] {
        let error = build(url);
        assert!(matches!(error, BuildError::Url { .. }) && !error.to_string().contains("canary"), "{url}: {error}");
    }
    let local = || OpenAi::new("http://127.0.0.1:8080/v1", "local");
    assert_eq!(local().key("sk\ncanary").build().unwrap_err(), BuildError::Key);
    assert_eq!(local().key("a").header("Authorization", "b").build().unwrap_err(), BuildError::TwoKeys);
    let error = local().secret_header("x y", "canary").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `x y` can't be sent (this is no name of a header); give it another name or value"
    );
    let error = local().secret_header("x-y", "ca\nnary").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `x-y` can't be sent (the value is not visible ASCII); give it another name or value"
    );
    assert_eq!(OpenAi::new("http://127.0.0.1", " ").build().unwrap_err(), BuildError::NoModel);
}

#[cfg(not(any(feature = "rustls", feature = "native-tls")))]
#[test]
fn https_needs_a_feature_or_a_client() {
    let secure = || OpenAi::new("https://127.0.0.1/v1", "local");
    assert_eq!(secure().build().unwrap_err(), BuildError::NoTls);
    let own = reqwest::Client::builder().no_proxy().build().unwrap();
    assert!(secure().http_client(own).build().is_ok());
}

#[test]
fn a_key_from_the_environment_is_trimmed_or_missing_with_a_reason() {
    // `PATH` is set wherever tests run.
    assert!(ApiKey::from_env("PATH").is_ok());
    let error = ApiKey::from_env("GRAPH_NODES_NO_SUCH_KEY").unwrap_err();
    assert_eq!(error, KeyError::NotSet { name: "GRAPH_NODES_NO_SUCH_KEY".into() });
    assert_eq!(
        error.to_string(),
        "the environment variable `GRAPH_NODES_NO_SUCH_KEY` is not set; set it to the provider's key",
    );
}
