//! What is refused when groups are declared, and what a group may return.

use graph_nodes::model::Turn;
use graph_nodes::tool::{
    GroupKey, GroupReply, GroupReplyError, ToolBox, ToolBoxError, ToolBoxWarning, ToolRoute, group,
};
use serde_json::{Value, json};

use crate::office::{Log, office, three};
use crate::support::{Stage, Trip, calls, fixed, transcript};

fn declared(groups: &[&[&str]]) -> Result<ToolBox<Trip>, ToolBoxError> {
    let names = ["a", "b", "c"];
    let tools = names.iter().fold(ToolBox::builder(), |all, name| all.tool(fixed(name, || Ok("x".into()))));
    let of = || group(|_| async { Ok(GroupReply::text("x")) });
    groups.iter().fold(tools, |all, names| all.group(names.iter().copied(), of())).build()
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn t7_a_group_of_no_tools() {
    assert_eq!(declared(&[&[]]).unwrap_err(), ToolBoxError::EmptyGroup);
}

#[test]
fn t8_a_tool_twice_in_one_group() {
    let error = declared(&[&["a", "a"]]).unwrap_err();
    assert_eq!(error, ToolBoxError::DuplicateInGroup { name: "a".into(), names: strings(&["a", "a"]) });
}

#[test]
fn t9_a_blank_name_in_a_group() {
    let error = declared(&[&["a", " "]]).unwrap_err();
    assert_eq!(error, ToolBoxError::BlankNameInGroup { names: strings(&["a", " "]) });
}

#[test]
fn t10_two_groups_of_the_same_tools_in_another_order() {
    let error = declared(&[&["a", "b"], &["b", "a"]]).unwrap_err();
    assert_eq!(error, ToolBoxError::GroupConflict { names: strings(&["a", "b"]) });
    assert!(declared(&[&["a", "b"], &["b", "a", "c"], &["a"]]).is_ok());
}

#[test]
fn a_group_of_a_tool_that_there_is_not() {
    let error = declared(&[&["a", "d"]]).unwrap_err();
    assert_eq!(error, ToolBoxError::UnknownTool { name: "d".into(), known: strings(&["a", "b", "c"]) });
}

#[tokio::test(start_paused = true)]
async fn t11_a_group_of_tools_that_nobody_offers_is_a_warning_and_none_of_it_is_offered() {
    let tools = declared(&[&["a", "b"], &["c"]]).unwrap();
    assert_eq!(tools.warnings(), []);
    let exposed = tools.expose(["c"]).unwrap();
    let group = GroupKey::of(["a", "b"]);
    assert_eq!(
        exposed.warnings(),
        [ToolBoxWarning::UnreachableGroup { group: group.clone(), missing: strings(&["a", "b"]) }]
    );
    let part = ToolBoxWarning::UnreachableGroup { group, missing: strings(&["b"]) };
    assert_eq!(tools.expose(["a", "c"]).unwrap().warnings(), std::slice::from_ref(&part));
    let node = graph_nodes::stage::ToolsNode::new("explore", crate::support::seat(), tools.clone(), ["a", "c"]);
    assert_eq!(node.warnings(), [part]);

    let ran = Stage { tools, offered: vec!["c"], ..Stage::default() }.turn([Turn::text("hello")]).await;
    let offered: Vec<String> = ran.model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["c"]);
}

fn returned(value: Value) -> GroupReplyError {
    GroupReply::<Trip>::from_value(value).unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn t12_six_returns_that_say_nothing_are_six_errors_and_no_single_tool_runs() {
    let expected = [
        (json!(null), GroupReplyError::Nothing),
        (json!(""), GroupReplyError::BlankName),
        (json!(3), GroupReplyError::Unsupported { found: "a number" }),
        (json!([]), GroupReplyError::Unsupported { found: "an array" }),
        (json!({}), GroupReplyError::NoStep),
        (json!({"step": ""}), GroupReplyError::BadStep),
    ];
    let mut texts = std::collections::BTreeSet::new();
    for (value, error) in expected {
        assert_eq!(returned(value.clone()), error);
        let log = Log::default();
        let stage = office(&log, move |_| Ok(GroupReply::from_value(value.clone())?));
        let ran = stage.turn([calls([("1", "weather"), ("2", "forecast")]), Turn::text("done")]).await;
        assert_eq!(transcript(ran.state())[2..4], [1, 2].map(|id| format!("tool {id} failed: {error}")));
        assert_eq!(
            (ran.state().city.as_str(), ran.state().notes.len(), log.lines()),
            ("", 0, vec!["group 1 2".into()])
        );
        texts.insert(error.to_string());
    }
    assert_eq!(texts.len(), 6);
}

#[test]
fn parts_of_the_wrong_kind_are_named() {
    let error = returned(json!({"step": "present", "feedback": 1}));
    assert_eq!(error, GroupReplyError::BadPart { part: "feedback".into(), expected: "a text" });
    let error = returned(json!({"step": "present", "answers": {"1": 2}}));
    assert_eq!(error, GroupReplyError::BadPart { part: "answers".into(), expected: "an object of texts" });
    let error = returned(json!({"step": "present", "state": {}}));
    assert_eq!(error, GroupReplyError::UnknownPart { part: "state".into() });
    assert_eq!(returned(json!({"step": 7})), GroupReplyError::BadStep);
    assert_eq!(returned(json!(true)), GroupReplyError::Unsupported { found: "a boolean" });
}

#[tokio::test(start_paused = true)]
async fn a_reply_from_json_routes_and_answers() {
    let log = Log::default();
    let value = json!({"step": "present", "feedback": "compared", "answers": {"2": "rain"}, "message": "Choose."});
    let stage = office(&log, move |_| Ok(GroupReply::from_value(value.clone())?));
    let ran = stage.turn([calls([("1", "weather"), ("2", "forecast")])]).await;
    assert_eq!(transcript(ran.state())[2..], ["tool 1: compared", "tool 2: rain", "user: Choose."]);
    assert_eq!(ran.state().notes, ["present"]);
    let reply = GroupReply::<Trip>::from_value(json!(" present ")).unwrap();
    assert_eq!(reply.route(), Some(&ToolRoute::Go("present".into())));
    assert_eq!(reply.text_of("1").unwrap(), "input validated");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_no_json_fails_the_whole_group() {
    let bad = std::collections::BTreeMap::from([((1, 2), 3)]);
    let log = Log::default();
    let stage =
        office(&log, move |_| Ok(GroupReply::text("fine").answer_json("2", &bad).update(Trip::update().city("Oslo"))));
    let ran = stage.turn([calls([("1", "weather"), ("2", "forecast")]), Turn::text("done")]).await;
    let text = "the tool `forecast,weather` gave a result that is no JSON (key must be a string); \
                don't call it again in the same way";
    assert_eq!(transcript(ran.state())[2..4], [1, 2].map(|id| format!("tool {id} failed: {text}")));
    assert_eq!(ran.state().city, "");
}

struct Backend;

#[tokio::test(start_paused = true)]
async fn a_resource_that_a_group_needs_is_found_missing_before_the_turn() {
    let log = Log::default();
    let needs = group(|calls| async move {
        calls.resource::<Backend>()?;
        Ok(GroupReply::text("x"))
    })
    .needs::<Backend>();
    let tools = three(&log).group(["weather"], needs).build().unwrap();
    let ran = Stage { tools, ..Stage::default() }.turn([calls([("1", "weather")])]).await;
    assert!(matches!(&**ran.error(), graph_engine::RunError::MissingResource { node, .. } if *node == "tools"));
    assert_eq!(ran.asked(), 0);
}
