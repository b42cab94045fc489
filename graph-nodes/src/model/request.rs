//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::canonical::canonical;
use super::{ModelError, ToolChoice, ToolSpec};
use crate::message::Message;

/// One request to a model. Holds nothing that belongs to a provider or a
/// connection.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{Request, ToolSpec};
/// use serde_json::json;
///
/// let request = Request::new([Message::user("Is it warm in Bern?")])
///     .with_tools([ToolSpec::new("weather", "The weather in a city.", json!({"type": "object"}))])
///     .with_parameter("temperature", 0);
/// assert_eq!(request.messages.len(), 1);
/// assert_eq!(request.parameters["temperature"], 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Which of the provider's models to use; its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call them.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The JSON schema that the text of the response has to match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// Further parameters, passed on as they are: temperature, seed, token limit.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

impl Request {
    /// A request without tools.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self { messages: messages.into_iter().collect(), ..Self::default() }
    }

    /// Names the provider's model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Sets the tool choice.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Asks for structured output.
    #[must_use]
    pub fn with_response_schema(mut self, schema: Value) -> Self {
        self.response_schema = Some(schema);
        self
    }

    /// Sets a further parameter.
    #[must_use]
    pub fn with_parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Whether the messages are such that a provider can be sent them at all. The models of this crate ask before
    /// anything else; an adapter does the same.
    ///
    /// ```
    /// use graph_nodes::message::Message;
    /// use graph_nodes::model::Request;
    ///
    /// assert!(Request::new([Message::user("hi")]).check().is_ok());
    /// assert!(Request::new([Message::removal("m1")]).check().is_err());
    /// ```
    ///
    /// # Errors
    /// [`ModelError::StrayRemoval`]: an order to remove a message was not carried out. Everything else about a history
    /// is the business of [`check_history`](crate::message::check_history).
    pub fn check(&self) -> Result<(), ModelError> {
        match self.messages.iter().position(Message::is_removal) {
            None => Ok(()),
            Some(message) => Err(ModelError::StrayRemoval { message }),
        }
    }

    /// The request as JSON text that is the same for equal requests, whatever
    /// order the keys were inserted in and whatever features `serde_json` was
    /// built with: object keys are sorted by code point, without white space.
    ///
    /// ```
    /// use graph_nodes::message::Message;
    /// use graph_nodes::model::Request;
    ///
    /// let request = Request::new([Message::user("hi")]).with_parameter("b", 1).with_parameter("a", 2);
    /// assert_eq!(
    ///     request.canonical_json(),
    ///     r#"{"messages":[{"content":"hi","role":"user"}],"parameters":{"a":2,"b":1},"tool_choice":"auto"}"#,
    /// );
    /// ```
    pub fn canonical_json(&self) -> String {
        // Every map in a request has string keys and every number comes from
        // JSON or an integer: the two ways for this to fail.
        canonical(&serde_json::to_value(self).expect("a request is plain JSON"))
    }
}
