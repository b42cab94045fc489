//! `#[tool]`: the schema that a model sees, what a function may ask for and return, and the plain call.

use std::sync::Arc;

use graph_engine::{Ctx, Res, Snap, State};
use graph_nodes::message::{Artifact, Content};
use graph_nodes::tool::{
    Args, Call, CallInfo, CancellationToken, Json, Tool, ToolBox, ToolError, ToolReply, ToolRoute, tool, tool_once,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(State, Clone, Default, Debug, PartialEq)]
struct Trip {
    city: String,
}

fn spec_of(tool: &impl Tool<Trip>) -> Value {
    serde_json::to_value(Tool::<Trip>::spec(tool)).unwrap()
}

fn text(reply: &ToolReply<Trip>) -> String {
    match &reply.content().unwrap()[..] {
        [Content::Text { text }, ..] => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Class {
    Budget,
    Luxury,
}

/// Finds hotels.
///
/// Call it once the guest named
/// a city.
///
/// # Errors
/// For people.
#[tool]
async fn search_hotels(
    _: Snap<Trip>,
    /// Where to stay.
    city: String,
    /// Guests,
    ///
    /// children too.
    #[tool(default = 2)]
    guests: u8,
    class: Option<Class>,
    r#type: Vec<String>,
    #[tool(default)] cheap: bool,
) -> String {
    format!("{city} {guests} {class:?} {type:?} {cheap}", r#type = r#type)
}

#[test]
fn the_schema_names_each_argument_of_the_model_and_no_other() {
    assert_eq!(
        spec_of(&search_hotels),
        json!({
            "name": "search_hotels",
            "description": "Finds hotels.\n\nCall it once the guest named\na city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where to stay."},
                    "guests": {
                        "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255,
                        "description": "Guests,\n\nchildren too.", "default": 2,
                    },
                    "class": {"type": ["string", "null"], "enum": ["budget", "luxury", null]},
                    "type": {"type": "array", "items": {"type": "string"}},
                    "cheap": {"type": "boolean", "default": false},
                },
                "required": ["city", "type"],
            },
        })
    );
}

/// Says hello.
#[tool(name = "say-hello", description = "Greets.", concurrency_safe, read_only, confirm)]
async fn greet() -> &'static str {
    "hello"
}

#[test]
fn words_replace_the_name_and_the_comment() {
    let expected = json!({
        "name": "say-hello",
        "description": "Greets.",
        "parameters": {"type": "object", "properties": {}},
    });
    assert_eq!(spec_of(&greet), expected);
}

#[derive(Deserialize, JsonSchema)]
struct Stay {
    /// Nights.
    #[schemars(range(min = 1, max = 30))]
    nights: u8,
    #[serde(default)]
    late: bool,
}

/// Books a room.
#[tool]
async fn book(Args(stay): Args<Stay>, trip: Snap<Trip>) -> String {
    format!("{} nights in {}, late: {}", stay.nights, trip.city, stay.late)
}

#[tokio::test]
async fn one_struct_stands_for_all_arguments() {
    assert_eq!(
        spec_of(&book)["parameters"],
        json!({
            "type": "object",
            "properties": {
                "nights": {"type": "integer", "format": "uint8", "minimum": 1, "maximum": 30, "description": "Nights."},
                "late": {"type": "boolean", "default": false},
            },
            "required": ["nights"],
        })
    );
    let bern = Trip { city: "Bern".into() };
    let reply = tool_once(book, &json!({"nights": 3})).state(bern).run().await.unwrap();
    assert_eq!(text(&reply), "3 nights in Bern, late: false");
}

#[derive(Deserialize, JsonSchema)]
struct Part {
    parts: Vec<Part>,
}

/// Counts parts.
#[tool]
async fn count_parts(part: Part) -> String {
    part.parts.len().to_string()
}

