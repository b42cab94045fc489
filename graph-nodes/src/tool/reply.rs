//! What a handler hands back: an answer for the model, an update, a route.

use std::fmt;

use graph_engine::{Name, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Artifact, Content, Message};

/// What a handler hands back.
///
/// | part | what becomes of it |
/// | --- | --- |
/// | text or JSON | the tool message that answers this call |
/// | [`artifact`](Self::artifact) | a line of that text, and typed in the same message for whoever shows it |
/// | [`update`](Self::update) | composed with those of the other calls, in request order |
/// | [`go`](Self::go), [`stay`](Self::stay), [`direct`](Self::direct), [`finish`](Self::finish) | at most one is taken a response: see [`ToolRoute`] |
/// | [`prompt`](Self::prompt) | the prompt of the destination's next round |
/// | [`message`](Self::message) | enters the history after all tool messages |
/// | [`content_type`](Self::content_type) | goes along with the reply of a direct or finish |
/// | [`unproductive`](Self::unproductive) | a success that is no [evidence](crate::stage::RequireEvidence) |
///
/// All of it takes effect in one update of the state, whatever the order in which a handler names the parts. Its
/// fields are private and [`ToolRoute`] may grow, so that a handler can only ever hand back a finished answer: a tool
/// that has to ask a person pauses through its [`Call`](super::Call::interrupt), and no value of this type stands for
/// "not yet".
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{ToolReply, ToolRoute};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let reply = ToolReply::<Trip>::text("saved").update(Trip::update().city("Oslo")).go("present_agent");
/// assert_eq!(reply.route(), Some(&ToolRoute::Go("present_agent".into())));
/// ```
#[must_use = "a reply does nothing until the handler returns it"]
pub struct ToolReply<S: State> {
    pub(crate) text: Result<String, serde_json::Error>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) update: Option<S::Update>,
    pub(crate) route: Option<ToolRoute>,
    pub(crate) extras: Extras,
}

/// What few replies have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extras {
    pub(crate) prompt: Option<String>,
    pub(crate) messages: Vec<Message>,
    pub(crate) content_type: Option<String>,
    pub(crate) unproductive: bool,
}

/// What a handler said, or why there is nothing.
pub(crate) type Answer<S> = Result<ToolReply<S>, super::ToolError>;

/// Where a handler wants to go. Of several in one response finish beats all, then the first go or direct in request
/// order, then stay.
///
/// ```
/// use graph_nodes::tool::ToolRoute;
///
/// let route = ToolRoute::Go("present_agent".into());
/// assert_eq!(serde_json::to_string(&route).unwrap(), r#"{"go":"present_agent"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolRoute {
    /// To this node, which [`ToolsNode::targets`](crate::stage::ToolsNode::targets) declares.
    Go(Name),
    /// To the stage's model again.
    Stay,
    /// The caller gets this reply, without another model call.
    Direct(Value),
    /// The caller gets this reply, and the thread is complete.
    Finish(Value),
}

impl<S: State> ToolReply<S> {
    fn of(text: Result<String, serde_json::Error>) -> Self {
        Self { text, artifacts: Vec::new(), update: None, route: None, extras: Extras::default() }
    }

    /// The text of a reply that has nothing to say.
    pub const VALIDATED: &str = "input validated";

