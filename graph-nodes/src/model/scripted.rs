//! A model whose answers are given up front.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;

use super::{ChatModel, ChunkStream, ModelError, Request, Turn};

/// A model whose answers are given up front, and which keeps every request.
///
/// Clones share the script and the record, so a test keeps one and gives the
/// other away.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, Request, ScriptedModel, Turn};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let model = ScriptedModel::new([Turn::text("Hello!").cut_at([2, 4])]);
/// let response = model.complete(Request::new([Message::user("hi")])).await.unwrap();
/// assert_eq!(response.text, "Hello!");
/// assert_eq!(model.requests()[0].messages[0].text(), "hi");
/// assert_eq!(model.assert_done(), Ok(()));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    name: Arc<str>,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    turns: VecDeque<Turn>,
    requests: Vec<Request>,
    missing: usize,
}

/// A script that does not fit what was asked.
///
/// ```
/// use graph_nodes::model::{ScriptError, ScriptedModel, Turn};
///
/// let model = ScriptedModel::new([Turn::text("never asked for")]);
/// assert_eq!(model.assert_done(), Err(ScriptError::Unused { turns: 1 }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// Not all turns were asked for.
    #[error("{}; remove {}, or find out why nobody asked", unused(*turns), if *turns == 1 { "it" } else { "them" })]
    Unused {
        /// How many are left.
        turns: usize,
    },
    /// The model was asked more often than there are turns.
    #[error("{} found no scripted turn; add {}, or find out who asked", requested(*requests), if *requests == 1 { "one" } else { "some" })]
    Missing {
        /// How many requests found none.
        requests: usize,
    },
}

fn unused(turns: usize) -> String {
    match turns {
        1 => "1 scripted turn was not used".to_owned(),
        _ => format!("{turns} scripted turns were not used"),
    }
}

fn requested(requests: usize) -> String {
    format!("{requests} {}", if requests == 1 { "request" } else { "requests" })
}

impl ScriptedModel {
    /// A model that gives these answers in order.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let inner = Inner { turns: turns.into_iter().collect(), requests: Vec::new(), missing: 0 };
        Self { name: "scripted".into(), inner: Arc::new(Mutex::new(inner)) }
    }

    /// Sets the name that calls are accounted under.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Whether every turn was asked for and no request found none.
    ///
    /// # Errors
    /// Says how many turns or requests are left over.
    pub fn assert_done(&self) -> Result<(), ScriptError> {
        let inner = self.lock();
        match (inner.missing, inner.turns.len()) {
            (0, 0) => Ok(()),
            (0, turns) => Err(ScriptError::Unused { turns }),
            (requests, _) => Err(ScriptError::Missing { requests }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it holds the lock, so the data is whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_turn(&self, request: Request) -> Result<Turn, ModelError> {
        let mut inner = self.lock();
        inner.requests.push(request);
        match inner.turns.pop_front() {
            Some(turn) => Ok(turn),
            None => {
                inner.missing += 1;
                Err(ModelError::ScriptExhausted { request: inner.requests.len() })
            }
        }
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        request.check()?;
        let mut turn = self.next_turn(request)?;
        wait(turn.delay).await;
        let (pause, error) = (turn.chunk_delay, turn.error.take());
        let mut items: Vec<_> = turn.into_chunks().into_iter().map(Ok).collect();
        match error {
            None => {}
            Some((None, error)) => return Err(error),
            Some((Some(after), error)) => {
                items.truncate(after);
                items.push(Err(error));
            }
        }
        Ok(Box::pin(stream::unfold(items.into_iter(), move |mut items| async move {
            let item = items.next()?;
            wait(pause).await;
            Some((item, items))
        })))
    }
}

async fn wait(time: Duration) {
    // Not even a yield without a delay: such a script needs no clock.
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