#[tokio::test]
async fn a_type_that_contains_itself_is_a_definition() {
    let parameters = &spec_of(&count_parts)["parameters"];
    assert_eq!(parameters["$defs"]["Part"]["properties"]["parts"]["items"], json!({"$ref": "#/$defs/Part"}));
    let reply = tool_once::<Trip>(count_parts, &json!({"part": {"parts": [{"parts": []}]}})).run().await.unwrap();
    assert_eq!(text(&reply), "1");
}

#[tokio::test]
async fn what_the_model_leaves_out_is_none_or_the_default() {
    let reply = tool_once(search_hotels, &json!({"city": "Bern", "type": []})).run().await.unwrap();
    assert_eq!(text(&reply), "Bern 2 None [] false");
    let all = json!({"city": "Bern", "type": ["inn"], "guests": 3, "class": "luxury", "cheap": true});
    let reply = tool_once(search_hotels, &all).run().await.unwrap();
    assert_eq!(text(&reply), "Bern 3 Some(Luxury) [\"inn\"] true");
}

trait Shop: Send + Sync {
    fn name(&self) -> &'static str;
}

struct Corner;

impl Shop for Corner {
    fn name(&self) -> &'static str {
        "corner"
    }
}

/// Asks for everything.
#[tool]
async fn everything(
    trip: Snap<Trip>,
    shop: Res<dyn Shop>,
    ctx: Ctx,
    token: CancellationToken,
    info: CallInfo,
    call: Call<'static, Trip>,
    item: String,
) -> Json<Value> {
    let same_key = info.idempotency_key == call.idempotency_key();
    Json(json!([trip.city, shop.name(), ctx.attempt(), token.is_cancelled(), info.id, info.tool, same_key, item]))
}

#[tokio::test]
async fn a_function_asks_for_state_resources_context_and_the_call() {
    let oslo = Trip { city: "Oslo".into() };
    let reply = tool_once(everything, &json!({"item": "map"})).state(oslo).provide_arc::<dyn Shop>(Arc::new(Corner));
    let expected = r#"["Oslo","corner",1,false,"test","everything",true,"map"]"#;
    assert_eq!(text(&reply.run().await.unwrap()), expected);
}

#[tokio::test]
async fn arguments_forged_for_what_the_call_provides_are_ignored() {
    let forged = json!({"item": "map", "trip": {"city": "Rome"}, "shop": "mine", "info": {"id": "x"}, "other": 1});
    let oslo = Trip { city: "Oslo".into() };
    let reply = tool_once(everything, &forged).state(oslo).provide_arc::<dyn Shop>(Arc::new(Corner)).run().await;
    assert_eq!(text(&reply.unwrap()), r#"["Oslo","corner",1,false,"test","everything",true,"map"]"#);
    let shown = spec_of(&everything)["parameters"]["properties"].clone();
    assert_eq!(shown, json!({"item": {"type": "string"}}));
}

#[tokio::test]
async fn resources_are_declared_and_named_when_missing() {
    let needs: Vec<_> = Tool::<Trip>::needs(&everything).iter().map(|need| need.type_name()).collect();
    assert_eq!(needs, ["dyn tool_macro::Shop"]);
    let error = tool_once::<Trip>(everything, &json!({"item": "map"})).run().await.unwrap_err();
    assert_eq!(error.to_string(), "nobody provides a `dyn tool_macro::Shop`; call `Runner::provide` or `Turn::with`");
}

/// Saves the city.
#[tool]
async fn capture_city(trip: Snap<Trip>, city: String) -> Result<ToolReply<Trip>, ToolError> {
    if city == trip.city {
        return Err(ToolError::new("that city is saved already").retryable());
    }
    Ok(ToolReply::text("saved").update(Trip::update().city(city)).go("present_agent"))
}

#[tokio::test]
async fn a_reply_writes_and_routes_and_an_error_stays_what_it_is() {
    let reply = tool_once(capture_city, &json!({"city": "Bern"})).run().await.unwrap();
    assert_eq!(text(&reply), "saved");
    assert_eq!(reply.written().unwrap().city.as_deref(), Some("Bern"));
    assert_eq!(reply.route(), Some(&ToolRoute::Go("present_agent".into())));
    let bern = Trip { city: "Bern".into() };
    let error = tool_once(capture_city, &json!({"city": "Bern"})).state(bern).run().await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_retryable()), ("that city is saved already", true));
}

