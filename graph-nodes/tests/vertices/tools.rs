//! Arguments are checked before a handler runs; what a handler is given.

use graph_engine::RunError;
use graph_nodes::message::ToolCall;
use graph_nodes::model::Turn;
use graph_nodes::tool::{FnTool, ToolReply, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{NoArgs, Ran, Stage, Trip, calls, transcript};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Where.
    city: String,
    stay: Stay,
    #[serde(default)]
    rooms: Vec<Room>,
}

#[derive(Deserialize, JsonSchema)]
struct Stay {
    #[schemars(range(min = 1, max = 30))]
    nights: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Room {
    Single,
    Suite,
}

fn search() -> FnTool<Trip> {
    tool::<Trip, Search>("search", "Finds hotels.", |args: Search, call| async move {
        let rooms = args.rooms.iter().filter(|room| matches!(room, Room::Suite)).count();
        Ok(ToolReply::text(format!("{} {} {rooms} {}", args.city, args.stay.nights, call.state().history.len())))
    })
}

async fn answer(arguments: &str) -> String {
    let ran = Stage::tools([search()])
        .turn([Turn::calls([ToolCall::from_text("1", "search", arguments)]), Turn::text("done")])
        .await;
    transcript(ran.state())[2].clone()
}

#[tokio::test(start_paused = true)]
async fn good_arguments_reach_the_handler() {
    let text = answer(r#"{"city": "Oslo", "stay": {"nights": 3}, "rooms": ["suite", "single"]}"#).await;
    assert_eq!(text, "tool 1: Oslo 3 1 1");
}

#[tokio::test(start_paused = true)]
async fn n2_faults_name_each_place_and_what_was_expected() {
    let text = answer(r#"{"stay": {"nights": "3"}, "rooms": ["attic"], "pets": true}"#).await;
    assert_eq!(
        text,
        "tool 1 failed: the arguments of `search` don't fit its schema: \
         at `/city`: missing, but required; \
         at `/pets`: not known here; leave it out; \
         at `/rooms/0`: expected one of \"single\", \"suite\", found the text \"attic\"; \
         at `/stay/nights`: expected an integer, found the text \"3\"; correct them and call again",
    );
    let text = answer(r#"{"city": "Oslo", "stay": {"nights": 0}}"#).await;
    assert!(text.contains("at `/stay/nights`: expected at least 1, found 0"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_no_object_are_answered_and_nothing_is_repaired() {
    let expected = "tool 1 failed: the arguments are not valid JSON \
                    (EOF while parsing a string at line 1 column 14); send one complete JSON object";
    assert_eq!(answer(r#"{"city": "Oslo"#).await, expected);
    assert_eq!(answer("[]").await, "tool 1 failed: the arguments are an array; send one JSON object");
}

#[tokio::test(start_paused = true)]
async fn s22_blank_arguments_are_an_empty_object() {
    let ping =
        tool::<Trip, NoArgs>("ping", "Pings.", |_, call| async move { Ok(call.arguments().len().to_string().into()) });
    let turns = [Turn::calls([ToolCall::from_text("1", "ping", "")]), Turn::text("done")];
    let ran = Stage::tools([ping]).turn(turns).await;
    assert_eq!(transcript(ran.state())[2], "tool 1: 0");
}

#[derive(Deserialize, JsonSchema)]
struct Loose {
    #[schemars(with = "String")]
    night: u32,
}

#[tokio::test(start_paused = true)]
async fn a_type_that_is_narrower_than_its_schema_is_an_error_for_the_model() {
    let loose =
        tool::<Trip, Loose>("loose", "Loose.", |args: Loose, _| async move { Ok(args.night.to_string().into()) });
    let call = ToolCall::from_text("1", "loose", r#"{"night": "x"}"#);
    let ran = Stage::tools([loose]).turn([Turn::calls([call]), Turn::text("done")]).await;
    assert_eq!(
        transcript(ran.state())[2],
        "tool 1 failed: the arguments of `loose` can't be read \
         (invalid type: string \"x\", expected u32); correct them and call again",
    );
}

struct Catalogue(&'static str);

fn lookup() -> FnTool<Trip> {
    tool::<Trip, NoArgs>("lookup", "Looks up.", |_, call| async move {
        let catalogue = call.resource::<Catalogue>()?;
        let key = call.idempotency_key();
        Ok(ToolReply::text(format!("{} {} {} {key}", catalogue.0, call.id(), call.name())))
    })
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_given_resources_ids_and_a_key_for_effects() {
    let model = graph_nodes::model::ScriptedModel::new([calls([("1", "lookup")]), Turn::text("done")]);
    let runner = Stage::tools([lookup()]).runner(&model).provide(Catalogue("hotels"));
    let end = crate::support::say(&runner.thread("t")).await.unwrap();
    let text = &transcript(&end.state)[2];
    assert!(text.starts_with("tool 1: hotels 1 lookup t/"), "{text}");
    assert!(text.ends_with("/1"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_resource_is_an_error_and_a_declared_one_is_found_before_the_turn() {
    let turns = || [calls([("1", "lookup")]), Turn::text("done")];
    let ran: Ran = Stage::tools([lookup()]).turn(turns()).await;
    let text = &transcript(ran.state())[2];
    assert!(text.starts_with("tool 1 failed: nobody provides a `"), "{text}");

    let ran = Stage::tools([lookup().needs::<Catalogue>()]).turn(turns()).await;
    assert!(matches!(&**ran.error(), RunError::MissingResource { node, .. } if *node == "tools"));
    assert_eq!(ran.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn handlers_see_the_state_that_the_step_began_with() {
    let write = tool::<Trip, NoArgs>("write", "Writes.", |_, _| async {
        Ok(ToolReply::text("ok").update(Trip::update().city("Oslo")))
    });
    let read =
        tool::<Trip, NoArgs>("read", "Reads.", |_, call| async move { Ok(format!("`{}`", call.state().city).into()) });
    let turns = [calls([("1", "write"), ("2", "read")]), calls([("3", "read")]), Turn::text("done")];
    let ran = Stage::tools([write, read]).turn(turns).await;
    let lines = transcript(ran.state());
    assert_eq!((lines[3].as_str(), lines[5].as_str()), ("tool 2: ``", "tool 3: `Oslo`"));
}

#[tokio::test(start_paused = true)]
async fn no_copy_of_the_state_is_left_behind() {
    let model = graph_nodes::model::ScriptedModel::new([calls([("1", "search")]), Turn::text("done")]);
    let runner = Stage::tools([search()]).runner(&model);
    let end = crate::support::say(&runner.thread("t")).await.unwrap();
    assert_eq!(end.report.copies, 0);
}
