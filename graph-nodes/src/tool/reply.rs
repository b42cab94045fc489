//! What a handler hands back: an answer for the model, an update, a route.

use std::fmt;

use graph_engine::{Name, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Artifact, Content};

/// What a handler hands back.
///
/// | part | what becomes of it |
/// | --- | --- |
/// | text or JSON | the tool message that answers this call |
/// | [`artifact`](Self::artifact) | a line of that text, and typed in the same message for whoever shows it |
/// | [`update`](Self::update) | composed with those of the other calls, in request order |
/// | [`go`](Self::go), [`stay`](Self::stay), [`direct`](Self::direct), [`finish`](Self::finish) | at most one is taken a response: see [`ToolRoute`] |
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
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Ok(text.into()), artifacts: Vec::new(), update: None, route: None }
    }

    /// A value for the model, as compact JSON. One that is no JSON is answered as an error of the tool.
    pub fn json(value: impl Serialize) -> Self {
        Self { text: serde_json::to_string(&value), artifacts: Vec::new(), update: None, route: None }
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

    /// What it writes, if it does, for tests of a handler.
    #[must_use]
    pub fn written(&self) -> Option<&S::Update> {
        self.update.as_ref()
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
            .finish()
    }
}
