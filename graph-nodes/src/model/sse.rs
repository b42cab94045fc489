//! Bytes of a provider's event stream become the texts of its events.

/// Decodes a stream of server-sent events, as chat providers send them, from bytes that are cut anywhere: inside a line,
/// inside a line end, inside a character.
///
/// Only `data` counts; comments and other fields are skipped. The event `[DONE]` is the end of the stream and no data;
/// whether a response is whole is told by its finish reason and never by this marker.
///
/// ```
/// use graph_nodes::model::SseDecoder;
///
/// let body = "data: {\"text\":\"日\"}\n\ndata: [DONE]\n\n".as_bytes();
/// let mut decoder = SseDecoder::new();
/// // The cut is inside the character.
/// assert_eq!(decoder.push(&body[..17])?, [""; 0]);
/// assert_eq!(decoder.push(&body[17..])?, ["{\"text\":\"日\"}"]);
/// assert!(decoder.is_done());
/// assert_eq!(decoder.finish()?, None);
/// # Ok::<(), graph_nodes::model::SseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SseDecoder {
    /// The bytes of the line that is not whole yet.
    line: Vec<u8>,
    /// The lines of the event that is not whole yet.
    data: Option<String>,
    /// How many bytes came before `line`.
    offset: usize,
    /// The last line ended with a carriage return: a newline right after it belongs to it.
    returned: bool,
    done: bool,
}

/// Bytes that are no text.
///
/// ```
/// use graph_nodes::model::{SseDecoder, SseError};
///
/// let error = SseDecoder::new().push(b"data: \xff\n").unwrap_err();
/// assert_eq!(error, SseError::NotUtf8 { offset: 6 });
/// assert_eq!(error.to_string(), "the stream is not UTF-8 at byte 6; ask again, or report it to the provider");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// A byte belongs to no character.
    #[error("the stream is not UTF-8 at byte {offset}; ask again, or report it to the provider")]
    NotUtf8 {
        /// The byte, counted from the start of the stream, from 0.
        offset: usize,
    },
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes; returns the data of the events that are whole now.
    ///
    /// # Errors
    /// [`SseError::NotUtf8`]: a whole line is no text. The events before it in the same bytes are lost.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, SseError> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                (self.offset, rest) = (self.offset + 1, &rest[1..]);
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line(1)?);
        }
        Ok(events)
    }

    /// Whether the provider said that the stream ends.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Ends the stream; returns the data of an event whose end did not arrive.
    ///
    /// # Errors
    /// As [`push`](Self::push), also for a character of which only a part arrived.
    pub fn finish(mut self) -> Result<Option<String>, SseError> {
        self.end_line(0)?;
        Ok(self.end_event())
    }

    fn end_line(&mut self, terminator: usize) -> Result<Option<String>, SseError> {
        let bytes = std::mem::take(&mut self.line);
        let start = self.offset;
        self.offset += bytes.len() + terminator;
        let line =
            std::str::from_utf8(&bytes).map_err(|error| SseError::NotUtf8 { offset: start + error.valid_up_to() })?;
        // A byte order mark may stand before everything.
        let line = if start == 0 { line.trim_start_matches('\u{feff}') } else { line };
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Option<String> {
        let data = self.data.take()?;
        if data.trim() == "[DONE]" {
            self.done = true;
            return None;
        }
        // What comes after the end belongs to no response.
        (!self.done).then_some(data)
    }
}
