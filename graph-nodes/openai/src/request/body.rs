//! The whole body of a request.

use graph_nodes::model::{ModelError, Request};
use serde::Serialize;
use serde_json::{Map, Value};

use super::choice::Offer;
use super::messages::{WireMessage, messages};
use super::parameters::check_parameters;
use super::tools::{ResponseFormat, WireTool};
use crate::ToolMode;

/// What a server understands, and how it is spoken to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) tool_mode: ToolMode,
    pub(crate) streaming: bool,
    /// Whether tokens are asked for in a stream.
    pub(crate) stream_usage: bool,
    /// Whether reasoning of earlier answers is sent back.
    pub(crate) reasoning: bool,
    /// Whether schemas are to be kept to the letter.
    pub(crate) strict: bool,
}

/// The body of a request. Parameters come last, so that what a reader looks for stands in front.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    parameters: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Body<'a> {
    /// Converts a request, or says why it can't be answered.
    pub(crate) fn of(request: &'a Request, model: &'a str, dialect: Dialect) -> Result<Self, ModelError> {
        request.check()?;
        if request.messages.is_empty() {
            return Err(ModelError::unsendable("it has no messages"));
        }
        let offer = Offer::of(request)?;
        let response_format = request
            .response_schema
            .as_ref()
            .map(|schema| ResponseFormat::json_schema("response", schema, dialect.strict));
        check_parameters(request, response_format.is_some())?;
        Ok(Self {
            model: request.model.as_deref().unwrap_or(model),
            messages: messages(&request.messages, dialect.reasoning),
            tool_choice: offer.choice_word(),
            tools: offer.tools.into_iter().map(WireTool::of).collect(),
            response_format,
            stream: dialect.streaming,
            stream_options: (dialect.streaming && dialect.stream_usage)
                .then_some(StreamOptions { include_usage: true }),
            parameters: &request.parameters,
        })
    }
}
