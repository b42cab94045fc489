//! Which connection a request goes out on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, Request};
use graph_nodes_openai::OpenAi;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const BODY: &str = r#"{"choices":[{"message":{"content":"Hi!"},"finish_reason":"stop"}]}"#;

/// A server that says that its connections stay open, and keeps that: its address, and how many were opened.
async fn server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&opened);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut asked = [0; 4096];
                // The requests of this test come in one piece.
                while stream.read(&mut asked).await.unwrap_or(0) > 0 {
                    let length = BODY.len();
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}");
                    stream
                        .write_all(format!("{head}\r\nconnection: keep-alive\r\n\r\n{BODY}").as_bytes())
                        .await
                        .unwrap();
                }
            });
        }
    });
    (format!("http://{address}/v1"), opened)
}

async fn asked_twice(model: impl ChatModel) {
    for _ in 0..2 {
        assert_eq!(model.complete(Request::new([Message::user("hi")])).await.unwrap().text, "Hi!");
    }
}

#[tokio::test]
async fn each_request_to_a_server_of_this_machine_has_a_connection_of_its_own() {
    let (base, opened) = server().await;
    asked_twice(OpenAi::new(base, "local").build().unwrap()).await;
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_client_of_ones_own_uses_connections_again_if_it_likes() {
    let (base, opened) = server().await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    asked_twice(OpenAi::new(base, "local").http_client(client).build().unwrap()).await;
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}