/// Reads a number.
#[tool]
async fn parse(digits: String) -> Result<Json<u32>, std::num::ParseIntError> {
    Ok(Json(digits.parse()?))
}

/// Writes a report.
#[tool]
async fn report() -> Artifact {
    Artifact::new("reports/7").title("May").bytes(12)
}

#[tokio::test]
async fn errors_json_and_artifacts_convert() {
    let reply = tool_once::<Trip>(parse, &json!({"digits": "12"})).run().await.unwrap();
    assert_eq!(text(&reply), "12");
    let error = tool_once::<Trip>(parse, &json!({"digits": "x"})).run().await.unwrap_err();
    assert_eq!(error.to_string(), "invalid digit found in string");
    let reply = tool_once::<Trip>(report, &json!({})).run().await.unwrap();
    let artifact = Artifact::new("reports/7").title("May").bytes(12);
    let line = r#"{"artifact":"reports/7","title":"May","bytes":12}"#;
    assert_eq!(reply.content().unwrap(), [Content::text(line), Content::Artifact { artifact }]);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Code(String);

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.len() == 3 { Ok(Self(text)) } else { Err(format!("`{text}` has not 3 letters")) }
    }
}

/// Flies.
#[tool]
async fn fly(from: Code, to: Code) -> String {
    format!("{} {}", from.0, to.0)
}

#[tokio::test]
async fn all_arguments_that_fit_the_schema_but_not_their_types_are_told_at_once() {
    let error = tool_once::<Trip>(fly, &json!({"from": "x", "to": "yy"})).run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the arguments of `fly` can't be read (at `/from`: `x` has not 3 letters; at `/to`: `yy` has not 3 letters); \
         correct them and call again",
    );
}

#[tokio::test]
async fn the_tool_is_called_like_the_function() {
    let update = capture_city(Trip::default().into(), "Bern".into()).await.unwrap();
    assert_eq!(update.written().unwrap().city.as_deref(), Some("Bern"));
    assert_eq!(greet().await, "hello");

    let token = CancellationToken::new();
    let waiting = wait(token.clone());
    token.cancel();
    assert_eq!(waiting.await, "stopped");

    let as_function: fn() -> _ = *greet;
    assert_eq!(as_function().await, "hello");
}

/// Waits until it is stopped.
#[tool]
async fn wait(token: CancellationToken) -> &'static str {
    token.cancelled().await;
    "stopped"
}

#[test]
fn a_tool_without_state_serves_every_state() {
    #[derive(State, Clone, Default)]
    struct Other {
        name: String,
    }
    let here = ToolBox::<Trip>::builder().tool(greet).tool(wait).tool(capture_city).build().unwrap();
    let there = ToolBox::<Other>::builder().tool(greet).build().unwrap();
    assert_eq!(here.names(), ["say-hello", "wait", "capture_city"]);
    assert_eq!(there.names(), ["say-hello"]);
}

#[tokio::test]
async fn a_tool_may_be_local_and_hold_names_of_its_place() {
    const FACTOR: u32 = 3;
    /// Multiplies.
    #[tool(state = Trip)]
    async fn times(mut number: u32) -> String {
        number *= FACTOR;
        number.to_string()
    }
    assert_eq!(times(2).await, "6");
    assert_eq!(text(&tool_once(times, &json!({"number": 4})).run().await.unwrap()), "12");
}

#[test]
fn words_promise_what_the_trait_asks() {
    let promises = |tool: &dyn Tool<Trip>| {
        let none = serde_json::Map::new();
        (tool.concurrency_safe(&none), tool.read_only(), tool.confirm(&none).is_some())
    };
    assert_eq!((promises(&greet), promises(&wait)), ((true, true, true), (false, false, false)));
}
