//! Bytes of a streamed answer become chunks.

use graph_nodes::model::{Chunk, ModelError, SseDecoder};

use crate::excerpt::excerpt;
use crate::secrets::Secrets;
use crate::wire::{CallStyle, Event};

/// How many bytes are decoded at a time.
const PART: usize = 4 << 10;

/// The most bytes of one answer, if nothing else is said: 64 MiB.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// Reads the bytes of a streamed answer, wherever they are cut. Pure: no IO, no clock.
///
/// An answer is whole when it gave a finish reason, whatever follows or is missing then: the end marker `[DONE]` may be
/// absent or come twice. Without a finish reason it is never whole.
///
/// What comes out doesn't depend on how the bytes were cut: the same chunks, then the same error if there is one. An
/// error is given once; afterwards the reader gives nothing.
///
/// ```
/// use graph_nodes::message::FinishReason;
/// use graph_nodes::model::Chunk;
/// use graph_nodes_openai::StreamReader;
///
/// let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Grüezi\"}}]}\n\n\
///             data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
/// let mut reader = StreamReader::new();
/// // The cut is inside the character.
/// assert_eq!(reader.push(&body.as_bytes()[..42])?, []);
/// let chunks = reader.push(&body.as_bytes()[42..])?;
/// assert_eq!(chunks, [Chunk::text("Grüezi"), Chunk::finish(FinishReason::Stop)]);
/// assert_eq!(reader.finish()?, []);
/// # Ok::<(), graph_nodes::model::ModelError>(())
/// ```
///
/// An answer that ends too early is an error, and no shorter answer:
///
/// ```
/// use graph_nodes::model::ModelErrorKind;
/// use graph_nodes_openai::StreamReader;
///
/// let mut reader = StreamReader::new();
/// reader.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata: [DONE]\n\n").unwrap();
/// assert_eq!(reader.finish().unwrap_err().kind(), ModelErrorKind::Truncated);
/// ```
#[derive(Debug)]
pub struct StreamReader {
    decoder: SseDecoder,
    max_bytes: usize,
    /// Bytes so far.
    bytes: usize,
    /// Events so far.
    events: usize,
    style: CallStyle,
    is_whole: bool,
    state: State,
    secrets: Secrets,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Open,
    /// An error that comes after chunks which are given first.
    Failing(ModelError),
    Failed,
}

impl StreamReader {
    /// A reader at the start of an answer, for at most 64 MiB.
    pub fn new() -> Self {
        Self {
            decoder: SseDecoder::new().with_max_event_bytes(MAX_BYTES),
            max_bytes: MAX_BYTES,
            bytes: 0,
            events: 0,
            style: CallStyle::default(),
            is_whole: false,
            state: State::Open,
            secrets: Secrets::default(),
        }
    }

    /// Sets how many bytes the whole answer may have, before the first of them comes. Nothing longer than that is ever
    /// kept.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        // The limit of the answer is one of its events too.
        self.decoder = self.decoder.with_max_event_bytes(bytes);
        self
    }

    /// Takes these texts out of every error.
    #[must_use]
    pub(crate) fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Takes the next bytes; returns what is known now.
    ///
    /// # Errors
    /// - The kind of an error event, by what it says; [`ModelError::Provider`] where it says nothing.
    /// - [`ModelError::Provider`]: bytes that are no text, an event that is no JSON, more bytes than allowed.
    ///
    /// Where chunks came before it in the same bytes, these are returned, and the error by the next call, also of
    /// [`finish`](Self::finish). [`is_over`](Self::is_over) says so.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Chunk>, ModelError> {
        let mut chunks = Vec::new();
        if let Err(error) = self.read(bytes, &mut chunks) {
            self.state = State::Failing(error);
        }
        if chunks.is_empty() { self.give_error().map(|()| chunks) } else { Ok(chunks) }
    }

    /// Whether further bytes make no difference: the stream said that it ends, or an error came.
    pub fn is_over(&self) -> bool {
        self.decoder.is_done() || !matches!(self.state, State::Open)
    }

    /// Whether a finish reason came.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Ends the stream; returns what a last event without an end says.
    ///
    /// # Errors
    /// [`ModelError::Truncated`] when no finish reason came; else as [`push`](Self::push).
    pub fn finish(mut self) -> Result<Vec<Chunk>, ModelError> {
        self.give_error()?;
        let mut chunks = Vec::new();
        if let State::Failed = self.state {
            return Ok(chunks);
        }
        // What was cut within its last event says the same as one that was cut right before it.
        let last = std::mem::take(&mut self.decoder).finish().ok().flatten();
        if let Some(event) = last.and_then(|text| Event::read(&text).ok().map(|event| (text, event))) {
            self.take(&event.0, event.1, &mut chunks)?;
        }
        match (self.is_whole, self.events) {
            (true, _) => Ok(chunks),
            (false, 0) => Err(ModelError::truncated("the stream ended without any event")),
            (false, events) => {
                Err(ModelError::truncated(format!("the stream ended without a finish reason, after {events} events")))
            }
        }
    }

    fn give_error(&mut self) -> Result<(), ModelError> {
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Failing(error) => Err(error),
            state => {
                self.state = state;
                Ok(())
            }
        }
    }

    fn read(&mut self, bytes: &[u8], chunks: &mut Vec<Chunk>) -> Result<(), ModelError> {
        if self.is_over() {
            return Ok(());
        }
        let (bytes, beyond) = bytes.split_at(bytes.len().min(self.max_bytes.saturating_sub(self.bytes)));
        self.bytes += bytes.len();
        let mut events = Vec::new();
        // In parts, so that few events are in memory besides their chunks.
        for part in bytes.chunks(PART) {
            let decoded = self.decoder.push_into(part, &mut events);
            // An error comes after the events before it, wherever the bytes were cut.
            for text in events.drain(..) {
                // A blank event keeps the connection alive, as a comment does.
                if text.trim().is_empty() {
                    continue;
                }
                let event = Event::read(&text).map_err(|error| {
                    let (why, text) = (excerpt(&error.to_string(), &self.secrets), excerpt(&text, &self.secrets));
                    broken(format!("an event is no JSON ({why}): {text}"))
                })?;
                self.take(&text, event, chunks)?;
            }
            decoded.map_err(|error| broken(error.to_string()))?;
        }
        if !beyond.is_empty() && !self.decoder.is_done() {
            return Err(broken(format!("the answer is larger than {} bytes", self.max_bytes)));
        }
        Ok(())
    }

    fn take(&mut self, text: &str, event: Event, chunks: &mut Vec<Chunk>) -> Result<(), ModelError> {
        self.events += 1;
        if let Some(failure) = event.failure(text) {
            return Err(failure.into_error("error event", None, None, &self.secrets));
        }
        let chunk = event.chunk(&mut self.style);
        self.is_whole |= chunk.as_ref().is_some_and(|chunk| chunk.finish.is_some());
        chunks.extend(chunk);
        Ok(())
    }
}

impl Default for StreamReader {
    fn default() -> Self {
        Self::new()
    }
}

/// The server doesn't write what it should.
fn broken(message: String) -> ModelError {
    ModelError::provider(message)
}
