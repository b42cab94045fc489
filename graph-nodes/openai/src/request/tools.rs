//! Tools and structured output on the wire.

use graph_nodes::model::ToolSpec;
use serde::Serialize;
use serde_json::Value;

use crate::schema::CallSchema;

#[derive(Serialize)]
pub(super) struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> WireTool<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.parameters };
        Self { kind: "function", function }
    }
}

/// The form that the text has to have.
#[derive(Serialize)]
pub(super) struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    schema: Schema<'a>,
    /// Left out when it isn't wanted: some servers don't know it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Schema<'a> {
    Given(&'a Value),
    Calls(CallSchema<'a>),
}

impl<'a> ResponseFormat<'a> {
    /// What the request asks for.
    pub(super) fn given(schema: &'a Value, strict: bool) -> Self {
        Self::new("response", Schema::Given(schema), strict)
    }

    /// A call or a reply.
    pub(super) fn calls(schema: CallSchema<'a>, strict: bool) -> Self {
        Self::new("call", Schema::Calls(schema), strict)
    }

    fn new(name: &'static str, schema: Schema<'a>, strict: bool) -> Self {
        Self { kind: "json_schema", json_schema: JsonSchema { name, schema, strict } }
    }
}
