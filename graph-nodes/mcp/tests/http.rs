//! A server at an address: streamable HTTP on loopback, with real sockets and the real clock.

mod fixtures;

use std::net::SocketAddr;
use std::time::Duration;

use fixtures::{Shop, reply, said};
use graph_nodes_mcp::{McpError, McpServer, Restarts};
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

/// Serves until it is aborted, with its connections. Every request must bring this token.
async fn serve(shop: &Shop, at: SocketAddr, token: &'static str) -> (SocketAddr, AbortHandle) {
    let listener = TcpListener::bind(at).await.unwrap();
    let at = listener.local_addr().unwrap();
    let shop = shop.clone();
    let make = move || Ok(shop.clone());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(make, LocalSessionManager::default().into(), config);
    let service = TowerToHyperService::new(service);
    let serving = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = service.clone();
            let guarded = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let header =
                    |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
                let is_known = token.is_empty()
                    || (header("authorization").as_deref() == Some(token)
                        && header("x-city").as_deref() == Some("Oslo"));
                let answer = service.call(request);
                async move {
                    let mut answer = answer.await?;
                    if !is_known {
                        *answer.status_mut() = hyper::StatusCode::UNAUTHORIZED;
                        answer.headers_mut().insert("www-authenticate", "Bearer".parse().unwrap());
                    }
                    Ok::<_, std::convert::Infallible>(answer)
                }
            });
            let server = hyper::server::conn::http1::Builder::new();
            connections.spawn(server.serve_connection(TokioIo::new(stream), guarded));
        }
    });
    (at, serving.abort_handle())
}

fn anywhere() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

#[tokio::test]
async fn a_server_at_an_address_is_listed_called_and_told_who_asks() {
    let (at, _) = serve(&Shop::new("page=4"), anywhere(), "Bearer t0ken-t0ken").await;
    let described = || McpServer::http("shop", format!("http://{at}/"));
    let server = described().bearer("t0ken-t0ken").header("x-city", "Oslo").connect().await.unwrap();
    assert_eq!(server.tools().unwrap().len(), 17);
    assert_eq!(said(&server, "echo", json!({"text": "a"})).await.unwrap(), "echo says: a");
    assert_eq!(reply(&server, "media", json!({})).await.unwrap().content().unwrap().len(), 2);
    assert!(!format!("{server:?}").contains("t0ken"));
    let error = described().bearer("other-token").connect().await.unwrap_err();
    assert_eq!(error, McpError::Unauthorized { server: "shop".into() });
    server.close().await;
}

#[tokio::test]
async fn a_server_that_went_away_is_reached_again_when_it_is_back() {
    let (at, serving) = serve(&Shop::new(""), anywhere(), "").await;
    let restarts = Restarts::new().attempts(1).rest_after(10, Duration::from_secs(60));
    let server = McpServer::http("shop", format!("http://{at}/")).restarts(restarts).connect().await.unwrap();
    assert_eq!(said(&server, "add", json!({"text": "a"})).await.unwrap(), "done: a");
    serving.abort();
    while tokio::net::TcpStream::connect(at).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let error = said(&server, "add", json!({"text": "b"})).await.unwrap_err();
    assert!(error.contains("ended while `add` ran"), "{error}");
    let error = said(&server, "add", json!({"text": "b"})).await.unwrap_err();
    assert_eq!(error, "the MCP server `shop` can't be started at the moment; go on without its tools");
    let shop = Shop::new("");
    let _serving = serve(&shop, at, "").await;
    assert_eq!(said(&server, "add", json!({"text": "c"})).await.unwrap(), "done: c");
    assert_eq!((server.health().starts, server.health().deaths), (3, 1));
    assert_eq!(*shop.seen.lock().unwrap(), ["list -", "call add c"]);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_over_http_too() {
    let shop = Shop::new("");
    let (at, _) = serve(&shop, anywhere(), "").await;
    let described = McpServer::http("shop", format!("http://{at}/")).timeout(Duration::from_millis(500));
    let server = described.connect().await.unwrap();
    assert!(said(&server, "hang", json!({})).await.unwrap_err().contains("gave no answer within 500ms"));
    for _ in 0..1_000 {
        if shop.seen.lock().unwrap().iter().any(|line| line == "cancelled hang") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server was never told: {:?}", shop.seen.lock().unwrap());
}

#[tokio::test]
async fn an_address_where_nobody_is_says_so() {
    let error =
        McpServer::http("shop", "http://127.0.0.1:1/mcp?key=s3cret-s3cret").connect().await.unwrap_err().to_string();
    assert!(error.starts_with("the MCP server `shop` didn't get ready") && !error.contains("s3cret"), "{error}");
    let error = McpServer::http("shop", "https://127.0.0.1:1/mcp").connect().await.unwrap_err().to_string();
    assert!(error.contains("(for `https:` take the feature `http-rustls` or `http-native-tls`)"), "{error}");
    let error = McpServer::http("shop", "127.0.0.1").connect().await.unwrap_err().to_string();
    assert!(error.ends_with("`127.0.0.1` doesn't begin with `http://` or `https://`"), "{error}");
}
