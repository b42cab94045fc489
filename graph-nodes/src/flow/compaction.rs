//! Keeping a stage's memory short.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::message::Message;
use crate::model::{ChatModel, Request};

/// When and how a stage's memory is made shorter: its older messages are replaced by a summary that a model writes.
/// The state is not touched, and nothing is done unless a stage asks for it.
///
/// It happens when a turn begins in the stage, or another stage leads there, and the history has at least
/// [`minimum`](Self::minimum) messages. At least the latest [`recent`](Self::recent) messages stay word for word, more
/// where a cut would part tool calls from their answers. The summary becomes one system message before them. If the
/// model fails, is too slow, or writes nothing, the history stays as it is, which is told as a warning, and the turn
/// goes on.
///
/// ```
/// use graph_nodes::flow::Compaction;
/// use graph_nodes::model::{ScriptedModel, Turn};
///
/// let model = ScriptedModel::new([Turn::text("The guest wants to go to Oslo.")]);
/// let compaction = Compaction::new(model).minimum(40).recent(10);
/// # let _ = compaction;
/// ```
#[derive(Clone)]
#[must_use]
pub struct Compaction {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) minimum: usize,
    pub(super) recent: usize,
    instruction: Arc<str>,
    pub(super) deadline: Duration,
}

const INSTRUCTION: &str = "Summarise the conversation so far for whoever continues it: wishes, decisions, facts that \
                           tools said, open questions. Keep names, dates and numbers exactly. Write plain text only.";

const MARK: &str = "Summary of the conversation so far: ";

impl Compaction {
    /// Lets this model write summaries: from 16 messages on, keeping the latest 8, in at most 30 seconds.
    pub fn new(model: impl ChatModel) -> Self {
        Self {
            model: Arc::new(model),
            minimum: 16,
            recent: 8,
            instruction: INSTRUCTION.into(),
            deadline: Duration::from_secs(30),
        }
    }

    /// From how many messages on the memory is made shorter (default: 16).
    pub fn minimum(mut self, messages: usize) -> Self {
        self.minimum = messages;
        self
    }

    /// How many of the latest messages stay at least (default: 8). Must be less than the minimum.
    pub fn recent(mut self, messages: usize) -> Self {
        self.recent = messages;
        self
    }

    /// What the model is told to do.
    pub fn instruction(mut self, text: impl Into<String>) -> Self {
        self.instruction = text.into().into();
        self
    }

    /// How long the model may take (default: 30 seconds).
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Why these numbers make no sense.
    pub(super) fn problem(&self) -> Option<String> {
        let Self { minimum, recent, .. } = self;
        (recent >= minimum)
            .then(|| format!("it keeps {recent} messages but begins at {minimum}; keep fewer than it takes to begin"))
    }

    /// How many messages from the beginning a summary replaces; none if there are too few.
    pub(super) fn cut(&self, history: &[Message]) -> Option<usize> {
        if history.len() < self.minimum {
            return None;
        }
        let latest = history.len().checked_sub(self.recent)?;
        // An answer without its call would be an orphan, and a call without its answer unanswered.
        let cut = (0..=latest).rev().find(|at| history.get(*at).is_none_or(|message| message.call_id().is_none()))?;
        // One message alone only gets longer by a summary.
        (cut > 1).then_some(cut)
    }

    pub(super) fn request(&self, old: &[Message]) -> Request {
        let messages = old.iter().cloned().chain([Message::system(&*self.instruction)]);
        Request::new(messages)
    }

    pub(super) fn message(summary: &str) -> Message {
        Message::system(format!("{MARK}{}", summary.trim()))
    }
}

impl fmt::Debug for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compaction")
            .field("model", &self.model.name())
            .field("minimum", &self.minimum)
            .field("recent", &self.recent)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
