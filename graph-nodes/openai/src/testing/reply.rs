//! What the server answers to one request.

use std::time::Duration;

/// What the server answers to one request.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes_openai::testing::{Framing, Reply};
///
/// let slow = Reply::status(429).header("retry-after", "7").body(r#"{"error":{"message":"slow down"}}"#);
/// let cut = Reply::stream("data: {}\n\n").framing(Framing::UntilClose).close_at(4);
/// let tired = Reply::stream("data: {}\n\ndata: {}\n\n").pause_at(10, Duration::from_millis(50));
/// # let _ = (slow, cut, tired);
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) framing: Framing,
    pub(super) end: End,
    pub(super) piece: usize,
    pub(super) wait: Duration,
    pub(super) pauses: Vec<(usize, Duration)>,
}

/// How the client learns where the body ends.
///
/// ```
/// use graph_nodes_openai::testing::Framing;
///
/// assert_ne!(Framing::Chunked, Framing::UntilClose);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// In HTTP chunks: a client notices when the last one is missing.
    Chunked,
    /// By a length in front: a client notices when it is too short.
    Length,
    /// By the end of the connection: a client can't tell a cut from an end.
    UntilClose,
}

/// How the answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Whole,
    /// The connection is closed after so many bytes of the body.
    Close(usize),
    /// The connection is reset after so many bytes of the body.
    Reset(usize),
    /// Nothing is answered, and the connection stays open.
    Never,
}

impl Reply {
    fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>, framing: Framing) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: body.into(),
            framing,
            end: End::Whole,
            piece: usize::MAX,
            wait: Duration::ZERO,
            pauses: Vec::new(),
        }
    }

    /// An event stream with status 200, in HTTP chunks.
    pub fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream", body, Framing::Chunked)
    }

    /// A JSON text with status 200.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", body, Framing::Length)
    }

    /// Another status, with an empty body.
    pub fn status(status: u16) -> Self {
        Self::new(status, "application/json", "", Framing::Length)
    }

    /// No answer at all: the connection stays open until the client leaves.
    pub fn never() -> Self {
        Self { end: End::Never, ..Self::status(200) }
    }

    /// To a request that nobody expected.
    pub(super) fn none_left() -> Self {
        Self::status(599).body(r#"{"error":{"message":"the server has no reply left"}}"#)
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a header; one of the same name is replaced.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets how the client learns where the body ends.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Closes the connection properly after so many bytes of the body.
    #[must_use]
    pub fn close_at(mut self, bytes: usize) -> Self {
        self.end = End::Close(bytes);
        self
    }

    /// Resets the connection after so many bytes of the body. What the client had not read by then may be lost.
    #[must_use]
    pub fn reset_at(mut self, bytes: usize) -> Self {
        self.end = End::Reset(bytes);
        self
    }

    /// Writes at most so many bytes at a time.
    #[must_use]
    pub fn pieces_of(mut self, bytes: usize) -> Self {
        self.piece = bytes.max(1);
        self
    }

    /// Waits before the status line.
    #[must_use]
    pub fn delayed(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Waits when so many bytes of the body are written.
    #[must_use]
    pub fn pause_at(mut self, bytes: usize, wait: Duration) -> Self {
        self.pauses.push((bytes, wait));
        self.pauses.sort_by_key(|(at, _)| *at);
        self
    }
}
