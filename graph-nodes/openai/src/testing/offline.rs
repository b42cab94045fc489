//! The same replies without a network.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_core::future::BoxFuture;
use futures_util::stream;
use reqwest::{Body, Request, Response};
use tokio::time::sleep;

use super::reply::End;
use super::{Asked, Framing, Reply};
use crate::http::{Transport, TransportError};

/// Gives its replies in order, one a request, without a network: quicker than a [`Server`](super::Server), and under a
/// paused clock. Further requests get status 599. Clones are the same server.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, ModelErrorKind, Request};
/// use graph_nodes_openai::OpenAi;
/// use graph_nodes_openai::testing::{Offline, Reply};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let server = Offline::new([Reply::status(429), Reply::stream("data: {\"choices\":[]}\n\n").reset_at(9)]);
/// let model = OpenAi::new("http://127.0.0.1:8080/v1", "local").offline(&server).build()?;
///
/// let ask = || model.complete(Request::new([Message::user("hello")]));
/// assert_eq!(ask().await.unwrap_err().kind(), ModelErrorKind::Rate);
/// assert_eq!(ask().await.unwrap_err().kind(), ModelErrorKind::Transport);
/// assert_eq!(server.requests()[1].json()["messages"][0]["content"], "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Offline(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    replies: VecDeque<Reply>,
    requests: Vec<Asked>,
}

impl Offline {
    /// A server with these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let state = State { replies: replies.into_iter().collect(), requests: Vec::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.state().requests.clone()
    }

    /// Adds a reply at the end.
    pub fn push(&self, reply: Reply) {
        self.state().replies.push_back(reply);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self, request: &Request) -> Reply {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = request.headers().iter().map(|(name, value)| (name.to_string(), text(value.as_bytes())));
        let query = request.url().query().map(|query| format!("?{query}")).unwrap_or_default();
        let asked = Asked {
            method: request.method().to_string(),
            path: format!("{}{query}", request.url().path()),
            headers: headers.collect(),
            body: request.body().and_then(Body::as_bytes).map(text).unwrap_or_default(),
        };
        let mut state = self.state();
        state.requests.push(asked);
        state.replies.pop_front().unwrap_or_else(Reply::none_left)
    }
}

impl Transport for Offline {
    fn send(&self, request: Request) -> BoxFuture<'static, Result<Response, TransportError>> {
        let reply = self.asked(&request);
        Box::pin(async move {
            if reply.end == End::Never {
                return std::future::pending().await;
            }
            sleep(reply.wait).await;
            let mut answer = http::Response::builder().status(reply.status);
            for (name, value) in &reply.headers {
                answer = answer.header(name, value);
            }
            Ok(answer.body(Body::wrap_stream(stream::try_unfold((reply, 0), next_piece)))?.into())
        })
    }
}

/// The next piece of the body, and where it ends.
async fn next_piece((reply, at): (Reply, usize)) -> io::Result<Option<(Vec<u8>, (Reply, usize))>> {
    for (_, wait) in reply.pauses.iter().filter(|(pause, _)| *pause == at) {
        sleep(*wait).await;
    }
    let end = match reply.end {
        End::Close(bytes) | End::Reset(bytes) => bytes.min(reply.body.len()),
        End::Whole | End::Never => reply.body.len(),
    };
    if at == end {
        return match reply.end {
            End::Reset(_) => Err(io::ErrorKind::ConnectionReset.into()),
            End::Close(_)
                if reply.framing == Framing::Chunked || end < reply.body.len() && reply.framing == Framing::Length =>
            {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            _ => Ok(None),
        };
    }
    let pause = reply.pauses.iter().map(|(pause, _)| *pause).find(|pause| *pause > at).unwrap_or(end);
    let next = end.min(pause).min(at.saturating_add(reply.piece));
    let piece = reply.body[at..next].to_vec();
    Ok(Some((piece, (reply, next))))
}
