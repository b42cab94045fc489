//! The whole body of a request.

use graph_nodes::model::{ModelError, Request};
use serde::Serialize;
use serde_json::{Map, Value};

use super::choice::Offer;
use super::json_history::{self, Form};
use super::messages::{WireMessage, messages};
use super::parameters::check_parameters;
use super::tools::{ResponseFormat, WireTool};
use crate::ToolMode;
use crate::schema::{CallReader, CallSchema, Reply, instructions};

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
    /// What the answer may be besides a call, if calls come as JSON.
    #[serde(skip)]
    json_reply: Option<Reply<'a>>,
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
        let schema = request.response_schema.as_ref();
        let given = schema.map(|schema| ResponseFormat::given(schema, dialect.strict));
        let mut body = Self {
            model: request.model.as_deref().unwrap_or(model),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            response_format: given,
            stream: dialect.streaming,
            stream_options: (dialect.streaming && dialect.stream_usage)
                .then_some(StreamOptions { include_usage: true }),
            parameters: &request.parameters,
            json_reply: None,
        };
        match (dialect.tool_mode, offer.json_reply(schema)) {
            (ToolMode::Native, _) => {
                body.messages = messages(&request.messages, dialect.reasoning);
                body.tool_choice = offer.choice_word();
                body.tools = offer.tools.into_iter().map(WireTool::of).collect();
            }
            (ToolMode::Schema, None) => {
                body.messages = json_history::messages(&request.messages, &Form::Words, dialect.reasoning);
            }
            (ToolMode::Schema, Some(reply)) => {
                let form = Form::Object {
                    instructions: instructions(&offer.tools, reply),
                    is_value: matches!(reply, Reply::Value(_)),
                };
                body.messages = json_history::messages(&request.messages, &form, dialect.reasoning);
                body.response_format = Some(ResponseFormat::calls(CallSchema::of(&offer.tools, reply), dialect.strict));
                body.json_reply = Some(reply);
            }
        }
        check_parameters(request, body.response_format.is_some())?;
        Ok(body)
    }

    /// What reads the answer, if calls come as JSON.
    pub(crate) fn call_reader(&self) -> Option<CallReader> {
        self.json_reply.map(CallReader::new)
    }
}
