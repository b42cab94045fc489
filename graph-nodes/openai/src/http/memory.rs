//! A server without a network, for tests under a paused clock.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::stream;
use reqwest::{Body, Request, Response};
use tokio::time::sleep;

use super::transport::{Transport, TransportError};

/// Answers every request in the same way.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    /// How long the headers take.
    pub(crate) headers: Duration,
    /// The pieces of the body, and how long each takes.
    pub(crate) pieces: Vec<(Duration, String)>,
    /// Nothing follows the last piece, not even an end.
    pub(crate) hangs: bool,
    pub(crate) seen: Arc<Seen>,
}

/// What became of the answers.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Pieces that were taken.
    pub(crate) taken: AtomicUsize,
    /// Bodies that nobody holds any more.
    pub(crate) dropped: AtomicUsize,
}

struct Dropped(Arc<Seen>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Transport for Memory {
    fn send(&self, _: Request) -> BoxFuture<'static, Result<Response, TransportError>> {
        let this = self.clone();
        Box::pin(async move {
            sleep(this.headers).await;
            let state = (this.pieces.into_iter(), Dropped(this.seen));
            let hangs = this.hangs;
            let body = stream::unfold(state, move |(mut pieces, dropped)| async move {
                let Some((wait, piece)) = pieces.next() else {
                    return if hangs { std::future::pending().await } else { None };
                };
                sleep(wait).await;
                dropped.0.taken.fetch_add(1, Ordering::SeqCst);
                Some((Ok::<_, Infallible>(piece), (pieces, dropped)))
            });
            let answer = http::Response::builder().header("content-type", "text/event-stream");
            Ok(answer.body(Body::wrap_stream(body))?.into())
        })
    }
}

/// An event with a piece of text.
pub(crate) fn says(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

/// The event with the finish reason.
pub(crate) fn stops() -> String {
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".to_owned()
}
