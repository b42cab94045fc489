//! What a model is told of arguments that don't fit: the place, what was expected, what was found.

use graph_engine::{State, async_trait};
use graph_nodes::model::ToolSpec;
use graph_nodes::tool::{Call, Tool, ToolError, ToolReply, tool_once};
use serde_json::{Value, json};

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

struct Checked(ToolSpec);

#[async_trait]
impl Tool<Trip> for Checked {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Call<'_, Trip>) -> Result<ToolReply<Trip>, ToolError> {
        Ok("fits".into())
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1, "maxLength": 5},
            "nights": {"type": "integer", "minimum": 1, "maximum": 30},
            "price": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9.5, "multipleOf": 0.5},
            "class": {"enum": ["budget", "luxury", null]},
            "unit": {"const": "EUR"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "guests": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": {"type": "object",
                "properties": {"name": {"type": "string"}}, "required": ["name"]}},
            "room": {"type": ["string", "null"]},
            "stay": {"anyOf": [
                {"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]},
                {"type": "null"},
            ]},
            "a/b": {"type": "object", "required": ["c~d"]},
        },
        "required": ["city"],
        "additionalProperties": false,
    })
}

/// Arguments, and what is said of them.
const FAULTS: &[(&str, &str)] = &[
    (r#"{}"#, "at `/city`: missing, but required"),
    (r#"{"city": 7}"#, "at `/city`: expected a string, found 7"),
    (r#"{"city": null}"#, "at `/city`: expected a string, found null"),
    (r#"{"city": ["Oslo"]}"#, r#"at `/city`: expected a string, found the list ["Oslo"]"#),
    (r#"{"city": {"name": "Oslo"}}"#, r#"at `/city`: expected a string, found the object {"name":"Oslo"}"#),
    (r#"{"city": ""}"#, r#"at `/city`: expected at least 1 character, found the text """#),
    (r#"{"city": "Odense"}"#, r#"at `/city`: expected at most 5 characters, found the text "Odense""#),
    (r#"{"city": "Oslo", "nights": "3"}"#, r#"at `/nights`: expected an integer, found the text "3""#),
    (r#"{"city": "Oslo", "nights": 2.5}"#, "at `/nights`: expected an integer, found 2.5"),
    (r#"{"city": "Oslo", "nights": 0}"#, "at `/nights`: expected at least 1, found 0"),
    (r#"{"city": "Oslo", "nights": 31}"#, "at `/nights`: expected at most 30, found 31"),
    (r#"{"city": "Oslo", "price": 0}"#, "at `/price`: expected more than 0, found 0"),
    (r#"{"city": "Oslo", "price": 9.5}"#, "at `/price`: expected less than 9.5, found 9.5"),
    (r#"{"city": "Oslo", "price": 1.2}"#, "at `/price`: expected a multiple of 0.5, found 1.2"),
    (
        r#"{"city": "Oslo", "class": "grand"}"#,
        r#"at `/class`: expected one of "budget", "luxury", null, found the text "grand""#,
    ),
    (r#"{"city": "Oslo", "unit": "USD"}"#, r#"at `/unit`: expected "EUR", found the text "USD""#),
    (
        r#"{"city": "Oslo", "code": "osl"}"#,
        r#"at `/code`: expected a text that matches `^[A-Z]{3}$`, found the text "osl""#,
    ),
    (r#"{"city": "Oslo", "guests": []}"#, "at `/guests`: expected at least 1 item, found 0"),
    (r#"{"city": "Oslo", "guests": [{}]}"#, "at `/guests/0/name`: missing, but required"),
    (
        r#"{"city": "Oslo", "guests": [{"name": "A"}, {"name": "A"}]}"#,
        r#"at `/guests`: expected items that differ, found the list [{"name":"A"},{"name":"A"}]"#,
    ),
    (r#"{"city": "Oslo", "room": 1}"#, "at `/room`: expected null or a string, found 1"),
    (
        r#"{"city": "Oslo", "stay": {"nights": "3"}}"#,
        "at `/stay`: none of the alternatives fits: (at `/nights`: expected an integer, found the text \"3\") or \
         (expected null, found the object {\"nights\":\"3\"})",
    ),
    (r#"{"city": "Oslo", "a/b": {}}"#, "at `/a~1b/c~0d`: missing, but required"),
    (
        r#"{"city": "Oslo", "shop": 1, "car": 2}"#,
        "at `/car`: not known here; leave it out; at `/shop`: not known here; leave it out",
    ),
    (r#"{"nights": 0}"#, "at `/city`: missing, but required; at `/nights`: expected at least 1, found 0"),
];

async fn told(arguments: &Value) -> String {
    let tool = Checked(ToolSpec::new("book", "Books.", schema()));
    match tool_once(tool, arguments).run().await {
        Ok(reply) => format!("{:?}", reply.content().unwrap()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn each_fault_names_its_place_what_was_expected_and_what_was_found() {
    let mut wrong = Vec::new();
    for (arguments, expected) in FAULTS {
        let expected = format!("the arguments of `book` don't fit its schema: {expected}; correct them and call again");
        let told = told(&serde_json::from_str(arguments).unwrap()).await;
        if told != expected {
            wrong.push(format!("{arguments}\n  told     {told}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_large_value_is_cut_in_the_message() {
    let told = told(&json!({"city": "ö".repeat(1_000_000)})).await;
    let expected = format!(
        "the arguments of `book` don't fit its schema: at `/city`: expected at most 5 characters, \
         found the text \"{}..; correct them and call again",
        "ö".repeat(79)
    );
    assert_eq!(told, expected);
}

#[tokio::test]
async fn arguments_that_fit_reach_the_tool() {
    let fits = json!({"city": "Oslo", "nights": 3, "price": 1.5, "class": null, "stay": {"nights": 1}});
    assert_eq!(told(&fits).await, "[Text { text: \"fits\" }]");
}

#[tokio::test]
async fn a_million_wrong_items_are_told_in_a_short_text() {
    let ids = json!({"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}});
    let tool = Checked(ToolSpec::new("lookup", "Looks ids up.", ids));
    let error = tool_once(tool, &json!({"ids": vec![1; 1_000_000]})).run().await.unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with("; and 999980 more; correct them and call again"), "{}", &text[text.len() - 60..]);
    assert!(text.len() < 2_000, "{}", text.len());
}
