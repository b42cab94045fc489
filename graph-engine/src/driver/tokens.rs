//! Only the text that nodes emit piece by piece.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;

use super::event::{Event, EventKind};
use crate::name::Name;
use crate::task_id::TaskId;

/// A piece of text, or the news that pieces count for nothing.
///
/// ```
/// use graph_engine::{TaskId, TokenEvent};
///
/// let piece = TokenEvent {
///     node: "agent".into(),
///     namespace: "".into(),
///     task: TaskId::default(),
///     attempt: 1,
///     text: Some("Hel".to_owned()),
/// };
/// assert!(!piece.is_discarded());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEvent {
    /// The node.
    pub node: Name,
    /// The namespace of the child graph that it is in; empty at the top.
    pub namespace: Name,
    /// Its task.
    pub task: TaskId,
    /// Its attempt, from 1.
    pub attempt: u32,
    /// The piece; `None` when all pieces of this attempt so far count for nothing, because it failed or was cancelled.
    pub text: Option<String>,
}

impl TokenEvent {
    /// Whether the pieces of this attempt are to be forgotten.
    #[must_use]
    pub fn is_discarded(&self) -> bool {
        self.text.is_none()
    }
}

/// The text of a turn, piece by piece: what [`Turn::tokens`](crate::Turn::tokens) gives. It ends with the turn.
pub struct TokenReader<S> {
    pub(crate) events: mpsc::Receiver<Event<S>>,
}

impl<S> Stream for TokenReader<S> {
    type Item = TokenEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<TokenEvent>> {
        loop {
            let Some(event) = std::task::ready!(self.events.poll_recv(cx)) else { return Poll::Ready(None) };
            let text = match event.kind {
                EventKind::Token(text) => Some(text),
                EventKind::AttemptDiscarded => None,
                _ => continue,
            };
            if let (Some(node), Some(task)) = (event.node, event.task) {
                return Poll::Ready(Some(TokenEvent {
                    node,
                    namespace: event.namespace,
                    task,
                    attempt: event.attempt,
                    text,
                }));
            }
        }
    }
}

impl<S> fmt::Debug for TokenReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenReader")
    }
}