    /// Asks the stage's model again with the text [`VALIDATED`](Self::VALIDATED).
    pub fn validated() -> Self {
        Self::text("").stay(Self::VALIDATED)
    }

    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Ok(text.into()))
    }

    /// A value for the model, as compact JSON. One that is no JSON is answered as an error of the tool.
    pub fn json(value: impl Serialize) -> Self {
        Self::of(serde_json::to_string(&value))
    }

    /// Refers to something that is stored elsewhere: one more line for the model, and a
    /// [`Content::Artifact`] for whoever shows the message.
    ///
    /// ```
    /// # use graph_engine::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String }
    /// use graph_nodes::message::{Artifact, Content};
    /// use graph_nodes::tool::ToolReply;
    ///
    /// let report = Artifact::new("reports/7").media_type("text/csv");
    /// let reply = ToolReply::<Trip>::text("12 hotels").artifact(report.clone());
    /// let text = "12 hotels\n{\"artifact\":\"reports/7\",\"media_type\":\"text/csv\"}";
    /// assert_eq!(reply.content().unwrap(), [Content::text(text), Content::Artifact { artifact: report }]);
    /// ```
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.push(artifact);
        self
    }

    /// Writes state. A second update of the same reply comes after the first.
    pub fn update(mut self, update: S::Update) -> Self {
        self.update = Some(match self.update {
            Some(first) => S::compose(first, update),
            None => update,
        });
        self
    }

    /// Goes to another node.
    pub fn go(mut self, to: impl Into<Name>) -> Self {
        self.route = Some(ToolRoute::Go(to.into()));
        self
    }

    /// Asks the stage's model again; the feedback takes the place of the text.
    pub fn stay(mut self, feedback: impl Into<String>) -> Self {
        self.text = Ok(feedback.into());
        self.route = Some(ToolRoute::Stay);
        self
    }

    /// Replies to the caller without another model call. The reply also enters the history, as words of the
    /// assistant.
    pub fn direct(mut self, reply: impl Into<Value>) -> Self {
        self.route = Some(ToolRoute::Direct(reply.into()));
        self
    }

    /// Replies to the caller and completes the thread. The reply also enters the history, as words of the assistant.
    pub fn finish(mut self, reply: impl Into<Value>) -> Self {
        self.route = Some(ToolRoute::Finish(reply.into()));
        self
    }

    /// What the tool message will hold, for tests of a handler.
    ///
    /// # Errors
    /// If the value of [`json`](Self::json) is no JSON.
    pub fn content(&self) -> Result<Vec<Content>, &serde_json::Error> {
        let text = self.model_text()?;
        let text = (!text.is_empty()).then(|| Content::text(text));
        let artifacts = self.artifacts.iter().map(|artifact| Content::Artifact { artifact: artifact.clone() });
        Ok(text.into_iter().chain(artifacts).collect())
    }

    /// What the model reads: the text, then a line for each artifact.
    pub(crate) fn model_text(&self) -> Result<String, &serde_json::Error> {
        let mut text = self.text.as_ref()?.clone();
        for artifact in &self.artifacts {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&artifact.to_string());
        }
        Ok(text)
    }

    /// Whether it leads nowhere else: a text says all of it then.
    pub(crate) fn stays(&self) -> bool {
        matches!(self.route, None | Some(ToolRoute::Stay))
    }

    /// Tells the model something more.
    pub(crate) fn noted(mut self, note: &str) -> Self {
        self.text = self.text.map(|text| if text.is_empty() { note.to_owned() } else { format!("{text}\n{note}") });
        self
    }

    /// What it writes, if it does, for tests of a handler.
    #[must_use]
    pub fn written(&self) -> Option<&S::Update> {
        self.update.as_ref()
    }

    /// Replaces the prompt of the destination's next round: of the node that the reply goes to, or of the stage's own
    /// agent. It counts for all attempts of that one round. Without effect when the thread is finished, or when the
    /// route of another call is followed to another place. Of several for one destination the last one counts.
    ///
    /// ```
    /// # use graph_engine::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String }
    /// use graph_nodes::tool::ToolReply;
    ///
    /// let reply = ToolReply::<Trip>::text("saved").go("present_agent").prompt("Show the three cheapest hotels.");
    /// # let _ = reply;
    /// ```
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.extras.prompt = Some(prompt.into());
        self
    }

    /// Adds a message to the history, after the tool messages of all calls. One of a tool or with
    /// calls, a removal, and one that has the id of a call's or an answer's message, break the rules of a history: the
    /// reply is then answered as an error of the tool and has no other effect.
    pub fn message(mut self, message: Message) -> Self {
        self.extras.messages.push(message);
        self
    }

    /// The content type of the reply of a direct or finish: the caller gets a [`TypedReply`](super::TypedReply).
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.extras.content_type = Some(content_type.into());
        self
    }

    /// Marks a success that found nothing: no [evidence](crate::stage::RequireEvidence) for an answer.
    pub fn unproductive(mut self) -> Self {
        self.extras.unproductive = true;
        self
    }

    /// The route, if there is one.
    #[must_use]
    pub fn route(&self) -> Option<&ToolRoute> {
        self.route.as_ref()
    }
}

impl<S: State> From<&str> for ToolReply<S> {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl<S: State> From<String> for ToolReply<S> {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl<S: State> fmt::Debug for ToolReply<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolReply")
            .field("text", &self.text)
            .field("artifacts", &self.artifacts)
            .field("writes", &self.update.is_some())
            .field("route", &self.route)
            .field("extras", &self.extras)
            .finish()
    }
}
