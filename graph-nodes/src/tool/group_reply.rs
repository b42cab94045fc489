//! What a group handler hands back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use graph_engine::{Name, State};
use serde::Serialize;
use serde_json::Value;

use super::{GroupCalls, GroupReplyError, ToolReply, ToolRoute};
use crate::message::Message;

/// What a group handler hands back: one reply for all calls, and where wanted an own text for some of them.
///
/// Update, route, prompt, messages and content type take effect once. Every call is answered: with its own text, or
/// else with the shared one. A text for a call that isn't of the group is an error ([`GroupReplyError::UnknownCall`]),
/// told as the failure of the whole group.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::GroupReply;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let reply = GroupReply::<Trip>::text("both compared")
///     .answer("call_1", "the Inn: 120")
///     .update(Trip::update().city("Oslo"))
///     .go("present_agent");
/// assert_eq!(reply.text_of("call_1").unwrap(), "the Inn: 120");
/// assert_eq!(reply.text_of("call_2").unwrap(), "both compared");
/// ```
#[must_use = "a reply does nothing until the handler returns it"]
pub struct GroupReply<S: State> {
    pub(crate) shared: ToolReply<S>,
    texts: BTreeMap<String, Result<String, serde_json::Error>>,
}

impl<S: State> GroupReply<S> {
    /// A text that answers every call without a text of its own.
    pub fn text(text: impl Into<String>) -> Self {
        ToolReply::text(text).into()
    }

    /// The same with a value, as compact JSON. One that is no JSON is answered as an error of the group.
    pub fn json(value: impl Serialize) -> Self {
        ToolReply::json(value).into()
    }

    /// The text that answers this call alone.
    pub fn answer(mut self, call_id: impl Into<String>, text: impl Into<String>) -> Self {
        self.texts.insert(call_id.into(), Ok(text.into()));
        self
    }

    /// The same with a value, as compact JSON.
    pub fn answer_json(mut self, call_id: impl Into<String>, value: impl Serialize) -> Self {
        self.texts.insert(call_id.into(), serde_json::to_string(&value));
        self
    }

    /// Writes state, once for all calls. A second update comes after the first.
    pub fn update(self, update: S::Update) -> Self {
        self.with(|shared| shared.update(update))
    }

    /// Goes to another node.
    pub fn go(self, to: impl Into<Name>) -> Self {
        self.with(|shared| shared.go(to))
    }

    /// Asks the stage's model again; the feedback takes the place of the shared text.
    pub fn stay(self, feedback: impl Into<String>) -> Self {
        self.with(|shared| shared.stay(feedback))
    }

    /// Replies to the caller without another model call.
    pub fn direct(self, reply: impl Into<Value>) -> Self {
        self.with(|shared| shared.direct(reply))
    }

    /// Replies to the caller and completes the thread.
    pub fn finish(self, reply: impl Into<Value>) -> Self {
        self.with(|shared| shared.finish(reply))
    }

    /// Replaces the prompt of the destination's next round: see [`ToolReply::prompt`].
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        self.with(|shared| shared.prompt(prompt))
    }

    /// Adds a message after the answers: see [`ToolReply::message`].
    pub fn message(self, message: Message) -> Self {
        self.with(|shared| shared.message(message))
    }

    /// The content type of a direct reply: see [`ToolReply::content_type`].
    pub fn content_type(self, content_type: impl Into<String>) -> Self {
        self.with(|shared| shared.content_type(content_type))
    }

    /// Marks that nothing was found: see [`ToolReply::unproductive`].
    pub fn unproductive(self) -> Self {
        self.with(ToolReply::unproductive)
    }

    /// The route, if there is one.
    #[must_use]
    pub fn route(&self) -> Option<&ToolRoute> {
        self.shared.route()
    }

    /// What answers this call: its own text, or the shared one with its artifacts.
    ///
    /// # Errors
    /// If the value is no JSON.
    pub fn text_of(&self, call_id: &str) -> Result<String, &serde_json::Error> {
        match self.texts.get(call_id) {
            Some(Ok(text)) => Ok(text.clone()),
            Some(Err(error)) => Err(error),
            None => self.shared.model_text(),
        }
    }

    /// Checks that every text is for a call of the group.
    ///
    /// # Errors
    /// [`GroupReplyError::UnknownCall`] for the first one that isn't.
    pub fn check(&self, calls: &GroupCalls<'_, S>) -> Result<(), GroupReplyError> {
        let known: BTreeSet<&str> = calls.ids().collect();
        match self.texts.keys().find(|id| !known.contains(id.as_str())) {
            Some(id) => Err(GroupReplyError::UnknownCall {
                call_id: id.clone(),
                known: calls.ids().map(str::to_owned).collect(),
            }),
            None => Ok(()),
        }
    }

    fn with(mut self, change: impl FnOnce(ToolReply<S>) -> ToolReply<S>) -> Self {
        self.shared = change(self.shared);
        self
    }
}

impl<S: State> From<ToolReply<S>> for GroupReply<S> {
    fn from(shared: ToolReply<S>) -> Self {
        Self { shared, texts: BTreeMap::new() }
    }
}

impl<S: State> fmt::Debug for GroupReply<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupReply").field("shared", &self.shared).field("texts", &self.texts).finish()
    }
}
