//! How long a call may take, phase by phase.

use std::time::Duration;

/// How long a call may take, phase by phase. A phase without a limit may take for ever.
///
/// | limit | begins | ends | default |
/// | --- | --- | --- | --- |
/// | [`connect`](Self::connect) | when a connection is opened | when it is there | 10 seconds |
/// | [`first_byte`](Self::first_byte) | when the request is sent, connecting included | with the first byte of the answer's body | 2 minutes |
/// | [`between_chunks`](Self::between_chunks) | when the next bytes of the body are waited for | with these, be they only a keep-alive comment | 1 minute |
/// | [`whole`](Self::whole) | when the request is sent | with the end of the answer | none |
///
/// A limit that is passed ends the call with [`ModelError::Transport`](graph_nodes::model::ModelError::Transport), which says which one it was. A local server
/// reads the whole prompt before it writes anything, so `first_byte` has to leave time for that.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes_openai::Timeouts;
///
/// let patient = Timeouts::new().first_byte(Duration::from_secs(600)).whole(Duration::from_secs(900));
/// assert_eq!(patient.limits()[1], ("first byte", Some(Duration::from_secs(600))));
/// let endless = Timeouts::none();
/// assert!(endless.limits().iter().all(|(_, limit)| limit.is_none()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub(crate) connect: Option<Duration>,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) between_chunks: Option<Duration>,
    pub(crate) whole: Option<Duration>,
}

impl Timeouts {
    /// The defaults of the table.
    pub const fn new() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            first_byte: Some(Duration::from_secs(120)),
            between_chunks: Some(Duration::from_secs(60)),
            whole: None,
        }
    }

    /// No limits at all: whoever calls has one of their own, as a gate with a deadline does.
    pub const fn none() -> Self {
        Self { connect: None, first_byte: None, between_chunks: None, whole: None }
    }

    /// Limits how long a connection may take to be opened.
    #[must_use]
    pub const fn connect(mut self, limit: Duration) -> Self {
        self.connect = Some(limit);
        self
    }

    /// Limits the wait for the first byte of the answer.
    #[must_use]
    pub const fn first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = Some(limit);
        self
    }

    /// Limits how long the server may be silent within an answer.
    #[must_use]
    pub const fn between_chunks(mut self, limit: Duration) -> Self {
        self.between_chunks = Some(limit);
        self
    }

    /// Limits the whole call.
    #[must_use]
    pub const fn whole(mut self, limit: Duration) -> Self {
        self.whole = Some(limit);
        self
    }

    /// The limits with their names, in the order of the table.
    pub const fn limits(&self) -> [(&'static str, Option<Duration>); 4] {
        [
            ("connect", self.connect),
            ("first byte", self.first_byte),
            ("between chunks", self.between_chunks),
            ("whole", self.whole),
        ]
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}
