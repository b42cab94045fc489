//! One call is one HTTP request, whatever comes of it.

use std::time::Duration;

use futures_util::StreamExt;
use graph_nodes::message::{FinishReason, Message, Usage};
use graph_nodes::model::{ChatModel, ModelError, ModelErrorKind, Request, Response};
use graph_nodes_openai::testing::{Framing, Reply, Server};
use graph_nodes_openai::{BuildError, OpenAi, OpenAiModel, Timeouts, reqwest};

const HELLO: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}\n\n",
    "data: [DONE]\n\n",
);

/// Where the event with the finish reason begins.
fn finish() -> usize {
    HELLO.find("data: {\"choices\":[{\"index\":0,\"delta\":{},").unwrap()
}

fn hello() -> Request {
    Request::new([Message::user("hello")])
}

async fn asked(reply: Reply) -> (Result<Response, ModelError>, Server) {
    let server = Server::start([reply]).await.unwrap();
    let model: OpenAiModel = OpenAi::new(server.base_url(), "local").build().unwrap();
    (model.complete(hello()).await, server)
}

#[tokio::test]
async fn a_streamed_answer_is_read_whole() {
    let (response, server) = asked(Reply::stream(HELLO).pieces_of(7)).await;
    let response = response.unwrap();
    assert_eq!((response.text.as_str(), response.finish), ("Hello", Some(FinishReason::Stop)));
    assert_eq!(response.usage, Some(Usage { total: Some(7), ..Usage::new(5, 2) }));
    let requests = server.requests();
    assert_eq!(
        (requests.len(), requests[0].method.as_str(), requests[0].path.as_str()),
        (1, "POST", "/v1/chat/completions")
    );
    assert_eq!(
        requests[0].body,
        r#"{"model":"local","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}"#,
    );
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(requests[0].header("authorization"), None);
}

#[tokio::test]
async fn a_failing_server_is_asked_once() {
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let (response, server) = asked(Reply::status(status)).await;
        assert!(response.unwrap_err().is_retryable(), "{status}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_connection_that_is_reset_is_not_opened_again() {
    let (response, server) = asked(Reply::stream(HELLO).reset_at(0)).await;
    assert_eq!(response.unwrap_err().kind(), ModelErrorKind::Transport);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_transport_error_that_names_the_cause() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let error = OpenAi::new(format!("http://{free}/v1"), "local").build().unwrap().complete(hello()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Transport);
    assert!(error.to_string().contains("Connection refused"), "{error}");
}

#[tokio::test]
async fn an_error_that_ends_an_answer_comes_after_its_chunks() {
    let body = format!("{}data: {{\"error\":{{\"message\":\"out of memory\",\"code\":500}}}}\n\n", &HELLO[..finish()]);
    let server = Server::start([Reply::stream(body)]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").build().unwrap();
    let items: Vec<_> = model.stream(hello()).await.unwrap().collect().await;
    let texts: Vec<_> = items.iter().filter_map(|item| item.as_ref().ok()?.text.as_deref()).collect();
    assert_eq!(texts, ["Hel", "lo"]);
    let error = items.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Provider);
    assert_eq!(error.to_string(), "the model's provider failed (error event: out of memory); try again");
}

#[tokio::test]
async fn what_had_arrived_before_an_error_event_is_kept() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
    let body = format!("{}{usage}data: {{\"error\":\"out of memory\"}}\n\n", &HELLO[..finish()]);
    let (response, _server) = asked(Reply::stream(body)).await;
    let error = response.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Provider);
    let received = error.received().unwrap();
    assert_eq!(
        (received.text.as_str(), received.usage, received.finish.as_ref()),
        ("Hello", Some(Usage::new(5, 2)), None)
    );
}

#[tokio::test]
async fn an_answer_without_an_end_is_never_whole() {
    for cut in [finish(), finish() + 20, HELLO.find("\"stop\"").unwrap()] {
        for reply in [
            Reply::stream(&HELLO[..cut]),
            Reply::stream(HELLO).framing(Framing::UntilClose).close_at(cut),
            Reply::stream(HELLO).close_at(cut),
        ] {
            let (response, _server) = asked(reply).await;
            let error = response.unwrap_err();
            assert_eq!((error.kind(), error.is_retryable()), (ModelErrorKind::Truncated, true), "{error}");
            assert_eq!(error.received().map(|received| received.text.as_str()), Some("Hello"));
        }
    }
    let (response, _server) = asked(Reply::stream("")).await;
    let error = response.unwrap_err();
    assert_eq!(error.to_string(), "the model's answer is not whole (the stream ended without any event); try again");
}

