//! The chunks of an answer while it arrives.

use std::collections::VecDeque;

use futures_util::{StreamExt, stream};
use graph_nodes::model::{Chunk, ChunkStream, ModelError};

use crate::StreamReader;
use crate::http::Answer;
use crate::read;
use crate::schema::CallReader;

/// What turns bytes into chunks.
enum Reader {
    Events(StreamReader),
    /// An answer that isn't streamed.
    Whole {
        body: Vec<u8>,
        max_bytes: usize,
    },
}

struct Chunks {
    /// Nothing once the answer has ended: then the connection is free.
    source: Option<(Answer, Reader)>,
    /// Makes calls of JSON, where that is how they come.
    calls: Option<CallReader>,
    ready: VecDeque<Chunk>,
    /// Comes after what is ready.
    error: Option<ModelError>,
}

/// The chunks of an answer. They are read when somebody asks for the next one, and never before; dropping the stream
/// ends the call.
///
/// The server says by the content type whether it streams; some do the one when they are asked for the other.
pub(crate) fn chunks(answer: Answer, streaming: bool, max_bytes: usize, calls: Option<CallReader>) -> ChunkStream {
    let is_whole = answer.is_json().unwrap_or(!streaming);
    let reader = if is_whole {
        Reader::Whole { body: Vec::new(), max_bytes }
    } else {
        Reader::Events(StreamReader::new().with_max_bytes(max_bytes).with_secrets(answer.secrets().clone()))
    };
    let chunks = Chunks { source: Some((answer, reader)), calls, ready: VecDeque::new(), error: None };
    Box::pin(stream::unfold(chunks, |mut chunks| async move { Some((chunks.next().await?, chunks)) }).fuse())
}

impl Chunks {
    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            let (answer, reader) = self.source.take()?;
            self.error = self.read(answer, reader).await.err();
            if self.source.is_none() {
                self.ready.extend(self.calls.take().and_then(|mut calls| calls.rest()));
            }
        }
    }

    /// Waits for the next bytes once.
    async fn read(&mut self, mut answer: Answer, mut reader: Reader) -> Result<(), ModelError> {
        let is_over = match answer.next().await {
            Ok(Some(bytes)) => {
                let chunks = reader.push(&bytes)?;
                self.take(chunks);
                reader.is_over()
            }
            Ok(None) => true,
            // Everything that belongs to the answer had arrived.
            Err(_) if reader.is_whole() => true,
            Err(error) => return Err(error),
        };
        if is_over {
            let chunks = reader.finish(&answer)?;
            self.take(chunks);
        } else {
            self.source = Some((answer, reader));
        }
        Ok(())
    }

    fn take(&mut self, chunks: Vec<Chunk>) {
        let calls = &mut self.calls;
        self.ready.extend(chunks.into_iter().filter_map(|chunk| match calls {
            None => Some(chunk),
            Some(calls) => calls.push(chunk),
        }));
    }
}

/// The whole body of an answer that is no stream.
pub(crate) async fn body(mut answer: Answer, max_bytes: usize) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(bytes) = answer.next().await? {
        extend(&mut body, &bytes, max_bytes)?;
    }
    Ok(body)
}

fn extend(body: &mut Vec<u8>, bytes: &[u8], max_bytes: usize) -> Result<(), ModelError> {
    if body.len() + bytes.len() > max_bytes {
        let message = format!("the answer is larger than {max_bytes} bytes");
        return Err(ModelError::provider(message));
    }
    body.extend_from_slice(bytes);
    Ok(())
}

impl Reader {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Chunk>, ModelError> {
        match self {
            Self::Events(reader) => reader.push(bytes),
            Self::Whole { body, max_bytes } => extend(body, bytes, *max_bytes).map(|()| Vec::new()),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Events(reader) if reader.is_over())
    }

    fn is_whole(&self) -> bool {
        matches!(self, Self::Events(reader) if reader.is_whole())
    }

    fn finish(self, answer: &Answer) -> Result<Vec<Chunk>, ModelError> {
        match self {
            Self::Events(reader) => reader.finish(),
            Self::Whole { body, .. } => read::answer(&body, answer.secrets()).map(|chunk| vec![chunk]),
        }
    }
}
