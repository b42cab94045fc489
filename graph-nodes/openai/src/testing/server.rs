//! The server: where it listens, what it was asked.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::Reply;
use super::connection::serve;

/// A server on a free port of this machine that gives its replies in order, one a request, one request a connection.
/// Further requests get status 599. Dropping it ends it.
///
/// It needs tokio's IO and real time: under a paused clock the clock jumps while bytes are on their way. See the
/// [module](super) for an example.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// A request as it arrived.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use graph_nodes_openai::testing::Server;
///
/// let server = Server::start([]).await?;
/// assert_eq!(server.requests(), []);
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path with its parameters.
    pub path: String,
    /// The headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// How many clients left before their answer was written.
    hung_up: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    replies: VecDeque<Reply>,
    requests: Vec<Asked>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// No port could be opened.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Mutex::new(State { replies: replies.into_iter().collect(), requests: Vec::new() });
        let shared = Arc::new(Shared { state, hung_up: watch::Sender::new(0) });
        let serving = shared.clone();
        let accepting = tokio::spawn(async move {
            // Dropped with this task, and its connections with it.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, serving.clone()));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, shared, accepting })
    }

    /// The base URL: `http://127.0.0.1:{port}/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far, in the order in which they arrived.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.state().requests.clone()
    }

    /// Adds a reply at the end.
    pub fn push(&self, reply: Reply) {
        self.shared.state().replies.push_back(reply);
    }

    /// Waits until so many clients, since the start, have left before their answer was written.
    pub async fn hung_up(&self, clients: usize) {
        let mut seen = self.shared.hung_up.subscribe();
        // The sender lives as long as `self`.
        drop(seen.wait_for(|count| *count >= clients).await);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Asked {
    /// The value of a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics with the lock held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request; returns what it is answered.
    pub(super) fn asked(&self, request: Asked) -> Reply {
        let mut state = self.state();
        state.requests.push(request);
        state.replies.pop_front().unwrap_or_else(Reply::none_left)
    }

    pub(super) fn client_left(&self) {
        self.hung_up.send_modify(|count| *count += 1);
    }
}