#[tokio::test]
async fn what_is_missing_after_the_finish_reason_is_not_missed() {
    let end = HELLO.find("data: {\"choices\":[],").unwrap();
    for cut in [end, end + 30] {
        for reply in [
            Reply::stream(HELLO).close_at(cut),
            Reply::stream(HELLO).pause_at(cut, Duration::from_millis(20)).reset_at(cut),
        ] {
            let (response, _server) = asked(reply).await;
            let response = response.unwrap();
            assert_eq!((response.text.as_str(), response.usage), ("Hello", None));
        }
    }
}

#[tokio::test]
async fn a_server_may_answer_in_one_piece_although_it_was_asked_to_stream() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
    let (response, _server) = asked(Reply::json(body)).await;
    assert_eq!(response.unwrap().text, "Hello");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server = Server::start([Reply::stream(HELLO).pause_at(finish(), Duration::from_secs(3600))]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").build().unwrap();
    let mut stream = model.stream(hello()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().text.as_deref(), Some("Hel"));
    drop(stream);
    server.hung_up(1).await;
}

#[tokio::test]
async fn requests_go_below_the_base_url_with_its_parameters() {
    for base in ["", "/", "/v1", "/v1/", "/openai/deployments/large"] {
        let server = Server::start([Reply::stream(HELLO)]).await.unwrap();
        let url = format!("http://{}{base}", server.address());
        let model = OpenAi::new(url, "local").query("api-version", "2 b").build().unwrap();
        assert_eq!(model.complete(hello()).await.unwrap().text, "Hello");
        let path = format!("{}/chat/completions?api-version=2+b", base.trim_end_matches('/'));
        assert_eq!(server.requests()[0].path, path);
    }
}

#[tokio::test]
async fn a_client_of_ones_own_brings_its_proxy() {
    let proxy = Server::start([Reply::stream(HELLO)]).await.unwrap();
    let client = reqwest::Client::builder()
        .proxy(reqwest::Proxy::http(format!("http://{}", proxy.address())).unwrap())
        .build()
        .unwrap();
    let model = OpenAi::new("http://model.test/v1", "local").http_client(client).build().unwrap();
    assert_eq!(model.complete(hello()).await.unwrap().text, "Hello");
    assert_eq!(proxy.requests()[0].path, "http://model.test/v1/chat/completions");
}

#[test]
fn a_client_of_ones_own_opens_its_connections_itself() {
    let build = |timeouts| {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        OpenAi::new("http://127.0.0.1/v1", "local").http_client(client).timeouts(timeouts).build().map(drop)
    };
    assert_eq!(build(Timeouts::new().connect(Duration::from_secs(3))), Err(BuildError::ConnectOfOwnClient));
    assert_eq!((build(Timeouts::new()), build(Timeouts::none())), (Ok(()), Ok(())));
}

#[tokio::test]
async fn without_streaming_the_answer_is_one_chunk() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5}}"#;
    // Some servers don't say what they send, or stream although they were not asked to.
    for reply in
        [Reply::json(body), Reply::json(body).header("content-type", "text/plain").pieces_of(5), Reply::stream(HELLO)]
    {
        let server = Server::start([reply]).await.unwrap();
        let model = OpenAi::new(server.base_url(), "local").streaming(false).build().unwrap();
        let response = model.complete(hello()).await.unwrap();
        assert_eq!((response.text.as_str(), response.usage.map(|usage| usage.input)), ("Hello", Some(5)));
        assert_eq!(server.requests()[0].json()["stream"], false);
    }
}

#[tokio::test]
async fn a_body_that_is_cut_is_no_answer() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    for (reply, kind) in [
        (Reply::json(body).close_at(20), ModelErrorKind::Transport),
        (Reply::json(body).reset_at(20), ModelErrorKind::Transport),
        (Reply::json(body).framing(Framing::UntilClose).close_at(20), ModelErrorKind::Truncated),
        (Reply::json(body).framing(Framing::UntilClose).close_at(0), ModelErrorKind::Truncated),
    ] {
        let (response, _server) = asked(reply).await;
        let error = response.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (kind, true), "{error}");
    }
}
