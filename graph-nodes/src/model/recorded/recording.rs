//! A stream that is recorded while it is read.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::answer::{Answer, Failure, Item};
use super::cassette::{Asked, Shared};
use super::error::CassetteError;
use crate::model::{Chunk, ChunkStream, ModelError};

/// What was read of one answer so far.
pub(super) struct Recording {
    shared: Arc<Shared>,
    asked: Option<Asked>,
    items: Vec<Item>,
    /// The model said why it ends: nothing that matters is missing when nobody reads on.
    finished: bool,
}

impl Recording {
    pub(super) fn new(shared: Arc<Shared>, asked: Asked) -> Self {
        Self { shared, asked: Some(asked), items: Vec::new(), finished: false }
    }

    /// Keeps an error before the stream.
    pub(super) fn failed(mut self, error: ModelError) -> ModelError {
        let Some(failure) = Failure::of(&error) else { return error };
        match self.write(Answer::Failed(failure)) {
            Ok(()) => error,
            Err(broken) => broken.into(),
        }
    }

    fn take(&mut self, item: &Result<Chunk, ModelError>) -> Result<(), CassetteError> {
        match item {
            Ok(chunk) => {
                self.finished |= chunk.finish.is_some();
                self.items.push(Item::Chunk(chunk.clone()));
                Ok(())
            }
            Err(error) => match Failure::of(error) {
                Some(failure) => {
                    self.items.push(Item::Error(failure));
                    self.close()
                }
                // What was cancelled here says nothing of the provider.
                None => {
                    self.asked = None;
                    Ok(())
                }
            },
        }
    }

    fn close(&mut self) -> Result<(), CassetteError> {
        let items = std::mem::take(&mut self.items);
        self.write(Answer::Stream(items))
    }

    /// Writes at most once.
    fn write(&mut self, answer: Answer) -> Result<(), CassetteError> {
        match self.asked.take() {
            Some(asked) => self.shared.write(asked, answer),
            None => Ok(()),
        }
    }

    /// The same stream, kept.
    pub(super) fn of(self, inner: ChunkStream) -> ChunkStream {
        Box::pin(stream::unfold(Some((inner, self)), |state| async move {
            let (mut inner, mut recording) = state?;
            let Some(item) = inner.next().await else {
                let broken = recording.close().err()?;
                return Some((Err(broken.into()), None));
            };
            if let Err(broken) = recording.take(&item) {
                return Some((Err(broken.into()), None));
            }
            let next = item.is_ok().then_some((inner, recording));
            Some((item, next))
        }))
    }
}

impl Drop for Recording {
    /// A reader may stop at the finish reason. The shared part keeps an error for `assert_done`.
    fn drop(&mut self) {
        if self.finished {
            drop(self.close());
        }
    }
}
