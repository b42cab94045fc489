//! The schema of an answer that is a call or a text.

use graph_nodes::model::ToolSpec;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Reply;
use super::place::place;

/// Any of the offered calls, or a reply. Written as structs, because servers make a grammar of it in which the keys have
/// the order of the text, and a model does better when it names the tool before it fills in the arguments.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum CallSchema<'a> {
    One(Top<Alternative<'a>>),
    Any(Top<AnyOf<'a>>),
}

#[derive(Serialize)]
pub(crate) struct Top<T> {
    #[serde(flatten)]
    schema: T,
    #[serde(rename = "$defs", skip_serializing_if = "Map::is_empty")]
    definitions: Map<String, Value>,
}

#[derive(Serialize)]
pub(crate) struct AnyOf<'a> {
    #[serde(rename = "anyOf")]
    alternatives: Vec<Alternative<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Alternative<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Properties<'a>,
    required: &'static [&'static str],
    #[serde(rename = "additionalProperties")]
    additional: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Properties<'a> {
    Call { name: Name<'a>, arguments: Value },
    Reply { reply: Value },
}

#[derive(Serialize)]
struct Name<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "const")]
    name: &'a str,
}

impl<'a> CallSchema<'a> {
    /// Over these tools; with a reply where the model may choose not to call. A reply is a text, or what the schema says.
    pub(crate) fn of(tools: &[&'a ToolSpec], reply: Reply<'_>) -> Self {
        let mut definitions = Map::new();
        let calls = tools.iter().enumerate().map(|(n, tool)| Properties::Call {
            name: Name { kind: "string", name: &tool.name },
            arguments: place(&tool.parameters, &format!("call_{n}"), &mut definitions),
        });
        let mut properties: Vec<Properties<'a>> = calls.collect();
        let reply = match reply {
            Reply::None => None,
            Reply::Text => Some(json!({"type": "string"})),
            Reply::Value(schema) => Some(place(schema, "reply", &mut definitions)),
        };
        properties.extend(reply.map(|reply| Properties::Reply { reply }));
        let mut alternatives: Vec<Alternative<'a>> = properties.into_iter().map(Alternative::of).collect();
        match alternatives.len() {
            1 => Self::One(Top { schema: alternatives.remove(0), definitions }),
            _ => Self::Any(Top { schema: AnyOf { alternatives }, definitions }),
        }
    }
}

impl<'a> Alternative<'a> {
    fn of(properties: Properties<'a>) -> Self {
        let required: &[&str] = match properties {
            Properties::Call { .. } => &["name", "arguments"],
            Properties::Reply { .. } => &["reply"],
        };
        Self { kind: "object", properties, required, additional: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, parameters: Value) -> ToolSpec {
        ToolSpec::new(name, "", parameters)
    }

    #[test]
    fn the_name_comes_before_the_arguments() {
        let search = tool("search", json!({"type": "object"}));
        assert_eq!(
            serde_json::to_string(&CallSchema::of(&[&search], Reply::None)).unwrap(),
            "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"const\":\"search\"},\
             \"arguments\":{\"type\":\"object\"}},\"required\":[\"name\",\"arguments\"],\"additionalProperties\":false}",
        );
    }

    #[test]
    fn any_of_the_calls_or_a_reply() {
        let (search, book) = (tool("search", json!({"type": "object"})), tool("book", json!({"$ref": "#/$defs/A"})));
        let schema = serde_json::to_value(CallSchema::of(&[&search, &book], Reply::Text)).unwrap();
        let call = |name: &str, arguments: Value| {
            json!({
                "type": "object",
                "properties": {"name": {"type": "string", "const": name}, "arguments": arguments},
                "required": ["name", "arguments"],
                "additionalProperties": false,
            })
        };
        let reply = json!({
            "type": "object",
            "properties": {"reply": {"type": "string"}},
            "required": ["reply"],
            "additionalProperties": false,
        });
        let calls = [call("search", json!({"type": "object"})), call("book", json!({"$ref": "#/$defs/call_1"}))];
        assert_eq!(
            schema,
            json!({
                "anyOf": [calls[0], calls[1], reply],
                "$defs": {"call_1": {"$ref": "#/$defs/call_1/$defs/A"}},
            })
        );
    }
}
