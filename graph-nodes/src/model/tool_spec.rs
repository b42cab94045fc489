//! What a model is told about tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as a model is told of it.
///
/// ```
/// use graph_nodes::model::ToolSpec;
/// use serde_json::json;
///
/// let spec = ToolSpec::new("weather", "The weather in a city.", json!({"type": "object"}));
/// assert_eq!(spec.name, "weather");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name that a call has to use.
    pub name: String,
    /// What the tool does and when to use it.
    pub description: String,
    /// The JSON schema of the arguments.
    pub parameters: Value,
}

impl ToolSpec {
    /// A tool from its three parts.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }
}

/// Whether the model may, must or must not call tools.
///
/// A wish and no guarantee: some servers ignore it, so a stage that relies on
/// it checks the response.
///
/// ```
/// use graph_nodes::model::ToolChoice;
///
/// assert_eq!(serde_json::to_string(&ToolChoice::Required).unwrap(), "\"required\"");
/// assert_eq!(serde_json::to_string(&ToolChoice::Named("f".into())).unwrap(), "{\"named\":\"f\"}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No calls.
    None,
    /// At least one call.
    Required,
    /// A call of this tool.
    Named(String),
}
