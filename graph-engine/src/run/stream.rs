//! Readers of events: beside whatever drives a turn, or with the turn in a task of its own.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::end::TurnEnd;
use crate::driver::Event;
use crate::name::Name;
use crate::run_error::{RunError, TurnError};
use crate::task::CancelOnDrop;

/// Events of a turn that somebody else drives. It ends after the event `Ended`.
pub struct EventReader<S> {
    pub(super) events: mpsc::Receiver<Event<S>>,
}

impl<S> Stream for EventReader<S> {
    type Item = Event<S>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<S>>> {
        self.events.poll_recv(cx)
    }
}

/// A running turn and its events. It ends after the event `Ended`; [`end`](Self::end) gives the result.
pub struct EventStream<S> {
    pub(super) thread: Name,
    pub(super) reader: EventReader<S>,
    pub(super) turn: JoinHandle<Result<TurnEnd<S>, TurnError>>,
    /// Cancels the turn when the stream is dropped.
    pub(super) _guard: CancelOnDrop,
}

impl<S> EventStream<S> {
    /// The result of the turn; events that were not read are dropped.
    ///
    /// # Errors
    /// The turn's own error.
    pub async fn end(mut self) -> Result<TurnEnd<S>, TurnError> {
        // From here on nobody reads: the turn must not wait for room in the queue.
        self.reader.events.close();
        while self.reader.events.recv().await.is_some() {}
        let ended = (&mut self.turn).await;
        ended.unwrap_or_else(|error| {
            let what = if error.is_panic() { "the turn's task panicked" } else { "the turn's task was dropped" };
            Err(RunError::Internal { thread: self.thread.clone(), what: what.into() }.into())
        })
    }
}

impl<S> Stream for EventStream<S> {
    type Item = Event<S>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event<S>>> {
        Pin::new(&mut self.reader).poll_next(cx)
    }
}

impl<S> fmt::Debug for EventReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventReader")
    }
}

impl<S> fmt::Debug for EventStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}
