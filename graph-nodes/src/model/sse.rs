//! Bytes of a provider's event stream become the texts of its events.

/// Decodes a stream of server-sent events, as chat providers send them, from bytes that are cut anywhere: inside a line,
/// inside a line end, inside a character.
///
/// Only `data` counts; comments and other fields are skipped. The event `[DONE]` is the end of the stream and no data;
/// whether a response is whole is told by its finish reason and never by this marker.
///
/// It keeps at most one event in memory, which has at most 16 MiB; see [`with_max_event_bytes`](Self::with_max_event_bytes).
/// What comes out, errors included, is the same wherever the bytes were cut. A broken stream stays broken: after an
/// error every call returns it again.
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
#[derive(Clone, Debug)]
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
    /// How many bytes `data` and a line after it may have.
    max_event_bytes: usize,
    failed: Option<SseError>,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            data: None,
            offset: 0,
            returned: false,
            done: false,
            max_event_bytes: 16 << 20,
            failed: None,
        }
    }
}

/// Bytes that are no text, or more of them than one event may have.
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
    /// An event, or a comment, does not end.
    #[error("an event of the stream has more than {limit} bytes; ask for a shorter answer, or allow longer events")]
    EventTooLong {
        /// What is allowed.
        limit: usize,
    },
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes one event may have, its comments and field names included (default: 16 MiB). More is
    /// [`SseError::EventTooLong`], told before they are kept.
    ///
    /// ```
    /// use graph_nodes::model::{SseDecoder, SseError};
    ///
    /// let mut decoder = SseDecoder::new().with_max_event_bytes(10);
    /// assert_eq!(decoder.push(b"data: 1234\n\n")?, ["1234"]);
    /// assert_eq!(decoder.push(b"data: 12345"), Err(SseError::EventTooLong { limit: 10 }));
    /// # Ok::<(), SseError>(())
    /// ```
    #[must_use]
    pub fn with_max_event_bytes(mut self, max: usize) -> Self {
        self.max_event_bytes = max;
        self
    }

    /// Takes the next bytes; returns the data of the events that are whole now.
    ///
    /// # Errors
    /// [`SseError`]: a whole line is no text, or an event is too long. The events before it in the same bytes are lost;
    /// [`push_into`](Self::push_into) keeps them.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, SseError> {
        let mut events = Vec::new();
        self.push_into(bytes, &mut events)?;
        Ok(events)
    }

    /// Takes the next bytes; appends the data of the events that are whole now.
    ///
    /// ```
    /// use graph_nodes::model::{SseDecoder, SseError};
    ///
    /// let mut events = Vec::new();
    /// let error = SseDecoder::new().push_into(b"data: 1\n\ndata: \xff\n", &mut events);
    /// assert_eq!((error, events), (Err(SseError::NotUtf8 { offset: 15 }), vec!["1".to_owned()]));
    /// ```
    ///
    /// # Errors
    /// As [`push`](Self::push); the events before the error are appended.
    pub fn push_into(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.decode(bytes, events).inspect_err(|error| {
            self.failed = Some(*error);
            (self.line, self.data) = (Vec::new(), None);
        })
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
        if let Some(error) = self.failed {
            return Err(error);
        }
        let line = std::mem::take(&mut self.line);
        Ok(self.end_line(&line, 0)?.or_else(|| self.end_event()))
    }

    fn decode(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), SseError> {
        let mut rest = bytes;
        // What comes after the end belongs to no response, whatever it is.
        while !rest.is_empty() && !self.done {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                (self.offset, rest) = (self.offset + 1, &rest[1..]);
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let more = &rest[..end.unwrap_or(rest.len())];
            self.fits(more)?;
            let Some(end) = end else {
                self.line.extend_from_slice(more);
                break;
            };
            self.returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(if self.line.is_empty() {
                self.end_line(more, 1)?
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(more);
                let event = self.end_line(&line, 1)?;
                // The next line that comes in pieces uses its memory again.
                line.clear();
                self.line = line;
                event
            });
        }
        Ok(())
    }

    /// Tells of too long an event before its bytes are copied, and by its length alone: where they were cut makes no
    /// difference.
    fn fits(&self, more: &[u8]) -> Result<(), SseError> {
        let length = self.data.as_ref().map_or(0, String::len) + self.line.len() + more.len();
        if length <= self.max_event_bytes {
            Ok(())
        } else {
            Err(SseError::EventTooLong { limit: self.max_event_bytes })
        }
    }

    fn end_line(&mut self, bytes: &[u8], terminator: usize) -> Result<Option<String>, SseError> {
        let start = self.offset;
        self.offset += bytes.len() + terminator;
        let line =
            std::str::from_utf8(bytes).map_err(|error| SseError::NotUtf8 { offset: start + error.valid_up_to() })?;
        // A byte order mark may stand before everything.
        let line = if start == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
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
        Some(data)
    }
}
